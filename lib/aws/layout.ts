import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/lib-dynamodb';
import { LAYOUT, LAYOUT_KEY } from '../deployment.ts';
import { UnavailableError } from '../errors.ts';
import { any, is, isNew, put } from './expressions.ts';
import type { Write } from './writes.ts';

/** The first project of a table stores its layout. The condition is false in a table with another layout. */
export const putLayout = (): Write => put({ ...LAYOUT_KEY, layout: LAYOUT }, any(isNew, is('layout', LAYOUT)));

/** Nothing was written. The request can succeed after the deployment of the release with this layout. */
export const otherLayout = (layout: unknown): UnavailableError =>
  new UnavailableError(new Error(`The table has layout ${layout}, but this release needs layout ${LAYOUT}`));

type Documents = Pick<DynamoDBDocumentClient, 'send'>;
type Send = (command: object) => Promise<object>;

/**
 * Rejects every command while the table has another layout. The check costs one read per client, in parallel with the first
 * read. Writes wait for it. A table without a layout has no items yet.
 */
export function withLayoutCheck(documents: Documents, TableName: string): Documents {
  const original = documents.send.bind(documents) as Send;
  let checked: Promise<void> | undefined;

  async function requireLayout(): Promise<void> {
    const response = await original(new GetCommand({ TableName, Key: LAYOUT_KEY, ConsistentRead: true }));
    const { layout = LAYOUT } = (response as { Item?: { layout?: unknown } }).Item ?? {};
    if (layout !== LAYOUT) throw otherLayout(layout);
  }

  function check(): Promise<void> {
    checked ??= requireLayout().catch((error: unknown) => {
      checked = undefined; // the next command checks again
      throw error;
    });
    return checked;
  }

  const send: Send = async (command) => {
    if (!isRead(command)) {
      await check();
      return original(command);
    }
    const [result] = await Promise.all([original(command), check()]);
    return result;
  };
  return { send } as Documents;
}

const isRead = (command: object): boolean =>
  [GetCommand, QueryCommand, ScanCommand, BatchGetCommand].some((type) => command instanceof type);
