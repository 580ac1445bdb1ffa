import { outboxIn } from '../outbox.ts';
import type { Access } from '../access.ts';
import { publisher as publisherOf } from '../publisher.ts';
import { MissingSqliteError, openDatabase } from '../sqlite.ts';
import { tokenProofs } from '../token-verifier.ts';
import { openConnections } from './connections.ts';
import { documentPublisher, documentStore } from './documents.ts';
import type { ConnectionOptions, Grant } from './grant.ts';
import { fieldsOf } from './json-values.ts';
import { engineLease } from './lease.ts';
import { type Log, safely } from './log.ts';

export { keyOf } from './document-names.ts';
export type { ConnectionOptions, Grant } from './grant.ts';
export { exactNumbers } from './json-values.ts';

/** Long enough for several renewals that the service throttles. */
export const LEASE_SECONDS = 60;

export interface EngineOptions extends Access {
  /**
   * A folder for the events that are not published yet, and for what earlier events contain. It must survive restarts, and belongs to one
   * process.
   */
  directory: string;
  /** The name of the engine: the `origin` of its changes and the `node_id` of its connections. The default is `engine`. */
  nodeId?: string;
  /** Seconds without a renewal after which the service reports the connections as lost: 10 to 900, by default 60. */
  leaseSeconds?: number;
  /** Receives one sentence about each problem. The default is `console.warn`. */
  log?: Log;
}

export interface Engine {
  /**
   * Returns what a token allows for a document, or `null` if it allows nothing. `address` is that of the client, for allowlists of keys.
   * Throws if the service has not responded for five minutes.
   */
  authenticate(token: string | null | undefined, documentKey?: string, address?: string): Promise<Grant | null>;
  /** Keeps a connection until `disconnected`, and returns its id. */
  connected(options: ConnectionOptions): string;
  /** Replaces the token of a connection. */
  renewed(id: string, grant: Grant): void;
  /** Ends a connection. With `lost`, the service publishes `connection.lost`. */
  disconnected(id: string, options?: { lost?: boolean }): void;
  /**
   * Publishes how the fields of a stored document differ from its earlier events. Resolves when the event is on disk. `null` means that the
   * document is deleted. Call it after each store, and for each document that your engine loads: without a difference, nothing happens.
   */
  saved(documentKey: string, fields: object | null): Promise<void>;
  /** Publishes for at most 10 seconds, and closes all connections without events. The rest is published after the next start. */
  close(): Promise<void>;
}

/** Connects a sync engine to the service: it verifies tokens, keeps connections and publishes changes. */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const {
    directory,
    nodeId = 'engine',
    leaseSeconds = LEASE_SECONDS,
    log: givenLog = console.warn,
    ...access
  } = options;
  const log = safely(givenLog);
  const database = open(directory);
  const publisher = await publisherOf({
    ...access,
    outbox: outboxIn(database),
    onRejected({ type, data }, { detail, errors = [] }) {
      const violations = errors.map(({ field, detail }) => ` ${field}: ${detail}.`).join('');
      log(`The service rejects ${type} of ${(data as { document_key: string }).document_key}: ${detail}${violations}`);
    },
    onRetry: (reason, waitSeconds) =>
      log(`Events are not published: ${reason}. It is repeated in ${Math.ceil(waitSeconds)} s.`),
  });
  const documents = documentPublisher({ store: documentStore(database), publisher, origin: nodeId, log });
  const { prove, refresh } = tokenProofs(access);
  const lease = engineLease({ ...access, leaseSeconds, log, engineId: crypto.randomUUID() });
  const { end, ...connections } = openConnections({ lease, nodeId, refresh, log });
  let closing: Promise<void> | undefined;

  return {
    async authenticate(token, documentKey, address) {
      const proof = await prove(token ?? '');
      const check = {
        ...(documentKey !== undefined && { document_key: documentKey }),
        ...(address !== undefined && { address }),
      };
      const result = await proof?.(check);
      if (!proof || !result?.active || !result.allowed) return null;
      const { permissions = [], documents = [], user = null, token_id = '', expires_at = '' } = result;
      return { permissions, documents, user, token_id, expires_at, verifyAgain: () => proof(check) };
    },
    ...connections,
    async saved(documentKey, fields) {
      const onLoss = (reason: string) => log(`A value of ${documentKey} is not published as it is: ${reason}.`);
      return documents.saved(documentKey, fields && fieldsOf(fields, { onLoss }));
    },
    close() {
      closing ??= (async () => {
        end();
        await lease.end();
        await publisher.close();
        documents.end();
      })();
      return closing;
    },
  };
}

function open(directory: string) {
  try {
    return openDatabase(`${directory}/engine.sqlite`, directory);
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof MissingSqliteError) throw new Error(`createEngine requires ${message}.`);
    const advice = ' Each process of an engine needs its own directory and its own documents.';
    throw new Error(`The directory ${directory} cannot be used: ${message}.${advice}`, { cause: error });
  }
}
