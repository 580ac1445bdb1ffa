import type { ItemKind } from '../deployment.ts';
import { changePartitions } from '../documents/change-log.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { ENVIRONMENTS, type Space } from '../space.ts';
import { enginePartitions, itemKey, logPartitions, spreadPartitions, typePartition } from './items.ts';

type Partitions = (id: string) => readonly string[];
/** The partitions of a kind of item, by the id of their project or of their webhook. `null`: see the comment. */
type Place = { ofProject: Partitions } | { ofWebhook: Partitions } | null;

const inSpaces =
  (partitionsIn: (space: Space) => readonly string[]): Partitions =>
  (projectId) =>
    ENVIRONMENTS.flatMap((environment) => partitionsIn({ projectId, environment }));

const spreadOver = (kind: ItemKind): Place => ({
  ofProject: inSpaces((space) => spreadPartitions(space).map((end) => `${kind}#${end}`)),
});

/** Where the items of a project are. Every kind has an entry, because a deletion must find all of them. Webhooks come first. */
const PLACES: Readonly<Record<ItemKind, Place>> = {
  HOOKS: { ofProject: inSpaces((space) => [itemKey.webhook(space, '').pk]) },
  PROJECT: { ofProject: (id) => [itemKey.project(id).pk] },
  EMAILS: { ofProject: (id) => [itemKey.emails(id).pk] },
  AUDIT: { ofProject: (id) => [itemKey.audit(id, '').pk] },
  KEYS: { ofProject: (id) => [itemKey.usableKeys(id).pk] },
  COUNT: { ofProject: inSpaces((space) => [itemKey.webhookCount(space).pk]) },
  DOCS: { ofProject: inSpaces((space) => [itemKey.document(space, '').pk]) },
  REVISIONS: { ofProject: inSpaces((space) => [itemKey.revision(space, '').pk]) },
  CHANGES: { ofProject: inSpaces((space) => changePartitions().map((each) => itemKey.change(space, each, '').pk)) },
  CONNECTION: spreadOver('CONNECTION'),
  ENGINE: { ofProject: inSpaces(enginePartitions) },
  SYNC: spreadOver('SYNC'),
  IDEMPOTENCY: spreadOver('IDEMPOTENCY'),
  HOOK: { ofWebhook: (id) => logPartitions().map((each) => itemKey.deliveryIn(id, each, '').pk) },
  FIGURES: { ofWebhook: (id) => [itemKey.stats(id, 'day', 0).pk] },
  SLOTS: { ofWebhook: (id) => [itemKey.slots(id).pk] },
  RECOVERY: { ofWebhook: (id) => [itemKey.recovery(id).pk] },
  EVENT: null, // found with the index by type
  KEY: null, // found with the index by project
  LOGS: null, // names the webhooks, so it goes last
  PROJECTS: null, // one item, which goes with the last step
  DELETION: null, // the record of the deletion, which stays
  VERSION: null, // of the table
};

/** The partitions that contain only items of a project, in the order of their removal. */
export const partitionsOfProject = (projectId: string): string[] =>
  Object.values(PLACES).flatMap((place) => (place && 'ofProject' in place ? place.ofProject(projectId) : []));

/** The partitions that contain only items of a webhook. */
export const partitionsOfWebhook = (webhookId: string): string[] =>
  Object.values(PLACES).flatMap((place) => (place && 'ofWebhook' in place ? place.ofWebhook(webhookId) : []));

/** The partitions of the index by type in a space: of each type, and of tests. Together they list all its events. */
export const typePartitions = (space: Space): string[] =>
  [...EVENT_TYPES, 'test' as const].map((type) => typePartition(space, type));

/** The same in all spaces of a project. */
export const typePartitionsOfProject: Partitions = inSpaces(typePartitions);
