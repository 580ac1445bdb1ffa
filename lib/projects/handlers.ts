import { AUDIT_KEPT_MS, auditResource } from '../audit/audit.ts';
import { auditing, auditLog } from '../audit/store.ts';
import type { Backend } from '../aws/backend.ts';
import { optimistically } from '../concurrency.ts';
import { notifying, projectChanged } from '../emails/notices.ts';
import { projectEmails } from '../emails/send.ts';
import { page } from '../http/page.ts';
import { Problem } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { changedMembers } from '../json.ts';
import { cursorsOf } from './cursors.ts';
import { emailHandlers } from './email-handlers.ts';
import type { projectOperations } from './operations.ts';
import { type ProjectRecord, projectResource } from './project.ts';
import { MAX_MAILBOXES, withEmails } from './recipients.ts';

export function projectHandlers(backend: Backend): Handlers<typeof projectOperations> {
  const { table, clock, random, variables } = backend;
  const emails = projectEmails(backend);
  const { projects } = emails;
  const cursors = cursorsOf(table, random);
  const audited = auditing(backend);
  const notify = notifying(emails, backend.reportFailure);
  /** The fixed addresses of deliveries. */
  const sourceAddresses = variables.SOURCE_ADDRESSES?.split(',') ?? [];
  const shown = (project: ProjectRecord) => ({
    body: { ...projectResource(project, clock()), source_addresses: sourceAddresses },
  });

  return {
    getProject: async ({ space }) => shown(await projects.existing(space.projectId)),

    changeProject: (request) =>
      optimistically(async () => {
        const { projectId } = request.space;
        const project = await projects.existing(projectId);
        const now = clock();
        const detail = changedMembers(request.body, projectResource(project, now));
        if (Object.keys(detail).length === 0) return shown(project);
        const addresses = detail.emails && withEmails(project, detail.emails, now);
        if (addresses === null) return tooManyAddresses();
        const { asked = [], ...members } = { ...detail, ...addresses };
        const entry = audited(request, { at: now, action: 'project.changed', target: projectId, detail });
        const write = () => projects.changeAsRead(project, members, [entry]);
        const notice = projectChanged(project, detail);
        const isChanged = await notify(request, now, notice, () => emails.ask(project, asked, write));
        return isChanged ? shown({ ...project, ...members }) : undefined;
      }),

    // Omits entries over the retention, because the database deletes late.
    listAudit: (request) =>
      page(request, cursors, async (limit, after) => {
        const { since = 0, actor, target } = request.query;
        const filter = { since: Math.max(since, clock() - AUDIT_KEPT_MS), actor, target };
        const { entries, next } = await auditLog(table).list(request.space.projectId, filter, limit, after);
        return { data: entries.map(auditResource), next };
      }),

    ...emailHandlers(backend, emails, shown),
  };
}

const tooManyAddresses = (): Problem =>
  new Problem(
    'limit_reached',
    `Use addresses that the project has or had. A project can have ${MAX_MAILBOXES} different addresses in 30 days.`,
  );
