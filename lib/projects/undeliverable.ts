import { type Email, emailOf } from './emails.ts';
import type { ProjectRecord, UndeliverableEmail } from './project.ts';

export interface UndeliverableDeps {
  projects: {
    get(id: string): Promise<ProjectRecord | undefined>;
    markUndeliverable(id: string, undeliverable: UndeliverableEmail): Promise<void>;
  };
  sendEmail(email: Email): Promise<void>;
  clock(): number;
}

const REASONS: Record<UndeliverableEmail['reason'], string> = {
  bounced: 'Its mail server rejected an email permanently.',
  complained: 'Its mail provider reported that the recipient marked an email as spam.',
};

/**
 * Stops emails to an address of a project, and notifies the other addresses. Ignores an address that the project no longer has.
 * The email comes first, so that a crash between the two repeats it and never loses it.
 */
export async function stopEmails(
  projectId: string,
  address: string,
  reason: UndeliverableEmail['reason'],
  { projects, sendEmail, clock }: UndeliverableDeps,
): Promise<void> {
  const project = await projects.get(projectId);
  // Mail servers can change the case of an address.
  const email = project?.emails.find((each) => each.toLowerCase() === address.toLowerCase());
  if (!project || email === undefined || project.undeliverable?.some((each) => each.email === email)) return;
  const mark = { email, reason, at: clock() };
  const others = { ...project, undeliverable: [...(project.undeliverable ?? []), mark] };
  await sendEmail(
    emailOf(others, `Emails do not arrive: ${email} (${project.name})`, [
      `The project "${project.name}" sends no more emails to ${email}. ${REASONS[reason]}`,
      'When the address works again, confirm it in the settings of the dashboard, or with POST /v1/project/confirm-email. Otherwise replace it.',
    ]),
  );
  await projects.markUndeliverable(project.id, mark);
}
