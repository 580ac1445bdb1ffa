import { auditEntry, auditing } from '../audit/store.ts';
import type { Backend } from '../aws/backend.ts';
import type { Email } from '../aws/email.ts';
import { optimistically } from '../concurrency.ts';
import { emailOf } from '../emails/compose.ts';
import { emailIn, projectIn } from '../emails/confirmation.ts';
import type { ProjectEmails } from '../emails/send.ts';
import { invalid, Problem } from '../http/problems.ts';
import type { Request } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import type { projectOperations } from './operations.ts';
import { type ProjectRecord, projectState, testEmailAllowedAt } from './project.ts';
import { askableAt, isConfirmed, isSameMailbox, markOf, recipientsOf, withMailbox } from './recipients.ts';

type EmailOperation = 'sendTestEmail' | 'confirmEmail' | 'sendConfirmation' | 'confirmAddress';

/** The operations on the notification addresses. `shown` is the response with a project. */
export function emailHandlers(
  { clock, random, ...backend }: Backend,
  emails: ProjectEmails,
  shown: (project: ProjectRecord) => Awaited<ReturnType<Handlers<typeof projectOperations>['getProject']>>,
): Pick<Handlers<typeof projectOperations>, EmailOperation> {
  const { projects } = emails;
  const audited = auditing({ clock, random, ...backend });

  return {
    async sendTestEmail(request) {
      const sent = await test(request);
      return sent instanceof Problem ? sent : { body: { emails: sent.to } };
    },

    async confirmEmail(request) {
      const project = await projects.existing(request.space.projectId);
      const address = addressIn(project, request.body.email);
      if (address === undefined) return noAddress();
      if (!markOf(project, address, clock())) return shown(project);
      if (!isConfirmed(project, address)) return askAgain(request);
      const sent = await test(request, address);
      return sent instanceof Problem ? sent : shown(sent.project);
    },

    sendConfirmation: (request) => askAgain(request),

    /** Anyone who has the link can confirm its address, also again. */
    confirmAddress: ({ body: { token }, address: from }) =>
      optimistically(async () => {
        const projectId = projectIn(token);
        const project = projectId === undefined ? undefined : await projects.get(projectId);
        const now = clock();
        const email = project && projectState(project) === 'active' ? emailIn(project, token, now) : null;
        const address = email === null ? undefined : addressIn(project, email);
        if (!project || address === undefined) return invalidLink();
        const confirmed = { body: { email: address } };
        if (isConfirmed(project, address)) return confirmed;
        const change = {
          projectId: project.id,
          at: now,
          action: 'project.email_confirmed',
          target: project.id,
        } as const;
        const entry = auditEntry({ ...change, address: from, detail: { email: address } }, random);
        const mailboxes = withMailbox(project.mailboxes, address, { isConfirmed: true });
        return (await projects.changeAsRead(project, { mailboxes }, [entry])) ? confirmed : undefined;
      }),
  };

  /** Sends an unconfirmed address its link again. This removes a mark, because the address would otherwise receive no email. */
  function askAgain(request: Request<unknown, { email: string }>) {
    return optimistically(async () => {
      const { projectId } = request.space;
      const project = await projects.existing(projectId);
      const now = clock();
      const address = addressIn(project, request.body.email);
      if (address === undefined) return noAddress();
      if (isConfirmed(project, address)) return shown(project);
      const allowedAt = askableAt(project, address);
      if (allowedAt > now) return tooSoon(allowedAt - now, 'link', 'An address receives one link per day.');
      const entry = audited(request, {
        at: now,
        action: 'project.confirmation_requested',
        target: projectId,
        detail: { email: address },
      });
      const mailboxes = withMailbox(project.mailboxes, address, { askedAt: now, mark: undefined });
      const write = () => projects.changeAsRead(project, { mailboxes }, [entry]);
      return (await emails.ask(project, [address], write)) ? shown({ ...project, mailboxes }) : undefined;
    });
  }

  /**
   * Sends a test email to `confirmed`, an address that works again, or to all addresses. Returns its recipients and the changed
   * project. It is reserved before it is sent, so a failed email counts for the limits and failures do not allow more emails.
   */
  async function test(
    request: Request,
    confirmed?: string,
  ): Promise<{ to: string[]; project: ProjectRecord } | Problem> {
    const { projectId } = request.space;
    const reserved = await optimistically(async () => {
      const now = clock();
      const [project, place] = await Promise.all([projects.existing(projectId), emails.place(projectId, now)]);
      const to = confirmed === undefined ? recipientsOf(project, now) : [confirmed];
      if (to.length === 0) return new Problem('conflict', 'Confirm or replace the addresses of the project first.');
      const allowedAt = testEmailAllowedAt(project, place.freeAt);
      if (allowedAt > now)
        return tooSoon(allowedAt - now, 'test email', 'A project can send one per minute, and 5 emails in 10 minutes.');
      const unmarked = confirmed !== undefined && {
        mailboxes: withMailbox(project.mailboxes, confirmed, { mark: undefined }),
      };
      const change = { ...unmarked, testEmailAt: now };
      const entry = audited(request, {
        at: now,
        target: projectId,
        ...(confirmed === undefined
          ? { action: 'project.test_email_sent' }
          : { action: 'project.email_confirmed', detail: { email: confirmed } }),
      });
      const isReserved = await projects.changeAsRead(project, change, [place.taken, entry]);
      return isReserved ? { to, project: { ...project, ...change } } : undefined;
    });
    if (reserved instanceof Problem) return reserved;
    await emails.sendEmail(testEmail(reserved.project, reserved.to, emails.dashboardUrl));
    return reserved;
  }
}

const addressIn = (project: Pick<ProjectRecord, 'emails'> | undefined, email: string): string | undefined =>
  project?.emails.find((each) => isSameMailbox(each, email));

const noAddress = (): Problem => invalid([{ field: 'email', detail: 'must be an address of the project' }]);

const invalidLink = (): Problem =>
  new Problem(
    'not_found',
    'Request a new link in the settings of the dashboard. This one is not valid or has expired.',
  );

const testEmail = (project: ProjectRecord, to: readonly string[], dashboardUrl: string): Email =>
  emailOf({
    project,
    dashboardUrl,
    to,
    subject: 'Test email',
    paragraphs: ['Notifications reach this address. A request with an admin key sent this test. No action is needed.'],
    links: [['Open the settings', '/live/settings']],
  });

function tooSoon(waitMs: number, what: string, limit: string): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new Problem('too_many_requests', `Send the next ${what} in ${seconds} s. ${limit}`, undefined, {
    'Retry-After': String(seconds),
  });
}
