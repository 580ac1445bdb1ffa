import type { Email } from '../aws/email.ts';
import type { ProjectRecord } from '../projects/project.ts';
import { recipientsOf } from '../projects/recipients.ts';
import { emailOf, emailTime, linkedParagraph } from './compose.ts';
import type { Told } from './email-budget.ts';

/** The email about what was held back. It also goes to the addresses from before a change of the addresses. */
export function summaryOf(
  project: ProjectRecord,
  { since, changes, lines, to }: Told,
  dashboardUrl: string,
  now: number,
): Email {
  const context = { project, dashboardUrl };
  const counted = changes === 1 ? '1 change is' : `${changes} changes are`;
  return emailOf({
    ...context,
    to: recipientsOf(project, now, to),
    subject: 'Summary of notifications',
    paragraphs: [
      `A project receives at most 5 emails in 10 minutes. This email contains the other notifications since ${emailTime(since)}.`,
      ...lines.map(({ text, place }) => linkedParagraph(context, text, ['Open in the dashboard', place])),
      ...(changes > 0
        ? [
            `${counted} in the audit log, in the settings of the dashboard. If you did not expect this, revoke the key that the audit log names.`,
          ]
        : []),
    ],
    links: [changes > 0 ? ['Open the audit log', '/live/settings'] : ['Open the dashboard', '']],
  });
}
