import type { Backend } from '../aws/backend.ts';
import { optimistically } from '../concurrency.ts';
import { cursorsOf } from '../http/cursor-store.ts';
import { page } from '../http/page.ts';
import { invalid, Problem } from '../http/problems.ts';
import type { Request } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import { changedMembers } from '../json.ts';
import { AUDIT_KEPT_MS, auditResource } from './audit.ts';
import { auditing, auditLog } from './audit-store.ts';
import { projectEmails } from './email-store.ts';
import { type Email, emailOf, isSameMailbox, markOf, recipientsOf, withoutMark } from './emails.ts';
import { notifying, projectChanged } from './notices.ts';
import { type ProjectRecord, projectResource, TEST_EMAIL_INTERVAL_MS } from './project.ts';

export function projectHandlers(backend: Backend): Handlers<'project'> {
  const { table, clock, random, variables } = backend;
  const emails = projectEmails(backend);
  const { projects } = emails;
  const cursors = cursorsOf(table, random);
  const audited = auditing(backend);
  const notify = notifying(emails, backend.reportFailure);
  /** The fixed addresses of deliveries. */
  const sourceAddresses = variables.SOURCE_ADDRESSES?.split(',') ?? [];

  return {
    getProject: async ({ space }) => shown(await projects.existing(space.projectId)),

    async changeProject(request) {
      const { projectId } = request.space;
      const project = await projects.existing(projectId);
      const now = clock();
      const detail = changedMembers(request.body, projectResource(project, now));
      if (Object.keys(detail).length === 0) return shown(project);
      const entry = audited(request, { at: now, action: 'project.changed', target: projectId, detail });
      await notify(request, now, projectChanged(project, detail), () => projects.change(projectId, detail, [entry]));
      return shown(await projects.existing(projectId));
    },

    async sendTestEmail(request) {
      const to = await test(request);
      return to instanceof Problem ? to : { body: { emails: to } };
    },

    async confirmEmail(request) {
      const { projectId } = request.space;
      const { email } = request.body;
      const project = await projects.existing(projectId);
      const address = project.emails.find((each) => isSameMailbox(each, email));
      if (address === undefined) return invalid([{ field: 'email', detail: 'must be an address of the project' }]);
      if (!markOf(project, address, clock())) return shown(project);
      const to = await test(request, address);
      return to instanceof Problem ? to : shown(await projects.existing(projectId));
    },

    // Omits entries over the retention, because the database deletes late.
    listAudit: (request) =>
      page(request, cursors, async (limit, after) => {
        const { since = 0, actor, target } = request.query;
        const filter = { since: Math.max(since, clock() - AUDIT_KEPT_MS), actor, target };
        const { entries, next } = await auditLog(table).list(request.space.projectId, filter, limit, after);
        return { data: entries.map(auditResource), next };
      }),
  };

  /**
   * Sends a test email, and returns its recipients: `confirmed`, an address that works again, or all addresses. It is reserved
   * before it is sent, so a failed email counts for the limits and failures do not allow more emails.
   */
  async function test(request: Request, confirmed?: string): Promise<string[] | Problem> {
    const { projectId } = request.space;
    const email = await optimistically(async () => {
      const now = clock();
      const [project, place] = await Promise.all([projects.existing(projectId), emails.place(projectId, now)]);
      const to = confirmed === undefined ? recipientsOf(project, now) : [confirmed];
      if (to.length === 0) return new Problem('conflict', 'Confirm or replace the addresses of the project first.');
      const { testEmailAt = Number.NEGATIVE_INFINITY } = project;
      const allowedAt = Math.max(testEmailAt + TEST_EMAIL_INTERVAL_MS, place.freeAt);
      if (allowedAt > now) return tooSoon(allowedAt - now);
      const change = confirmed !== undefined && { undeliverable: withoutMark(project, confirmed) };
      const entry = audited(request, {
        at: now,
        target: projectId,
        ...(confirmed === undefined
          ? { action: 'project.test_email_sent' }
          : { action: 'project.email_confirmed', detail: { email: confirmed } }),
      });
      const isReserved = await projects.changeAsRead(project, { ...change, testEmailAt: now }, [place.taken, entry]);
      return isReserved ? testEmail(project, to, emails.dashboardUrl) : undefined;
    });
    if (email instanceof Problem) return email;
    await emails.sendEmail(email);
    return [...email.to];
  }

  function shown(project: ProjectRecord) {
    return { body: { ...projectResource(project, clock()), source_addresses: sourceAddresses } };
  }
}

const testEmail = (project: ProjectRecord, to: readonly string[], dashboardUrl: string): Email =>
  emailOf({
    project,
    dashboardUrl,
    to,
    subject: 'Test email',
    paragraphs: ['Notifications reach this address. A request with an admin key sent this test. No action is needed.'],
    links: [['Open the settings', '/live/settings']],
  });

function tooSoon(waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const detail = `Send the next test email in ${seconds} s. A project can send one per minute, and 5 emails in 10 minutes.`;
  return new Problem('too_many_requests', detail, undefined, { 'Retry-After': String(seconds) });
}
