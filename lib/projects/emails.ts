import { printable } from '../printable.ts';

/** An email to each of its recipients. */
export interface Email {
  projectId: string;
  /** Can be empty. */
  to: readonly string[];
  /** Contains ids and hosts, but no other text of customers. */
  subject: string;
  text: string;
  html: string;
}

/**
 * Text for an email without characters that change its direction or add lines. Otherwise, a name or a description that a
 * stolen key sets could change the meaning of a security notice.
 */
export const emailText = (text: string): string => printable(text).replace(/[\u2028\u2029]/g, ' ');

/** Dots, also those that email clients read as dots in a host name. */
const DOTS = /[.\u2024\u3002\ufe52\uff0e\uff61](?=\S)/g;
/** The end of a scheme, as in `https://` and `mailto:`. */
const SCHEMES = /:(?=\/\/)|(?<=[a-z]):(?=\S)/gi;
/** The start of a network path, as in `\\host\share`. */
const NETWORK_PATHS = /\\(?=\\)/g;

/**
 * Text of a customer or an endpoint that no email client turns into a link. Emails come from the operator, so a link of a customer
 * would look like a link of the operator.
 */
export const inert = (text: string): string =>
  emailText(text).replace(DOTS, '[.]').replace(SCHEMES, '[:]').replace(NETWORK_PATHS, '[\\]');

/** The project that an email is about, and the dashboard that its links open. */
export interface EmailContext {
  project: { id: string; name: string };
  /** Empty if it is not known. The email then has no links. */
  dashboardUrl: string;
}

/** The URL of the dashboard of the API with a base URL. */
export const dashboardOf = (baseUrl: string): string => (baseUrl === '' ? '' : `${baseUrl}/dashboard`);

/** A place in the dashboard, such as `/live/settings`, with the label of its link. */
type Link = readonly [label: string, place: string];

/** A part of an email, as text and as HTML. */
export interface Part {
  text: string;
  html: string;
}

/** What an email to a project says. */
interface Message extends EmailContext {
  to: readonly string[];
  subject: string;
  /** What the email is about, at the end of its subject. By default the project. */
  about?: string;
  /** The text of a paragraph never becomes markup. */
  paragraphs: readonly (string | Part)[];
  /** The first one looks like a button. */
  links: readonly Link[];
}

/** Composes every email, so that all of them look alike and end with the same footer. */
export function emailOf({ to, subject, paragraphs, links, ...context }: Message): Email {
  const { project, about = project.id } = context;
  const parts = [
    ...paragraphs.map((each) => (typeof each === 'string' ? { text: each, html: paragraph(each) } : each)),
    ...links
      .flatMap((link, i) => linkTo(context, link, i === 0 ? BUTTON : ''))
      .map(({ text, html }) => ({ text, html: `<p>${html}</p>` })),
    footerOf(context),
  ];
  return {
    projectId: project.id,
    to,
    subject: `${subject} (${about})`,
    text: parts.map(({ text }) => text).join('\n\n'),
    html: htmlDocument(parts.map(({ html }) => html).join('\n')),
  };
}

const BUTTON =
  'background:#1d4ed8;border-radius:6px;color:#fff;display:inline-block;padding:10px 16px;text-decoration:none';

/** A link, if the URL of the dashboard is known. As text, email clients link exactly its second line. */
function linkTo({ dashboardUrl }: EmailContext, [label, place]: Link, style = ''): Part[] {
  if (dashboardUrl === '') return [];
  const url = place === '' ? dashboardUrl : `${dashboardUrl}#${place}`;
  const anchor = `<a href="${escapeHtml(url)}"${style && ` style="${style}"`}>${escapeHtml(label)}</a>`;
  return [{ text: `${label}:\n${url}`, html: anchor }];
}

const paragraph = (text: string): string => `<p>${escapeHtml(text).replaceAll('\n', '<br>')}</p>`;

/** The end of every email: who sends it, why, and where to change that. */
function footerOf(context: EmailContext): Part {
  const { project, dashboardUrl } = context;
  const sender =
    dashboardUrl === '' ? 'Document Sync Service' : `Document Sync Service at ${new URL(dashboardUrl).host}`;
  const reason = `${sender} sends this email because this is a notification address of the project "${inert(project.name)}".`;
  const settings = linkTo(context, ['Change the addresses', '/live/settings']);
  return {
    text: ['--', reason, ...settings.map(({ text }) => text)].join('\n'),
    html: `<p style="border-top:1px solid #9ca3af;font-size:13px;opacity:0.75;margin-top:32px;padding-top:12px">${escapeHtml(reason)}${settings.map(({ html }) => ` ${html}.`).join('')}</p>`,
  };
}

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A time for readers, such as `24 Nov 2026, 13:47 UTC`. */
export const emailTime = (ms: number): string => `${TIME.format(ms)} UTC`;

/** Wraps content in the HTML document of an email, a column that also fits phones. Email clients ignore style sheets. */
const htmlDocument = (body: string): string =>
  `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"></head>
<body style="font:16px/1.5 sans-serif;margin:0 auto;max-width:600px;overflow-wrap:anywhere;padding:24px">\n${body}\n</body></html>`;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Why an address is undeliverable: its server rejected an email permanently, or its owner reported an email as spam. */
export const UNDELIVERABLE = ['bounced', 'complained'] as const;

/** An address that SES reported, and when. */
export interface UndeliverableEmail {
  email: string;
  reason: (typeof UNDELIVERABLE)[number];
  at: number;
}

/** How long a mark applies, also if its address is removed and added. */
const MARK_MS = 30 * 24 * 60 * 60 * 1000;
/** The maximum number of marks of a project, which has at most 5 addresses at a time. */
const MAX_MARKS = 20;

/** The addresses of a project. */
interface Addresses {
  emails: readonly string[];
  undeliverable?: readonly UndeliverableEmail[] | undefined;
}

/** Whether two addresses differ at most in case. Mail servers treat them as one mailbox, and can change the case. */
export const isSameMailbox = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** The mark of an address, if it has one that still applies. */
export const markOf = ({ undeliverable = [] }: Addresses, address: string, nowMs: number) =>
  undeliverable.find(({ email, at }) => isSameMailbox(email, address) && at > nowMs - MARK_MS);

/** The recipients of an email to a project: each of its mailboxes once, without the undeliverable ones. */
export function recipientsOf(project: Addresses, nowMs: number): string[] {
  return project.emails.filter((address, i, all) => {
    const isFirst = all.findIndex((each) => isSameMailbox(each, address)) === i;
    return isFirst && !markOf(project, address, nowMs);
  });
}

/** The marks of the other addresses. */
export const withoutMark = ({ undeliverable }: Addresses, address: string) =>
  undeliverable?.filter(({ email }) => !isSameMailbox(email, address));

/** Adds a mark. If there are too many, the oldest one of an address that the project does not have anymore is removed. */
export function withMark({ emails, undeliverable = [] }: Addresses, mark: UndeliverableEmail): UndeliverableEmail[] {
  const marks = [...undeliverable.filter(({ at }) => at > mark.at - MARK_MS), mark];
  if (marks.length <= MAX_MARKS) return marks;
  return marks.toSpliced(
    marks.findIndex(({ email }) => !emails.some((each) => isSameMailbox(each, email))),
    1,
  );
}
