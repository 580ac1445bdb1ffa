import * as v from 'valibot';
import type { AuditRecord } from '../audit/audit.ts';
import { auditEntry } from '../audit/store.ts';
import type { Backend } from '../aws/backend.ts';
import { sortableId } from '../ids.ts';
import { generateKey, keyResource } from '../keys/key.ts';
import { apiKeys, putFirstKey } from '../keys/store.ts';
import { countUsable, MAX_USABLE_KEYS } from '../keys/usable-keys.ts';
import { usableKeysOf } from '../keys/usable-keys-store.ts';
import { ProjectName, type ProjectRecord, projectResource, projectState } from '../projects/project.ts';
import { EmailAddress, Emails } from '../projects/recipients.ts';
import { projects as projectsIn } from '../projects/store.ts';
import { integer, iso, isoOrNull, requireValid } from '../schema.ts';
import { deleteProject, deletionResource } from './delete-project.ts';
import { deletions as deletionsIn } from './deletion-store.ts';
import { EnableWebhooks, enableWebhooks } from './enable-webhooks.ts';
import { type ExportPosition, projectExport } from './export-store.ts';
import { AfterProject, countDeliveries, forProjects, Position, ProjectId, webhooksOf } from './store.ts';

const one = v.pipe(
  EmailAddress,
  v.transform((email) => [email]),
);

/** `email` is an address or a list of 1 to 5. */
const CreateProject = v.strictObject({
  name: ProjectName,
  email: v.lazy((input) => (Array.isArray(input) ? Emails : one)),
});

/** The operations of operators on projects. */
const ProjectOperation = v.variant('operation', [
  v.strictObject({ operation: v.literal('list'), limit: v.optional(integer(1, 100), 20), after: AfterProject }),
  v.strictObject({ operation: v.literal('show'), id: ProjectId }),
  v.strictObject({ operation: v.literal('suspend'), id: ProjectId }),
  v.strictObject({ operation: v.literal('resume'), id: ProjectId }),
  v.strictObject({ operation: v.literal('create-key'), id: ProjectId }),
  EnableWebhooks,
  v.strictObject({ operation: v.literal('export'), id: ProjectId, after: Position }),
  v.strictObject({ operation: v.literal('delete'), id: ProjectId, name: v.optional(v.string()) }),
]);
export type ProjectOperation = v.InferInput<typeof ProjectOperation>;

/** The keys that the operator can create beyond the limit, because a customer who lost all keys cannot revoke any. */
const KEYS_OF_OPERATOR = 100;

/**
 * Creates a project and its first admin key. There is no HTTP operation: only principals of the AWS account can invoke the function.
 * Throws an error that lists every violation.
 */
export function createProject({ table, clock, random, log }: Backend) {
  return async (input: unknown) => {
    const { name, email: emails } = requireValid(CreateProject, input);
    const [email] = emails as [string, ...string[]];
    const now = clock();
    const project = {
      id: sortableId('prj', now, random),
      name,
      emails,
      cursorSecret: Buffer.from(random(32)).toString('base64url'),
      createdAt: now,
    };
    const first = { projectId: project.id, type: 'admin', name: 'First admin key' } as const;
    const { key, record } = generateKey(first, now, random);
    const detail = { name: project.name, key: record.id };
    const change = { projectId: project.id, at: now, action: 'project.created', target: project.id, detail } as const;
    await projectsIn(table).create(project, putFirstKey(record), [auditEntry(change, random)]);
    log.info('project.created', { project_id: project.id });
    return {
      project: { id: project.id, name, email, emails, created_at: iso(now) },
      admin_key: { ...keyResource(record, now), key },
    };
  };
}

/**
 * The operations on projects. There are no HTTP operations: only principals of the AWS account can invoke the function. Throws an
 * error with a message for the operator.
 */
