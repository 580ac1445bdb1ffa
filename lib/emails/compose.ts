import type { Email } from '../aws/email.ts';
import { inert, MIDDLE_DOT } from './inert.ts';

/** The project that an email is about, and the dashboard that its links open. */
export interface EmailContext {
  project: { id: string; name: string };
  /** Empty if it is not known. The email then has no links. */
  dashboardUrl: string;
}

/** A place in the dashboard, such as `/live/settings`, with the label of its link. */
type Link = readonly [label: string, place: string];

/** A part of an email, as text and as HTML. */
export interface Part {
  text: string;
  html: string;
}

/** What an email to a project says. */
interface EmailContent extends EmailContext {
  to: readonly string[];
  /** The email adds the id of the project. */
  subject: string;
  /** The text of a paragraph never becomes markup. */
  paragraphs: readonly (string | Part)[];
  /** The first one looks like a button. */
  links: readonly Link[];
  /** Why the recipients receive the email. */
  reason?: string;
}

/** Composes every email, so that all of them look alike and end with the same footer. */
export function emailOf({ to, subject, paragraphs, links, reason = NOTIFIED, ...context }: EmailContent): Email {
  const { project } = context;
  const parts = [
    ...paragraphs.map((each) => (typeof each === 'string' ? { text: each, html: paragraph(each) } : each)),
    ...links
      .flatMap((link, i) => linkTo(context, link, i === 0 ? BUTTON : ''))
      .map(({ text, html }) => ({ text, html: `<p>${html}</p>` })),
  ];
  parts.push(footerOf(context, reason, parts));
  return {
    projectId: project.id,
    to,
    subject: `${subject} (${project.id})`,
    text: parts.map(({ text }) => text).join('\n\n'),
    html: htmlDocument(parts.map(({ html }) => html).join('\n')),
  };
}

const NOTIFIED = 'this is a notification address of';

const BUTTON =
  'background:#1d4ed8;border-radius:6px;color:#fff;display:inline-block;padding:10px 16px;text-decoration:none';

/** A link, if the URL of the dashboard is known. As text, email clients link exactly its second line. */
function linkTo({ dashboardUrl }: EmailContext, [label, place]: Link, style = ''): Part[] {
  if (dashboardUrl === '') return [];
  const url = place === '' ? dashboardUrl : `${dashboardUrl}#${place}`;
  const anchor = `<a href="${escapeHtml(url)}"${style && ` style="${style}"`}>${escapeHtml(label)}</a>`;
  return [{ text: `${label}:\n${url}`, html: anchor }];
}

/** A paragraph with a link below it. Texts of customers are in the paragraph, and not in the link. */
export function linkedParagraph(context: EmailContext, text: string, link: Link): Part {
  const [below] = linkTo(context, link);
  if (!below) return { text, html: paragraph(text) };
  return { text: `${text}\n${below.text}`, html: `<p>${escapeHtml(text)}<br>\n${below.html}</p>` };
}

const paragraph = (text: string): string => `<p>${escapeHtml(text).replaceAll('\n', '<br>')}</p>`;

/** The end of every email: who sends it, why, and where to change that. */
function footerOf(context: EmailContext, why: string, parts: readonly Part[]): Part {
  const { project, dashboardUrl } = context;
  const sender =
    dashboardUrl === '' ? 'Document Sync Service' : `Document Sync Service at ${new URL(dashboardUrl).host}`;
  const sent = `${sender} sends this email because ${why} the project "${inert(project.name)}".`;
  const isInert = [sent, ...parts.map(({ text }) => text)].some((text) => text.includes(MIDDLE_DOT));
  const reason = isInert ? `${sent} ${DOT_NOTE}` : sent;
  const settings = linkTo(context, ['Change the addresses', '/live/settings']);
  return {
    text: ['--', reason, ...settings.map(({ text }) => text)].join('\n'),
    html: `<p style="border-top:1px solid #9ca3af;font-size:13px;opacity:0.75;margin-top:32px;padding-top:12px">${escapeHtml(reason)}${settings.map(({ html }) => ` ${html}.`).join('')}</p>`,
  };
}

const DOT_NOTE = `In names, addresses and responses, ${MIDDLE_DOT} stands for a dot, so that email programs do not link them.`;

let time: Intl.DateTimeFormat | undefined;

/** A time for readers, such as `24 Nov 2026, 13:47 UTC`. */
export function emailTime(ms: number): string {
  // Not during the import, because this takes longer than the import of all other code of the service.
  time ??= new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  return `${time.format(ms)} UTC`;
}

/** Wraps content in the HTML document of an email, a column that also fits phones. Email clients ignore style sheets. */
const htmlDocument = (body: string): string =>
  `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"></head>
<body style="font:16px/1.5 sans-serif;margin:0 auto;max-width:600px;overflow-wrap:anywhere;padding:24px">\n${body}\n</body></html>`;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
