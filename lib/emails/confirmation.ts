import * as v from 'valibot';
import type { Email } from '../aws/email.ts';
import { openCursor, sealCursor } from '../http/cursor.ts';
import { type Random, SORTABLE } from '../ids.ts';
import { described, request, resource } from '../schema.ts';
import { type EmailContext, emailOf, emailTime } from './compose.ts';
import { inert } from './inert.ts';

/** How long the link of a confirmation email works. */
const LINK_MS = 7 * 24 * 60 * 60 * 1000;

/** No cursor has this scope, so none of them confirms an address. */
const scopeOf = (projectId: string): string => `email confirmation ${projectId}`;

/** A token of a link: the id of the project, so that its secret can be read, and an encrypted text. */
const TOKEN = new RegExp(`^(prj_${SORTABLE})\\.([\\w-]+)$`);
const MAX_TOKEN = 1000;

interface Project {
  id: string;
  cursorSecret: string;
}

/**
 * The token that confirms an address of a project. Nothing is stored: only the service can create one, because the secret of the
 * project encrypts and authenticates it.
 */
export function confirmationToken({ id, cursorSecret }: Project, email: string, nowMs: number, random: Random): string {
  const text = JSON.stringify({ email, expiresAt: nowMs + LINK_MS });
  return `${id}.${sealCursor(cursorSecret, scopeOf(id), text, random)}`;
}

/** The project that a token names. Nothing proves yet that the service created the token. */
export const projectIn = (token: string): string | undefined => TOKEN.exec(token)?.[1];

/** The address that a token confirms for this project, or `null` if the service did not create it or it has expired. */
export function emailIn({ id, cursorSecret }: Project, token: string, nowMs: number): string | null {
  const [, projectId, sealed = ''] = TOKEN.exec(token) ?? [];
  const text = projectId === id ? openCursor(cursorSecret, scopeOf(id), sealed) : null;
  if (text === null) return null;
  const { email, expiresAt }: { email: string; expiresAt: number } = JSON.parse(text);
  return nowMs < expiresAt ? email : null;
}

export const ConfirmAddress = request('ConfirmAddress', {
  token: described(
    v.pipe(v.string('must be a string'), v.maxLength(MAX_TOKEN, `must have at most ${MAX_TOKEN} characters`)),
    'The last part of the link in the confirmation email.',
  ),
});

export const ConfirmedAddress = resource('ConfirmedAddress', {
  email: described(v.string(), 'The address that is confirmed.'),
});

/** The first email to a new address, and the only one until its owner confirms it. Opening the link alone confirms nothing. */
export const confirmationEmail = (context: EmailContext, to: string, token: string, nowMs: number): Email =>
  emailOf({
    ...context,
    to: [to],
    subject: 'Confirm this address',
    paragraphs: [
      `A request added this address to the notification addresses of the project "${inert(context.project.name)}". Confirm the address to receive emails when a webhook fails, and when an admin key or an address changes. The link works until ${emailTime(nowMs + LINK_MS)}.`,
      'If you did not expect this email, ignore it. Without a confirmation, this address receives no other emails of the project.',
    ],
    reason: 'a request added this address to',
    links: [['Confirm the address', `/live/confirm-email/${token}`]],
  });
