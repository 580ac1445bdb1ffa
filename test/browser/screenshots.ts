import { mkdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { chromium } from 'playwright-core';
import { CHROMIUM } from './browser.ts';

/**
 * `npm run screenshots` takes the screenshots of the README from a running `npm start`. It takes seven minutes, because the times
 * in the pictures are real.
 */
const directory = '.github/screenshots';
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
await new Promise<void>((resolve) => receiver.listen(4000, '127.0.0.1', resolve));
const url = 'http://127.0.0.1:4000/search-index';
const webhook = await call('POST', '/v1/webhooks', {
  url,
  events: ['document.created', 'document.changed'],
  description: 'Search index',
});
/** The time for three attempts of a failing delivery: immediately, after 1 minute, and after 5 more minutes. */
const THREE_ATTEMPTS_MS = 6.4 * 60 * 1000;
const count = async (status: string): Promise<number> =>
  (await call('GET', `/v1/webhooks/${webhook.id}/deliveries?status=${status}`)).data.length;
for (let i = 1; i <= 9; i++) {
  isBroken = i > 6;
  await call('PUT', `/v1/documents/org:acme:page-${i}`, {
    fields: { title: `Page ${i}`, words: 120 * i, published: true },
  });
  while ((await count('succeeded')) + (await count('retrying')) < i)
    await new Promise((resolve) => setTimeout(resolve, 100));
}
await new Promise((resolve) => setTimeout(resolve, THREE_ATTEMPTS_MS));

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
mkdirSync(directory, { recursive: true });
const { data } = await call('GET', `/v1/webhooks/${webhook.id}/deliveries?status=retrying`);
const pictures = [
  ['webhook', `/live/webhooks/${webhook.id}`, 'light', 'Redeliver selected'],
  ['delivery', `/live/webhooks/${webhook.id}/deliveries/${data[0].event_id}`, 'dark', 'Copy payload'],
] as const;
for (const [name, place, colorScheme, lastButton] of pictures) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 960 }, colorScheme });
  await page.goto(`${base_url}/dashboard#${place}`);
  await page.getByLabel('Admin key').fill(keys.admin);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.getByRole('button', { name: lastButton }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: `${directory}/${name}.png` });
}
await browser.close();
receiver.close();
