import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { generateKey, keyResource } from '../keys/key.ts';
import { apiKeys } from '../keys/store.ts';
import { integer, iso, isoOrNull, requireValid, timestampInput } from '../schema.ts';
import type { AuditAction } from './audit.ts';
import { auditEntry } from './audit-store.ts';
import { projectData } from './data-store.ts';
import { deleteProject, deletionResource } from './deletion-handlers.ts';
import { enableWebhooks } from './enable-handlers.ts';
import { type ExportPosition, projectExport } from './export-store.ts';
import { type ProjectRecord, projectResource, projectState } from './project.ts';
import { projects as projectsIn } from './store.ts';

const id = v.pipe(v.string('must be a string'), v.regex(/^prj_\w+$/, 'must be the id of a project'));
const position = v.optional(v.record(v.string(), v.any()));

/** The operations of operators on projects. */
const ProjectOperation = v.variant('operation', [
  v.strictObject({ operation: v.literal('list'), limit: v.optional(integer(1, 100), 20), after: position }),
  v.strictObject({ operation: v.literal('show'), id }),
  v.strictObject({ operation: v.literal('suspend'), id }),
  v.strictObject({ operation: v.literal('resume'), id }),
  v.strictObject({ operation: v.literal('create-key'), id }),
  v.strictObject({
    operation: v.literal('enable-webhooks'),
    id: v.optional(id),
    since: timestampInput,
    until: v.optional(timestampInput),
    dry_run: v.optional(v.boolean(), false),
    after: position,
  }),
  v.strictObject({ operation: v.literal('export'), id, after: position }),
  v.strictObject({ operation: v.literal('delete'), id, name: v.optional(v.string()) }),
]);
export type ProjectOperation = v.InferInput<typeof ProjectOperation>;

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
        if (request.id !== undefined) await own(request.id);
        return enable(request);
      case 'export': {
        await own(request.id);
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
    const project = await own(projectId);
    const { emails, undeliverable_emails } = projectResource(project, clock());
    return { ...(await summaryOf(project)), emails, undeliverable_emails };
  }

  async function suspend(projectId: string, suspendedAt: number | undefined, action: AuditAction) {
    const before = await own(projectId);
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
    await own(projectId);
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

  async function own(projectId: string): Promise<ProjectRecord> {
    const project = await projects.get(projectId);
    if (!project) throw new Error(`There is no project ${projectId}`);
    return project;
  }
}
