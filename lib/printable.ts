// The browser imports this file too, so it must stay small.

/** Removes control and direction characters from foreign text, for emails, logs and the dashboard. Keeps tabs and line feeds. */
export const printable = (text: string): string => text.replace(/(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu, '');

/**
 * Writes invisible characters, and those that control a terminal or the text direction, as JSON escapes. JSON stays the
 * same JSON. Keeps tabs and line feeds.
 */
export const visible = (text: string): string =>
  text.replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );

/**
 * Text for an email without characters that change its direction or add lines. Otherwise, a name or a description that a
 * stolen key sets could change the meaning of a security notice.
 */
export const emailText = (text: string): string => printable(text).replace(/[\u2028\u2029]/g, ' ');
