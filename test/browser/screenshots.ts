import { mkdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { CHROMIUM } from './browser.ts';

/** `npm run screenshots` takes the README's screenshots of a running `npm start -- --speed 60`, after some use. */
const directory = 'functions/dashboard/screenshots';
const { base_url, keys } = JSON.parse(readFileSync('.local/stack.json', 'utf8'));

async function call(method: string, path: string, body?: unknown) {
  const headers = { Authorization: `Bearer ${keys.live}`, 'Content-Type': 'application/json' };
  const response = await fetch(base_url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

let isBroken = false;
const receiver = http.createServer((request, response) => {
  request.resume();
  response.writeHead(isBroken ? 503 : 200).end(isBroken ? 'Service Unavailable' : '');
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/search-index`;
const webhook = await call('POST', '/v1/webhooks', {
  url,
  events: ['document.created', 'document.changed'],
  description: 'Search index',
});
const settle = () => new Promise((resolve) => setTimeout(resolve, 7000));
for (let i = 1; i <= 9; i++) {
  isBroken = i > 6;
  await call('PUT', `/v1/documents/org:acme:page-${i}`, {
    fields: { title: `Page ${i}`, words: 120 * i, published: true },
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
}
await settle(); // three attempts of each failing delivery

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
mkdirSync(directory, { recursive: true });
const { data } = await call('GET', `/v1/webhooks/${webhook.id}/deliveries?status=retrying`);
const pictures = [
  ['webhook', `/live/webhooks/${webhook.id}`, 'light'],
  ['delivery', `/live/webhooks/${webhook.id}/deliveries/${data[0].event_id}`, 'dark'],
] as const;
for (const [name, place, colorScheme] of pictures) {
  const page = await browser.newPage({ viewport: { width: 1100, height: 720 }, colorScheme });
  await page.goto(`${base_url}/dashboard#${place}`);
  await page.getByLabel('Admin key').fill(keys.admin);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: `${directory}/${name}.png` });
}
await browser.close();
receiver.close();
