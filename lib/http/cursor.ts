import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * A cursor is a position and its HMAC-SHA256 under the project's cursor secret. `scope` names the list it belongs to
 * (operation, space, filters), so that no cursor works anywhere else.
 */
export function sealCursor(secret: string, scope: string, position: string): string {
  return `${Buffer.from(position).toString('base64url')}.${mac(secret, scope, position)}`;
}

/** The position, or `null` if the cursor is not one that `sealCursor` made for this scope. */
export function openCursor(secret: string, scope: string, cursor: string): string | null {
  const [encoded = '', given = ''] = cursor.split('.');
  const position = Buffer.from(encoded, 'base64url').toString();
  const expected = mac(secret, scope, position);
  if (Buffer.byteLength(given) !== expected.length) return null;
  const genuine = timingSafeEqual(Buffer.from(given), Buffer.from(expected));
  return genuine && cursor === sealCursor(secret, scope, position) ? position : null;
}

function mac(secret: string, scope: string, position: string): string {
  return createHmac('sha256', secret).update(`${scope}\n${position}`).digest('base64url');
}
