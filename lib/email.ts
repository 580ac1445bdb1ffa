import { printable } from './printable.ts';

/** An email to all recipients. */
export interface Email {
  to: readonly string[];
  subject: string;
  text: string;
  html: string;
}

/**
 * Text for an email without characters that change its direction or add lines. Otherwise, a name or a description that a
 * leaked key sets could change the meaning of a security notice.
 */
export const emailText = (text: string): string => printable(text).replace(/[\u2028\u2029]/g, ' ');

/** An email of paragraphs, whose text never becomes markup. */
export function emailOf(to: readonly string[], subject: string, paragraphs: readonly string[]): Email {
  const html = paragraphs.map((each) => `<p>${escapeHtml(each).replaceAll('\n', '<br>')}</p>`).join('\n');
  return {
    to,
    subject,
    text: paragraphs.join('\n\n'),
    html: htmlDocument(html),
  };
}

/** Wraps content in the HTML document of an email. */
export const htmlDocument = (body: string): string =>
  `<!doctype html><html lang="en"><body style="font-family:sans-serif">\n${body}\n</body></html>`;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
