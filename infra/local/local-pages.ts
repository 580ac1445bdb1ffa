import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { KEY_ITEM } from '../../functions/site/dashboard/state/key-item.ts';
import { sameText } from '../../lib/keys/key-secret.ts';
import { namesThisMachine } from './hosts.ts';
import { readBody } from './services/bodies.ts';

const MAIL_PATH = '/_local/mail';
const SIGN_IN_PATH = '/_local/sign-in';
const MAX_TICKET_BYTES = 100;
const INVOKE_PATH = '/_local/functions/';

/** Exchanges the ticket after `#` for the key, in the format of the dashboard. */
const SCRIPT = `
fetch('', { method: 'POST', body: location.hash.slice(1) }).then(async (response) => {
  if (!response.ok) return void (document.getElementById('used').hidden = false);
  sessionStorage.clear();
  sessionStorage.setItem('${KEY_ITEM}', await response.text());
  location.replace('/dashboard');
});`;
const SIGN_IN_PAGE = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Sign in</title>
<p id="used" hidden>This link works once. <a href="/dashboard">Sign in with the admin key</a> that npm start printed.</p>
<script>${SCRIPT}</script>`;
const POLICY = `default-src 'none'; connect-src 'self'; script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`;

/** Pages of the local stack. A deployed API does not have them. */
export class LocalPages {
  private readonly baseUrl: string;
  private readonly emails: () => unknown;
  private readonly invoke: (functionId: string, event: unknown) => Promise<unknown>;
  /** Authorizes invocations, like the IAM permission in an account. Web pages do not know it. */
  readonly invokeToken = randomBytes(32).toString('base64url');
  private readonly keys = new Map<string, string>();

  constructor(baseUrl: string, emails: () => unknown, invoke: LocalPages['invoke']) {
    this.baseUrl = baseUrl;
    this.emails = emails;
    this.invoke = invoke;
  }

  get mailUrl(): string {
    return this.baseUrl + MAIL_PATH;
  }

  /** Returns a link that signs in to the dashboard once, because browsers store URLs in their history. */
  signInUrl(key: string): string {
    const ticket = randomBytes(16).toString('base64url');
    this.keys.set(ticket, key);
    return `${this.baseUrl}${SIGN_IN_PATH}#${ticket}`;
  }

  has({ url }: IncomingMessage): boolean {
    return url === MAIL_PATH || url === SIGN_IN_PATH || url?.startsWith(INVOKE_PATH) === true;
  }

  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Cache-Control', 'no-store');
    if (!namesThisMachine(request)) return void response.writeHead(403).end();
    if (request.url === MAIL_PATH) {
      return void response.setHeader('Content-Type', 'application/json').end(JSON.stringify(this.emails()));
    }
    if (request.url?.startsWith(INVOKE_PATH)) return this.respondToInvocation(request, response);
    if (request.method !== 'POST') {
      response.setHeader('Content-Security-Policy', POLICY).setHeader('Content-Type', 'text/html; charset=utf-8');
      return void response.end(SIGN_IN_PAGE);
    }
    const ticket = String(await readBody(request, MAX_TICKET_BYTES));
    const key = this.keys.get(ticket);
    this.keys.delete(ticket);
    response.writeHead(key === undefined ? 404 : 200, { 'Content-Type': 'text/plain' }).end(key);
  }

  private async respondToInvocation(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isAllowed = sameText(request.headers.authorization ?? '', `Bearer ${this.invokeToken}`);
    if (!isAllowed || request.method !== 'POST') return void response.writeHead(403).end();
    const id = (request.url ?? '').slice(INVOKE_PATH.length);
    const send = (status: number, result: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(result));
    try {
      send(200, await this.invoke(id, await json(request)));
    } catch (error) {
      send(502, { message: (error as Error).message });
    }
  }
}