export function operatorHandler(backend: Backend) {
  const { table, clock, random, log } = backend;
  const [projects, deletions, keys] = [projectsIn(table), deletionsIn(table), apiKeys(table)];
  const remove = deleteProject(backend);
  const enable = enableWebhooks(backend);

  return async (input: unknown) => {
    const request = requireValid(ProjectOperation, input);
    switch (request.operation) {
      case 'list': {
        const data: object[] = [];
        const next = await forProjects(backend, request.limit, request.after, async (id) => {
          data.push(...(await listed(id)));
        });
        return { data, next };
      }
      case 'show':
        return show(request.id);
      case 'suspend':
        return suspend(request.id, clock(), 'project.suspended');
      case 'resume':
        return suspend(request.id, undefined, 'project.resumed');
      case 'create-key':
        return createKey(request.id);
      case 'enable-webhooks':
        if (request.id !== undefined) await projects.existing(request.id);
        return enable(request);
      case 'export': {
        await projects.existing(request.id);
        const { lines, next } = await projectExport(table)(request.id, request.after as ExportPosition, clock());
        return { lines, next: next ?? null };
      }
      case 'delete':
        return remove(request.id, request.name);
    }
  };

  async function show(projectId: string) {
    const deletion = await deletions.get(projectId);
    if (deletion) return deletionResource(deletion, clock());
    const project = await projects.existing(projectId);
    const { emails, undeliverable_emails, unconfirmed_emails } = projectResource(project, clock());
    return { ...(await summaryOf(project)), emails, undeliverable_emails, unconfirmed_emails };
  }

  /** Empty if the project was deleted since its id was read. */
  async function listed(projectId: string): Promise<object[]> {
    const [deletion, project] = await Promise.all([deletions.get(projectId), projects.get(projectId)]);
    if (deletion) return [deletionResource(deletion, clock())];
    return project ? [await summaryOf(project)] : [];
  }

  /** Nothing follows the change, so a call that fails has changed nothing, or its repetition succeeds. */
  async function suspend(projectId: string, suspendedAt: number | undefined, action: AuditRecord['action']) {
    const before = await projects.existing(projectId);
    if ((before.suspendedAt === undefined) === (suspendedAt === undefined)) return stateOf(before);
    await projects.suspend(projectId, suspendedAt, [
      auditEntry({ projectId, at: clock(), action, target: projectId }, random),
    ]);
    log.info(action, { project_id: projectId });
    return stateOf({ ...before, suspendedAt });
  }

  /** For customers who lost their admin keys, or whose admin key someone else used to revoke the others. */
  async function createKey(projectId: string) {
    await projects.existing(projectId);
    const now = clock();
    const { key, record } = generateKey({ projectId, type: 'admin', name: 'Created by the operator' }, now, random);
    const detail = { type: record.type, name: record.name, expires_at: null };
    const entry = auditEntry({ projectId, at: now, action: 'key.created', target: record.id, detail }, random);
    if (!(await keys.create(record, now, [entry], MAX_USABLE_KEYS + KEYS_OF_OPERATOR)))
      throw new Error('The project has too many keys. Revoke some of them with its newest admin key');
    log.info('key.created', { project_id: projectId, key_id: record.id });
    return { ...keyResource(record, now), key };
  }

  /** Reads a limited number of items, whatever the project contains. */
  async function summaryOf(project: ProjectRecord) {
    const now = clock();
    const [usable, webhooks] = await Promise.all([usableKeysOf(table, project.id), webhooksOf(table, project.id)]);
    const deliveries = await Promise.all(webhooks.map(({ id }) => countDeliveries(table, id, now)));
    return {
      ...stateOf(project),
      keys: countUsable(usable, now),
      webhooks: webhooks.length,
      deliveries_30_days: deliveries.reduce((sum, count) => sum + count, 0),
    };
  }
}

const stateOf = (project: ProjectRecord) => ({
  id: project.id,
  name: project.name,
  state: projectState(project),
  created_at: iso(project.createdAt),
  suspended_at: isoOrNull(project.suspendedAt),
});
