import { printable } from '../printable.ts';

/** The project that an email is about, and where it goes. */
export interface Recipients {
  id: string;
  emails: readonly string[];
  /** Addresses that receive no emails until they are confirmed. */
  undeliverable?: readonly { email: string }[] | undefined;
}

/** An email to each of its recipients. */
export interface Email {
  projectId: string;
  /** Can be empty. */
  to: readonly string[];
  subject: string;
  text: string;
  html: string;
}

/**
 * Text for an email without characters that change its direction or add lines. Otherwise, a name or a description that a
 * stolen key sets could change the meaning of a security notice.
 */
export const emailText = (text: string): string => printable(text).replace(/[\u2028\u2029]/g, ' ');

/** The recipients of an email to a project: its addresses without the undeliverable ones. */
export function recipientsOf({ id, emails, undeliverable = [] }: Recipients): Pick<Email, 'projectId' | 'to'> {
  const isUndeliverable = (address: string) => undeliverable.some(({ email }) => email === address);
  return { projectId: id, to: emails.filter((address) => !isUndeliverable(address)) };
}

/** An email of paragraphs, whose text never becomes markup. */
export function emailOf(recipients: Recipients, subject: string, paragraphs: readonly string[]): Email {
  const html = paragraphs.map((each) => `<p>${escapeHtml(each).replaceAll('\n', '<br>')}</p>`).join('\n');
  return {
    ...recipientsOf(recipients),
    subject,
    text: paragraphs.join('\n\n'),
    html: htmlDocument(html),
  };
}

/** Wraps content in the HTML document of an email, a column that also fits phones. Email clients ignore style sheets. */
export const htmlDocument = (body: string): string =>
  `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"></head>
<body style="font:16px/1.5 sans-serif;margin:0 auto;max-width:600px;padding:24px">\n${body}\n</body></html>`;

export interface Link {
  label: string;
  url: string;
}

export const anchor = ({ label, url }: Link, style = ''): string =>
  `<a href="${escapeHtml(url)}"${style && ` style="${style}"`}>${escapeHtml(label)}</a>`;

/** A link that looks like a button. */
export const button = (link: Link): string =>
  `<p>${anchor(link, 'background:#1d4ed8;border-radius:6px;color:#fff;display:inline-block;padding:10px 16px;text-decoration:none')}</p>`;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
