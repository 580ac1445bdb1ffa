import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { Random } from '../ids.ts';

/*
 * A cursor is an encrypted position, because the position can be the key of a document that the caller must not know:
 * base64url of nonce, ciphertext and tag of AES-256-GCM. `scope` names the list that the cursor belongs to (operation, space,
 * filters). It is authenticated too, so no cursor works anywhere else.
 */
const CIPHER = 'aes-256-gcm';
/** The nonce size that NIST SP 800-38D §8.2 recommends. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a position. Two cursors of the same position differ. */
export function sealCursor(secret: string, scope: string, position: string, random: Random): string {
  const nonce = random(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(secret), nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(scope));
  const encrypted = [cipher.update(position), cipher.final()];
  return Buffer.concat([nonce, ...encrypted, cipher.getAuthTag()]).toString('base64url');
}

/** The position, or `null` if `sealCursor` did not create the cursor for this scope. */
export function openCursor(secret: string, scope: string, cursor: string): string | null {
  const bytes = Buffer.from(cursor, 'base64url');
  // Only one spelling is valid, because a decoder ignores stray characters.
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== cursor) return null;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, keyOf(secret), nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(scope))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString();
  } catch {
    return null;
  }
}

const keyOf = (secret: string): Buffer => createHmac('sha256', secret).update('cursor').digest();
