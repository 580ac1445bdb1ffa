import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { sortableId } from '../ids.ts';
import { generateKey, keyResource } from '../keys/key.ts';
import { apiKeys } from '../keys/store.ts';
import { integer, iso, isoOrNull, requireValid } from '../schema.ts';
import type { AuditRecord } from './audit.ts';
import { auditEntry } from './audit-store.ts';
import { Position, ProjectId, projectData } from './data-store.ts';
import { deleteProject, deletionResource } from './deletion-handlers.ts';
import { EnableWebhooks, enableWebhooks } from './enable-handlers.ts';
import { type ExportPosition, projectExport } from './export-store.ts';
import { EmailAddress, Emails, ProjectName, type ProjectRecord, projectResource, projectState } from './project.ts';
import { projects as projectsIn } from './store.ts';

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
  v.strictObject({ operation: v.literal('list'), limit: v.optional(integer(1, 100), 20), after: Position }),
  v.strictObject({ operation: v.literal('show'), id: ProjectId }),
  v.strictObject({ operation: v.literal('suspend'), id: ProjectId }),
  v.strictObject({ operation: v.literal('resume'), id: ProjectId }),
  v.strictObject({ operation: v.literal('create-key'), id: ProjectId }),
  EnableWebhooks,
  v.strictObject({ operation: v.literal('export'), id: ProjectId, after: Position }),
  v.strictObject({ operation: v.literal('delete'), id: ProjectId, name: v.optional(v.string()) }),
]);
export type ProjectOperation = v.InferInput<typeof ProjectOperation>;

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
    await projectsIn(table).create(project, record, [auditEntry(change, random)]);
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
  const [projects, data] = [projectsIn(table), projectData(table)];
  const remove = deleteProject(backend);
  const enable = enableWebhooks(backend);

  return async (input: unknown) => {
    const request = requireValid(ProjectOperation, input);
    switch (request.operation) {
      case 'list': {
        const { ids, next } = await data.ids(request.limit, request.after);
        const found = await Promise.all(ids.map((each) => projects.get(each)));
        const summaries = found.flatMap((project) => (project ? [summaryOf(project)] : []));
        return { data: await Promise.all(summaries), next: next ?? null };
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
        const webhookIds = await data.webhookIds(request.id);
        const { lines, next } = await projectExport(table)(
          request.id,
          webhookIds,
          request.after as ExportPosition,
          clock(),
        );
        return { lines, next: next ?? null };
      }
      case 'delete':
        return remove(request.id, request.name);
    }
  };

  async function show(projectId: string) {
    const deletion = await data.deletion(projectId);
    if (deletion) return deletionResource(deletion, clock());
    const project = await projects.existing(projectId);
    const { emails, undeliverable_emails, unconfirmed_emails } = projectResource(project, clock());
    return { ...(await summaryOf(project)), emails, undeliverable_emails, unconfirmed_emails };
  }

  async function suspend(projectId: string, suspendedAt: number | undefined, action: AuditRecord['action']) {
    const before = await projects.existing(projectId);
    if ((before.suspendedAt === undefined) !== (suspendedAt === undefined)) {
      await projects.suspend(projectId, suspendedAt, [
        auditEntry({ projectId, at: clock(), action, target: projectId }, random),
      ]);
      log.info(action, { project_id: projectId });
    }
    return show(projectId);
  }

  /** For customers who lost their admin keys, or whose admin key someone else used to revoke the others. */
  async function createKey(projectId: string) {
    await projects.existing(projectId);
    const now = clock();
    const { key, record } = generateKey({ projectId, type: 'admin', name: 'Created by the operator' }, now, random);
    const detail = { type: record.type, name: record.name, expires_at: null };
    await apiKeys(table).create(record, [
      auditEntry({ projectId, at: now, action: 'key.created', target: record.id, detail }, random),
    ]);
    log.info('key.created', { project_id: projectId, key_id: record.id });
    return { ...keyResource(record, now), key };
  }

  async function summaryOf(project: ProjectRecord) {
    const webhooks = await data.webhooks(project.id);
    const [keys, ...deliveries] = await Promise.all([
      data.apiKeyItems(project.id),
      ...webhooks.map((webhook) => data.countDeliveries(webhook.id, clock())),
    ]);
    return {
      id: project.id,
      name: project.name,
      state: projectState(project),
      created_at: iso(project.createdAt),
      suspended_at: isoOrNull(project.suspendedAt),
      keys: keys.length,
      webhooks: webhooks.length,
      deliveries_30_days: deliveries.reduce((sum, count) => sum + count, 0),
    };
  }
}
