/** An email to all recipients. */
export interface Email {
  to: readonly string[];
  subject: string;
  text: string;
  html: string;
}

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
