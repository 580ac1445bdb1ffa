import type { Backend } from '../aws/backend.ts';
import { optimistically } from '../concurrency.ts';
import { cursorsOf } from '../http/cursor-store.ts';
import { page } from '../http/page.ts';
import { invalid, Problem } from '../http/problems.ts';
import type { Request } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import { changedMembers } from '../json.ts';
import { AUDIT_KEPT_MS, type AuditAction, auditResource } from './audit.ts';
import { auditing, auditLog } from './audit-store.ts';
import { emailAllowedAt, withEmail } from './email-budget.ts';
import { projectEmails } from './email-store.ts';
import { dashboardOf, type Email, emailOf, isSameMailbox, markOf, recipientsOf } from './emails.ts';
import { notifying, projectChanged } from './notices.ts';
import { type ProjectRecord, projectResource, TEST_EMAIL_INTERVAL_MS } from './project.ts';

/** A test email, and the change that it belongs to. */
interface Test {
  action: AuditAction;
  detail?: { email: string };
  change: Partial<ProjectRecord>;
  to: readonly string[];
}

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
      const sent = await test(request, (project, now) => {
        const to = recipientsOf(project, now);
        return to.length > 0
          ? { action: 'project.test_email_sent', change: {}, to }
          : new Problem('conflict', 'Confirm or replace the addresses of the project first.');
      });
      return sent instanceof Problem ? sent : { body: { emails: [...sent.to] } };
    },

    async confirmEmail(request) {
      const { projectId } = request.space;
      const { email } = request.body;
      const project = await projects.existing(projectId);
      const address = project.emails.find((each) => isSameMailbox(each, email));
      if (address === undefined) return invalid([{ field: 'email', detail: 'must be an address of the project' }]);
      if (!markOf(project, address, clock())) return shown(project);
      const others = ({ undeliverable }: ProjectRecord) =>
        undeliverable?.filter((mark) => !isSameMailbox(mark.email, address));
      const sent = await test(request, (read) => ({
        action: 'project.email_confirmed',
        detail: { email: address },
        change: { undeliverable: others(read) },
        to: [address],
      }));
      return sent instanceof Problem ? sent : shown(await projects.existing(projectId));
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
   * Sends a test email together with a change. It is reserved before it is sent, so a failed email counts for the limits and
   * failures do not allow more emails.
   */
  async function test(
    request: Request,
    plan: (project: ProjectRecord, now: number) => Test | Problem,
  ): Promise<Test | Problem> {
    const { projectId } = request.space;
    const [planned, project] = await optimistically(async () => {
      const [project, budget] = await Promise.all([projects.existing(projectId), emails.budgetOf(projectId)]);
      const now = clock();
      const planned = plan(project, now);
      if (planned instanceof Problem) return [planned, project] as const;
      const { testEmailAt = Number.NEGATIVE_INFINITY } = project;
      const allowedAt = Math.max(testEmailAt + TEST_EMAIL_INTERVAL_MS, emailAllowedAt(budget, now));
      if (allowedAt > now) return [tooSoon(allowedAt - now), project] as const;
      const { action, detail = {}, change } = planned;
      const entry = audited(request, { at: now, action, target: projectId, detail });
      const also = [emails.saving(projectId, budget, withEmail(budget, now)), entry];
      const isReserved = await projects.changeAsRead(project, { ...change, testEmailAt: now }, also);
      return isReserved ? ([planned, project] as const) : undefined;
    });
    if (!(planned instanceof Problem)) await emails.sendEmail(testEmail(project, planned.to, request.baseUrl));
    return planned;
  }

  function shown(project: ProjectRecord) {
    return { body: { ...projectResource(project, clock()), source_addresses: sourceAddresses } };
  }
}

function testEmail(project: ProjectRecord, to: readonly string[], baseUrl: string): Email {
  return emailOf(
    { project, dashboardUrl: dashboardOf(baseUrl) },
    {
      to,
      subject: 'Test email',
      paragraphs: [
        'Notifications reach this address. A request with an admin key sent this test. No action is needed.',
      ],
      links: [['Open the settings', '/live/settings']],
    },
  );
}

function tooSoon(waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const detail = `Send the next test email in ${seconds} s. A project can send one per minute, and 5 emails in 10 minutes.`;
  return new Problem('too_many_requests', detail, undefined, { 'Retry-After': String(seconds) });
}
