import type { Write } from '../aws/writes.ts';
import { changedMembers } from '../changed-members.ts';
import { invalid, Problem } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { type AuditDeps, auditing } from './audit-handlers.ts';
import { type Email, emailOf } from './emails.ts';
import { type NoticeDeps, notifying } from './notice-handlers.ts';
import { projectChanged } from './notices.ts';
import { type ProjectRecord, projectResource, TEST_EMAIL_INTERVAL_MS } from './project.ts';

/** Projects as they are stored. */
export interface Projects {
  /** Strongly consistent. */
  get(id: string): Promise<ProjectRecord | undefined>;
  /** Sets these members. Throws if there is no such project. */
  change(id: string, change: Partial<ProjectRecord>, also: readonly Write[]): Promise<void>;
  /** Reserves a test email and sets these members. If the last one is too recent, returns its time instead. */
  reserveTestEmail(
    id: string,
    nowMs: number,
    also: readonly Write[],
    change?: Partial<ProjectRecord>,
  ): Promise<number | undefined>;
}

export interface ProjectDeps extends AuditDeps, NoticeDeps {
  projects: Projects;
  /** The fixed addresses of deliveries. */
  sourceAddresses: readonly string[];
  clock(): number;
}

type ProjectHandlers = Pick<Handlers<'project'>, 'getProject' | 'changeProject' | 'sendTestEmail' | 'confirmEmail'>;

export function projectHandlers(deps: ProjectDeps): ProjectHandlers {
  const { projects, sendEmail, sourceAddresses, clock } = deps;
  const audited = auditing(deps);
  const notify = notifying(deps);

  return {
    getProject: async ({ space }) => shown(await own(space.projectId)),

    async changeProject(request) {
      const { projectId } = request.space;
      const project = await own(projectId);
      const detail = changedMembers(request.body, projectResource(project));
      if (Object.keys(detail).length === 0) return shown(project);
      const { emails } = detail;
      const undeliverable = emails && project.undeliverable?.filter(({ email }) => emails.includes(email));
      const change: Partial<ProjectRecord> = {
        ...detail,
        ...(undeliverable && { undeliverable }),
      };
      const now = clock();
      const notice = projectChanged(project, change);
      if (notice) await notify(request, now, notice);
      const entry = audited(request, { at: now, action: 'project.changed', target: projectId, detail });
      await projects.change(projectId, change, [entry]);
      return shown(await own(projectId));
    },

    // Reserves the email before it sends it, so a failed email counts for the limit and failures do not allow more emails.
    async sendTestEmail(request) {
      const { projectId } = request.space;
      const email = testEmail(await own(projectId));
      if (email.to.length === 0)
        return new Problem('conflict', 'Confirm or replace the addresses of the project first.');
      const now = clock();
      const entry = audited(request, { at: now, action: 'project.test_email_sent', target: projectId });
      const lastAt = await projects.reserveTestEmail(projectId, now, [entry]);
      if (lastAt !== undefined) return tooSoon(lastAt + TEST_EMAIL_INTERVAL_MS - now);
      await sendEmail(email);
      return { body: { emails: [...email.to] } };
    },

    // A report that is stored between the read and the write is lost. The next email to its address repeats it.
    async confirmEmail(request) {
      const { projectId } = request.space;
      const { email } = request.body;
      const project = await own(projectId);
      if (!project.emails.includes(email))
        return invalid([{ field: 'email', detail: 'must be an address of the project' }]);
      const undeliverable = project.undeliverable?.filter((each) => each.email !== email) ?? [];
      const confirmed = { ...project, undeliverable };
      if (undeliverable.length === (project.undeliverable?.length ?? 0)) return shown(project);
      const now = clock();
      const action = 'project.email_confirmed';
      const entry = audited(request, { at: now, action, target: projectId, detail: { email } });
      const lastAt = await projects.reserveTestEmail(projectId, now, [entry], { undeliverable });
      if (lastAt !== undefined) return tooSoon(lastAt + TEST_EMAIL_INTERVAL_MS - now);
      await sendEmail({ ...testEmail(confirmed), to: [email] });
      return shown(confirmed);
    },
  };

  function shown(project: ProjectRecord) {
    return { body: { ...projectResource(project), source_addresses: [...sourceAddresses] } };
  }

  async function own(id: string): Promise<ProjectRecord> {
    const project = await projects.get(id);
    if (!project) throw new Error('The project of this request is gone');
    return project;
  }
}

const testEmail = (project: ProjectRecord): Email =>
  emailOf(project, `Test email: ${project.name}`, [
    `Notifications of the project "${project.name}" go to this address. A request with an admin key sent this test.`,
    'No action is needed.',
  ]);

function tooSoon(waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const detail = `Send the next test email in ${seconds} s. A project can send one per minute.`;
  return new Problem('too_many_requests', detail, undefined, { 'Retry-After': String(seconds) });
}
