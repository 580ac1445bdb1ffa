import { isDeepStrictEqual } from 'node:util';
import { projectChanged } from '../access/notices.ts';
import { type ProjectChange, type ProjectRecord, projectResource, TEST_EMAIL_INTERVAL_MS } from '../access/projects.ts';
import { Problem } from '../api/problems.ts';
import { emailOf } from '../email.ts';
import type { Handlers } from '../http/serve.ts';
import type { TransactionPart } from '../transaction.ts';
import { type AuditDeps, auditing } from './audit.ts';
import { type NoticeDeps, notifying } from './notices.ts';

/** Projects as they are stored. */
export interface Projects {
  /** Strongly consistent. */
  get(id: string): Promise<ProjectRecord | undefined>;
  /** Sets these members. Throws if there is no such project. */
  change(id: string, change: Partial<ProjectRecord>, also: readonly TransactionPart[]): Promise<void>;
  /** Reserves a test email. If the last one is too recent, returns its time instead. */
  reserveTestEmail(id: string, nowMs: number, also: readonly TransactionPart[]): Promise<number | undefined>;
}

export interface ProjectDeps extends AuditDeps, NoticeDeps {
  projects: Projects;
  clock(): number;
}

type ProjectHandlers = Pick<Handlers<'project'>, 'getProject' | 'changeProject' | 'sendTestEmail'>;

export function projectHandlers(deps: ProjectDeps): ProjectHandlers {
  const { projects, sendEmail, clock } = deps;
  const audited = auditing(deps);
  const notify = notifying(deps);

  return {
    getProject: async ({ space }) => ({ body: projectResource(await own(space.projectId)) }),

    async changeProject(request) {
      const { projectId } = request.space;
      const project = await own(projectId);
      const detail = differenceOf(project, request.body);
      if (Object.keys(detail).length === 0) return { body: projectResource(project) };
      const { on_leak: onLeak, ...rest } = detail;
      const change: Partial<ProjectRecord> = { ...rest, ...(onLeak && { onLeak }) };
      const now = clock();
      const notice = projectChanged(project, change);
      if (notice) await notify(request, now, notice);
      const entry = audited(request, { at: now, action: 'project.changed', target: projectId, detail });
      await projects.change(projectId, change, [entry]);
      return { body: projectResource(await own(projectId)) };
    },

    // Reserves the email before it sends it, so a failed email counts for the limit and failures do not allow more emails.
    async sendTestEmail(request) {
      const { projectId } = request.space;
      const { name, emails } = await own(projectId);
      const now = clock();
      const entry = audited(request, { at: now, action: 'project.test_email_sent', target: projectId });
      const lastAt = await projects.reserveTestEmail(projectId, now, [entry]);
      if (lastAt !== undefined) return tooSoon(lastAt + TEST_EMAIL_INTERVAL_MS - now);
      await sendEmail(
        emailOf(emails, `Test email: ${name}`, [
          `Notifications of the project "${name}" go to this address. A request with an admin key sent this test.`,
          'No action is needed.',
        ]),
      );
      return { body: { emails } };
    },
  };

  async function own(id: string): Promise<ProjectRecord> {
    const project = await projects.get(id);
    if (!project) throw new Error('The project of this request is gone');
    return project;
  }
}

/** Returns the given members whose values differ from the current ones. */
function differenceOf(project: ProjectRecord, change: ProjectChange): ProjectChange {
  const current: Record<string, unknown> = projectResource(project);
  return Object.fromEntries(
    Object.entries(change).filter(([name, value]) => value !== undefined && !isDeepStrictEqual(value, current[name])),
  );
}

function tooSoon(waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const detail = `Send the next test email in ${seconds} s. A project can send one per minute.`;
  return new Problem('too_many_requests', detail, undefined, { 'Retry-After': String(seconds) });
}
