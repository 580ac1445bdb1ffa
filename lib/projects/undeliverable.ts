import { optimistically } from '../concurrency.ts';
import type { ProjectEmails } from './email-store.ts';
import { type Email, emailOf, inert, linkTo } from './emails.ts';
import { isSameMailbox, markOf, recipientsOf, type UndeliverableEmail, withMark } from './mailboxes.ts';
import type { ProjectRecord } from './project.ts';
import type { ProjectStore } from './store.ts';

export interface UndeliverableDeps {
  projects: ProjectStore;
  emails: ProjectEmails;
  clock(): number;
  /** Empty if it is not known. */
  dashboardUrl: string;
}

const REASONS: Record<UndeliverableEmail['reason'], string> = {
  bounced: 'Its mail server rejected an email permanently.',
  complained: 'Its mail provider reported that the recipient marked an email as spam.',
};

/**
 * Stops emails to an address of a project, and notifies the other addresses. An address that the project no longer has is marked
 * too, because it can be added again.
 */
export async function stopEmails(
  projectId: string,
  reported: string,
  reason: UndeliverableEmail['reason'],
  { projects, emails, clock, dashboardUrl }: UndeliverableDeps,
): Promise<void> {
  const project = await projects.get(projectId);
  const now = clock();
  if (!project || markOf(project, reported, now)) return;
  const address = project.emails.find((each) => isSameMailbox(each, reported));
  const mark = { email: address ?? reported, reason, at: now };
  if (address === undefined) return void (await add(mark));
  const what = `The project sends no more emails to ${inert(address)}. ${REASONS[reason]}`;
  const id = await emails.reserve(project, what, now);
  const isFirst = await add(mark);
  if (id === null) return;
  if (isFirst)
    await emails.send(
      id,
      undeliverableEmail({ ...project, undeliverable: withMark(project, mark) }, what, dashboardUrl, now),
    );
  else await emails.confirm(projectId, id);

  function add(mark: UndeliverableEmail): Promise<boolean> {
    return optimistically(async () => {
      const read = await projects.get(projectId);
      if (!read || markOf(read, mark.email, now)) return false;
      return (await projects.changeAsRead(read, { undeliverable: withMark(read, mark) }, [])) || undefined;
    });
  }
}

function undeliverableEmail(project: ProjectRecord, what: string, dashboardUrl: string, nowMs: number): Email {
  const context = { project, dashboardUrl };
  return emailOf(
    recipientsOf(project, nowMs).to,
    context,
    'Emails do not arrive',
    [what, 'When the address works again, confirm it in the settings of the dashboard. Otherwise replace it.'],
    linkTo(context, 'Open the settings', '/live/settings'),
  );
}
