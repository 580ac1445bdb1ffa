import * as v from 'valibot';
import type { AuditAction } from '../access/audit.ts';
import type { DeletionRecord } from '../access/deletion.ts';
import { type ProjectRecord, projectResource, projectState } from '../access/projects.ts';
import { type Random, sortableId } from '../ids.ts';
import { check, integer, iso, isoOrNull } from '../schema.ts';
import type { TransactionPart } from '../transaction.ts';
import type { WebhookRecord } from '../webhooks/webhooks.ts';
import type { AuditLog } from './audit.ts';
import { type DeletionDeps, deleteProject, deletionResource } from './project-deletion.ts';

const id = v.pipe(v.string('must be a string'), v.regex(/^prj_\w+$/, 'must be the id of a project'));
const position = v.optional(v.record(v.string(), v.any()));

/** What operators can do with projects. */
const ProjectOperation = v.variant('operation', [
  v.strictObject({ operation: v.literal('list'), limit: v.optional(integer(1, 100), 20), after: position }),
  v.strictObject({ operation: v.literal('show'), id }),
  v.strictObject({ operation: v.literal('suspend'), id }),
  v.strictObject({ operation: v.literal('resume'), id }),
  v.strictObject({ operation: v.literal('export'), id, after: position }),
  v.strictObject({ operation: v.literal('delete'), id, name: v.optional(v.string()) }),
]);
export type ProjectOperation = v.InferInput<typeof ProjectOperation>;

type Deletion = Pick<DeletionDeps['data'], keyof DeletionDeps['data']>;
interface Position {
  section: string;
  after?: object | undefined;
}

export interface ProjectsDeps extends Omit<DeletionDeps, 'data' | 'projects'> {
  projects: {
    get(id: string): Promise<ProjectRecord | undefined>;
    /** `undefined` resumes. Throws if the project does not exist, or is being deleted. */
    suspend(id: string, suspendedAt: number | undefined, also: readonly TransactionPart[]): Promise<void>;
  };
  data: Deletion & {
    ids(limit: number, after?: object): Promise<{ ids: string[]; next: object | undefined }>;
    countKeys(projectId: string): Promise<number>;
    webhooks(projectId: string): Promise<WebhookRecord[]>;
    countDeliveries(webhookId: string, nowMs: number): Promise<number>;
  };
  exportPage(
    projectId: string,
    webhookIds: readonly string[],
    position: Position | undefined,
    nowMs: number,
  ): Promise<{ lines: string[]; next: Position | undefined }>;
  audit: Pick<AuditLog, 'entry'>;
  random: Random;
}

/**
 * The operations on projects. There are no HTTP operations: only principals of the AWS account can invoke the function. Throws an
 * error with a message for the operator.
 */
export function projectsHandler(deps: ProjectsDeps) {
  const { projects, data, exportPage, audit, clock, random, log } = deps;
  const remove = deleteProject(deps);

  return async (input: unknown) => {
    const checked = check(ProjectOperation, input);
    if ('violations' in checked)
      throw new Error(checked.violations.map(({ field, detail }) => `${field} ${detail}`).join('; '));
    const request = checked.value;
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
      case 'export': {
        await own(request.id);
        const webhookIds = await data.webhookIds(request.id);
        const { lines, next } = await exportPage(request.id, webhookIds, request.after as Position, clock());
        return { lines, next: next ?? null };
      }
      case 'delete':
        return remove(request.id, request.name);
    }
  };

  async function show(projectId: string) {
    const deletion: DeletionRecord | undefined = await data.deletion(projectId);
    if (deletion) return deletionResource(deletion, clock());
    const project = await own(projectId);
    const { emails, undeliverable_emails, on_leak } = projectResource(project);
    return { ...(await summaryOf(project)), emails, undeliverable_emails, on_leak };
  }

  async function suspend(projectId: string, suspendedAt: number | undefined, action: AuditAction) {
    const before = await own(projectId);
    if ((before.suspendedAt === undefined) !== (suspendedAt === undefined)) {
      const now = clock();
      const entry = audit.entry({
        id: sortableId('aud', now, random),
        projectId,
        at: now,
        actor: null,
        address: null,
        action,
        target: projectId,
        detail: {},
      });
      await projects.suspend(projectId, suspendedAt, [entry]);
      log.info(action, { project_id: projectId });
    }
    return show(projectId);
  }

  async function summaryOf(project: ProjectRecord) {
    const webhooks = await data.webhooks(project.id);
    const [keys, ...deliveries] = await Promise.all([
      data.countKeys(project.id),
      ...webhooks.map((webhook) => data.countDeliveries(webhook.id, clock())),
    ]);
    return {
      id: project.id,
      name: project.name,
      state: projectState(project),
      created_at: iso(project.createdAt),
      suspended_at: isoOrNull(project.suspendedAt),
      keys,
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
