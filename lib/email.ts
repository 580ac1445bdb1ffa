/** An email: each of the recipients gets it. */
export interface Email {
  to: readonly string[];
  subject: string;
  text: string;
  html: string;
}

/** An email of paragraphs. Nothing of their text becomes markup. */
export function emailOf(to: readonly string[], subject: string, paragraphs: readonly string[]): Email {
  const html = paragraphs.map((each) => `<p>${escapeHtml(each).replaceAll('\n', '<br>')}</p>`).join('\n');
  return {
    to,
    subject,
    text: paragraphs.join('\n\n'),
    html: htmlDocument(html),
  };
}

/** The HTML of an email around its content. */
export const htmlDocument = (body: string): string =>
  `<!doctype html><html lang="en"><body style="font-family:sans-serif">\n${body}\n</body></html>`;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
