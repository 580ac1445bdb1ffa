import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useService } from '../support/service.ts';
import { useDashboard } from './browser.ts';
import { distinctResponse, idOf, NOW } from './distinct.ts';
import { reviewed } from './page-text.ts';

/*
 * Compares the content and the requests of every page with the files in `pages/`. The responses come from `distinct.ts`: a value
 * contains the name of its member, so a file shows which member a page displays. The first request that changes something fails,
 * and the second one has a violation of each member. The page refreshes after each choice and each failure. Before a form or dialog
 * is sent, and during each request that changes something, other users empty every list and change every resource, and undo it.
 * The clock of the user is wrong, so every time must come from the responses. Numbers and times are in German, and three and
 * a half hours behind UTC. `more.yaml` states how often a page repeats which requests, and what it shows if they fail. Review these files with
 * every change. `page-text.ts` says how they state a page.
 * `npm run test:browser -- --update` writes them.
 */

const service = useService();
const dashboard = useDashboard(service);

// A script counts, in the page, the requests without a complete response, and notes each saved file, each copied text, and what
// a timer repeats. It waits until no request starts anymore, because one can follow from the response to another. It refreshes the page
// while other users change everything, and after they have undone it, and returns the titles and buttons of the dialogs at both times.
declare let pending: number;
declare function untilQuiet(isQuiet: () => boolean): Promise<void>;
declare function othersChange(): Promise<string[]>;
declare const saved: string[];
declare const repeated: Map<() => void, number>;

/** The places of each section: every page, in several statuses. */
const SECTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  overview: { overview: '', settings: '/settings', tokens: '/tokens', links: '/links' },
  events: {
    events: '/events',
    'event-0': `/events/${idOf.event(0)}`,
    'event-delivery': `/events/${idOf.event(0)}?delivery=${idOf.webhook(1)}`,
  },
  webhooks: { webhooks: '/webhooks', ...placesOf('webhook', [0, 1, 2], (index) => `/webhooks/${idOf.webhook(index)}`) },
  'a webhook': {
    'webhook-new': '/webhooks/new',
    ...placesOf('webhook-settings', [0, 1], (index) => `/webhooks/${idOf.webhook(index)}/settings`),
    delivery: `/webhooks/${idOf.webhook(0)}/deliveries/${idOf.event(0)}`,
  },
  keys: {
    ...{ keys: '/keys', 'key-new': '/keys/new' },
    ...placesOf('key', [0, 1, 2, 3], (index) => `/keys/${idOf.key(index)}`),
  },
  documents: {
    documents: '/documents',
    'document-new': '/documents?new=1',
    document: `/documents/${idOf.document(0)}`,
  },
};

const SPAN = 'since=2025-12-31T13:00:00.000Z&until=2025-12-31T14:00:00.000Z';

/** Places of the sandbox with the same buttons as others, in more combinations of members that are `null`, and with filters. */
const MORE_PLACES: readonly Readonly<Record<string, string>>[] = [
  {
    ...placesOf('event', [1, 2, 3, 4, 5], (index) => `/events/${idOf.event(index)}`),
    ...placesOf('webhook', [3, 4, 5, 6, 7, 8, 9], (index) => `/webhooks/${idOf.webhook(index)}`),
  },
  {
    ...placesOf('key', [4, 5, 6, 7, 8, 9], (index) => `/keys/${idOf.key(index)}`),
    ...placesOf('delivery', [5, 13], (index) => `/webhooks/${idOf.webhook(0)}/deliveries/${idOf.event(index)}`),
    'event-delivery-not-listed': `/events/${idOf.event(0)}?delivery=${idOf.webhook(20)}`,
    'events-older': '/events?cursor=2',
    'events-filtered': '/events?type=document.changed&document_key=a:b',
    'webhook-filtered': `/webhooks/${idOf.webhook(0)}?status=failed&type=document.changed&document_key=a:b&${SPAN}`,
    'settings-filtered': '/settings?target=a&actor=b',
  },
];

function placesOf(name: string, indexes: readonly number[], placeOf: (index: number) => string) {
  return Object.fromEntries(indexes.map((index) => [`${name}-${index}`, placeOf(index)]));
}

/** Opens a tab that is signed in, and that can load places of an environment. The API returns the responses of `distinct.ts`. */
async function openDashboard(place: string, environment = 'live') {
  const reads = new Set<string>();
  const effects: string[] = [];
  const keys: string[] = [];
  /** Whether reads fail, the statuses of the next failures of changes, and whether the last change failed. */
  const next = { readsFail: false, failures: [] as number[], hasFailed: false };
  const page = await dashboard.open('/v1', { timezoneId: 'America/St_Johns', locale: 'de' }); // without a script of the service
  await page.clock.setFixedTime(NOW + 26 * 3_600_000);
  await page.addInitScript(() => {
    sessionStorage['admin-key'] ??= `svc_admin_${'0'.repeat(50)}`;
    const send = fetch;
    let blob: Blob;
    let others: string | undefined;
    let isReading = 0;
    let started = 0;
    let change: Promise<string[]> | undefined;
    const untilQuiet = async (isQuiet: () => boolean) => {
      for (let quiet = 0, before = started; quiet < 3; before = started) {
        await new Promise((resolve) => setTimeout(resolve, 30));
        quiet = isQuiet() && started === before ? quiet + 1 : 0;
      }
    };
    const refreshTwice = async () => {
      const titles: string[] = [];
      for (const step of ['change', 'undo']) {
        others = step; // sent as a header with every read
        for (const act of repeated.keys()) act();
        await untilQuiet(() => isReading === 0);
        titles.push(
          Array.from(
            document.querySelectorAll('dialog:not(.drawer) :is(h2, button)'),
            (each) => each.textContent,
          ).join(),
        );
      }
      others = change = undefined;
      return titles;
    };
    globalThis.setInterval = ((act: () => void, everyMs: number) => repeated.set(act, everyMs) && act) as never;
    globalThis.clearInterval = ((act: () => void) => repeated.delete(act)) as never;
    navigator.clipboard.writeText = async (text) => void saved.push('# Copied:', ...text.trimEnd().split('\n'));
    URL.createObjectURL = (created) => {
      blob = created as Blob;
      return '#';
    };
    HTMLAnchorElement.prototype.click = function () {
      pending++;
      void blob.text().then((text) => {
        saved.push(`# ${this.download}: ${blob.type}`, ...text.trimEnd().split('\n'));
        pending--;
      });
    };
    Object.assign(globalThis, {
      pending: 0,
      saved: [],
      repeated: new Map(),
      untilQuiet,
      othersChange: () => {
        change ??= refreshTwice();
        return change;
      },
      fetch: async (url: URL, { method, headers, ...init }: RequestInit) => {
        const count = method === 'GET' ? 1 : 0;
        started++;
        pending++;
        isReading += count;
        try {
          const response = await send(url, { ...init, method, headers: { ...headers, ...(others && { others }) } });
          const text = await response.text();
          if (method !== 'GET') await othersChange();
          return new Response(text || null, response);
        } finally {
          pending--;
          isReading -= count;
        }
      },
    });
  });
  await page.route('**/v1/**', async (route) => {
    const request = route.request();
    const url = new URL(request.url());
    const fulfill = (response: object) =>
      route.fulfill({ headers: { Date: new Date(NOW).toUTCString() }, ...response });
    const text = `${request.method()} ${decodeURIComponent(url.pathname + url.search)}`;
    if (request.method() === 'GET') {
      const { others } = request.headers();
      if (others === 'change') return fulfill({ json: changedResponse(url) });
      if (!others) reads.add(text);
      if (next.readsFail) return fulfill({ status: 503, body: '' });
    } else {
      const { 'idempotency-key': key, 'if-match': version } = request.headers();
      if (key && !keys.includes(key)) keys.push(key);
      const headers = [key && `Idempotency-Key: ${keys.indexOf(key)}`, version && `If-Match: ${version}`];
      effects.push([text, request.postData(), ...headers].filter(Boolean).join(' '));
      const status = next.failures.shift();
      const errors = Object.entries(request.postDataJSON() ?? {}).map(violationOf);
      next.hasFailed = status === 500 || (status === 400 && errors.length > 0);
      const json = { code: 'invalid_request', status, detail: 'Correct the fields.', errors };
      if (next.hasFailed) return fulfill(status === 500 ? { status, body: '' } : { status, json });
    }
    const json = distinctResponse(request.method(), url);
    return fulfill(json ? { status: 200, json } : { status: 204 });
  });
  /** Waits until the page shows everything that it loads. Returns the requests since the last call. */
  const settled = async (): Promise<string[]> => {
    const files = await page.evaluate(async () => {
      await untilQuiet(() => pending === 0 && !document.querySelector('.skeleton'));
      for (const details of document.querySelectorAll('details')) details.open = true;
      return saved.splice(0);
    });
    const sent = [...[...reads].sort(), ...effects.splice(0), ...files];
    reads.clear();
    return sent;
  };
  /** Loads the place, or another one. Returns the requests. */
  const load = async (other = place): Promise<string[]> => {
    await page.evaluate((next) => history.replaceState(null, '', next), `/dashboard#/${environment}${other}`);
    await page.reload({ waitUntil: 'commit' });
    await page.locator('main').waitFor();
    return settled();
  };
  /** Repeats what timers repeat, which leaves the focus where it is. */
  const refresh = async (): Promise<string[]> => {
    await page.evaluate(() => {
      (document.activeElement as HTMLElement).blur();
      for (const act of repeated.keys()) act();
    });
    const requests = await settled();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
    return requests;
  };
  return { page, settled, load, refresh, next };
}

/** The response to a read after a change by other users: lists are empty, and a resource has the values of the next one. */
function changedResponse(url: URL): object {
  const [number = ''] = /\d{3,}(?=(\/[a-z-]+)?$)/.exec(url.pathname) ?? [];
  const nextNumber = String(Number(number) + 1).padStart(number.length, '0');
  const response = distinctResponse('GET', new URL(number ? url.href.replace(number, nextNumber) : url.href)) ?? {};
  if ('data' in response) return { data: [], next_cursor: null };
  return number ? JSON.parse(JSON.stringify(response).replaceAll(nextNumber, number)) : response;
}

/** The violation of a member of a request, or of its first entry. */
const violationOf = ([member, value]: [string, unknown]) => ({
  field: Array.isArray(value) && value.length > 0 ? `${member}[0]` : member,
  detail: 'is wrong',
});

it('other combinations of members that are null, and filters', async () => {
  const texts = await Promise.all(MORE_PLACES.map(readPlaces));
  await expect(reviewed(texts.flat().join('\n'))).toMatchFileSnapshot('pages/more.yaml');
});

/** Returns the content and the requests of places of the sandbox, and what they show if a refresh fails. */
async function readPlaces(places: Readonly<Record<string, string>>): Promise<string[]> {
  const { page, settled, load, refresh, next } = await openDashboard('', 'sandbox');
  const main = page.locator('main, dialog').last();
  const text: string[] = [];
  for (const [name, place] of Object.entries(places)) {
    const requests = await load(place);
    const before = await shownIn(main);
    text.push(`# ${name}`, ...requests, withoutTables(before));
    const environment = /#\/\w+/.exec(page.url())?.[0] ?? ''; // of the key, if the page shows a key
    const links = main.locator(`a[href^="#/"]:not([href^="${environment}"])`);
    expect(await links.evaluateAll((all) => all.map((each) => each.getAttribute('href')))).toEqual([]);
    const intervals = await page.evaluate(() => [...new Set(repeated.values())].sort((a, b) => a - b));
    for (const interval of intervals) {
      await page.evaluate((ms) => {
        for (const [act, everyMs] of repeated) if (everyMs === ms) act();
      }, interval);
      const refreshed = await settled();
      if (refreshed.length > 0) text.push(`# Every ${interval / 1000} s`, ...refreshed);
    }
    next.readsFail = true;
    await refresh();
    next.readsFail = false;
    text.push(...newLines(before, await shownIn(main)), '');
  }
  return text;
}

it.each(Object.entries(SECTIONS))('%s', async (_, places) => {
  await Promise.all(Object.entries(places).map(([name, place]) => expectPage(name, place)));
});

async function expectPage(name: string, place: string): Promise<void> {
  const { page, settled, load, refresh, next } = await openDashboard(place);
  const dialogs = page.getByRole('dialog');
  const text = await load();
  const url = page.url();
  const isDrawer = (await dialogs.count()) > 0;
  const main = isDrawer ? dialogs : page.locator('main');
  const save = main.locator('form:not([role=search]) button[type=submit]');
  const hasForm = (await save.count()) > 0;
  const before = await shownIn(main);
  text.push(before, ...(await hintsIn(main)));

  const isInDialog = async () => (await dialogs.count()) > Number(isDrawer);
  /** The differences from the page, or the place and the messages of another page. */
  const changes = async (): Promise<string[]> => {
    if (page.url() !== url) return [`# at ${page.url().split('#')[1]}`, ...(await messagesIn(page))];
    return newLines(before, await shownIn((await isInDialog()) ? dialogs.last() : main));
  };
  /** Notes the requests and the changes of an action. Returns the changes. */
  const effectOf = async (act: () => Promise<void>): Promise<string[]> => {
    next.hasFailed = false;
    await act();
    const requests = await settled();
    const shown = await changes();
    text.push(...requests, ...shown, ...(await announcementIn(page)));
    return shown;
  };
  /** Closes a dialog that covers a button. */
  const uncover = async (button: Locator) => {
    const isCovered = (await isInDialog()) && !(await button.evaluate((each) => each.closest('dialog:not(.drawer)')));
    if (isCovered) await page.keyboard.press('Escape');
  };
  /** Presses a button. If that changes something, the first requests fail, and the button is pressed again. */
  const press = async (button: Locator, act: () => Promise<void>) => {
    next.failures = [500, 400];
    let shown = await effectOf(act);
    while (next.hasFailed) {
      await refresh();
      expect(await changes()).toEqual(shown);
      text.push('', '# Again');
      await uncover(button);
      shown = await effectOf(() => button.click());
    }
    expect(await page.evaluate(() => document.activeElement?.tagName), text.slice(-9).join('\n')).not.toBe('BODY');
  };
  /** Fills a form or a dialog. Changes by others keep what is filled in, and the focus. */
  const prepareAmongOthers = async (place: Locator, prepare: typeof fill) => {
    await prepare(place);
    const filled = await shownIn(place);
    const focused = await page.evaluateHandle(() => document.activeElement?.closest('form *'));
    const [changed, undone] = await page.evaluate(() => othersChange());
    await settled();
    expect(changed).toBe(undone);
    expect(await shownIn(place)).toBe(filled);
    expect(await focused.evaluate((element) => !element || element === document.activeElement)).toBe(true);
  };
  const open = async (name: string | null, button: Locator, prepare: typeof fill) => {
    await load();
    if (name?.endsWith(' selected')) await selectRows(main);
    await prepare(main);
    text.push('', `# ${name}`);
    await press(button, () => button.click());
    if (!(await isInDialog())) return;
    const dialog = dialogs.last();
    text.push(...(await hintsIn(dialog)));
    const submit = dialog.locator('button[type=submit]');
    if ((await submit.count()) === 0) return;
    await prepareAmongOthers(dialog, prepare);
    text.push('', `# ${name}: ${await submit.textContent()}`);
    await press(submit, () => clickTwice(submit));
  };

  await selectRows(main);
  await prepareAmongOthers(main, fill);
  // Each button, what it changes, and the request of its form, also of one with empty fields.
  const buttons = main.getByRole('button');
  const names = await buttons.evaluateAll((all) => all.map((each) => each.ariaLabel ?? each.textContent));
  for (const [i, button] of names.entries()) {
    if (names.findIndex((each) => withoutDigits(each) === withoutDigits(button)) !== i) continue;
    await open(button, buttons.nth(i), fill);
  }
  await load();
  const choices = /-[1-9]$/.test(name) ? [] : await choicesIn(main); // pages of one kind have the same choices
  for (const [label, choose] of choices) {
    await choose();
    text.push('', `# ${label}`, ...(await settled()), `# rows: ${(await rowsIn(main)).join(', ')}`);
    const refreshed = await refresh();
    if (refreshed.length > 0) text.push('# Refresh', ...refreshed);
  }
  if (hasForm) await open('Without values', save.first(), clear);
  await expect(reviewed([...text, ''].join('\n'))).toMatchFileSnapshot(`pages/${name}.yaml`);
}

const messagesIn = (page: Page) => page.locator('h1,[role=alert],[role=status]').allTextContents();

/** Returns the message at the edge of the page. */
const announcementIn = (page: Page): Promise<string[]> =>
  page.locator('.announcement span').evaluateAll((all) => all.map((each) => `# Announced: ${each.textContent}`));

/** Clicks before the page can react to the first click. */
const clickTwice = (button: Locator): Promise<void> =>
  button.evaluate((element: HTMLElement) => {
    element.click();
    element.click();
  });

/** Returns the texts, limits and kinds of elements that their accessible content does not contain. */
const hintsIn = (place: Locator): Promise<string[]> =>
  place.locator('[title],input,textarea,.badge,.callout').evaluateAll((all) =>
    all.flatMap((element) => {
      const found = ['title', 'class', 'type', 'min', 'max', 'maxlength', 'required', 'autocomplete'].flatMap(
        (name) => {
          const value = element.getAttribute(name);
          return value === null ? [] : [`${name}=${value}`];
        },
      );
      const label = (element as HTMLInputElement).labels?.[0]?.textContent ?? element.textContent;
      return found.length > 0 ? [`# ${label}: ${found.join(' ')}`] : [];
    }),
  );

const rowsIn = (place: Locator): Promise<string[]> => place.locator('table tbody th').allTextContents();

const labelOf = (field: Locator) => field.evaluate((element) => (element as HTMLInputElement).labels?.[0]?.textContent);

/** Returns every option of the lists and radio buttons, with its label. */
async function choicesIn(place: Locator): Promise<[label: string, choose: () => Promise<unknown>][]> {
  const choices: Awaited<ReturnType<typeof choicesIn>> = [];
  for (const list of await place.locator('select:visible').all()) {
    const name = await labelOf(list);
    for (const option of await list.locator('option').allTextContents())
      choices.push([`${name}: ${option}`, () => list.selectOption({ label: option })]);
  }
  for (const button of await place.locator('input[type=radio]:visible').all())
    choices.push([String(await labelOf(button)), () => button.check()]);
  return choices;
}

const fieldsIn = (place: Locator) =>
  place.locator('form:not([role=search]) :is(input[type=text],input[type=url],textarea):visible').all();

async function selectRows(place: Locator): Promise<void> {
  for (const rows of await place.getByLabel('Select all on this page').all()) await rows.check();
}

/** Fills the empty fields of forms. */
async function fill(place: Locator): Promise<void> {
  for (const field of await fieldsIn(place)) {
    if ((await field.inputValue()) !== '') continue;
    await field.fill(`typed as ${await labelOf(field)}`);
  }
}

async function clear(place: Locator): Promise<void> {
  for (const field of await fieldsIn(place)) await field.fill('');
}

/** Returns the accessible content of an element as YAML, without the names of rows, which repeat their cells. */
const shownIn = async (place: Locator) => (await place.ariaSnapshot()).replace(/- '?row ".*?"'?:$/gm, '- row:');

const newLines = (before: string, after: string): string[] => {
  const known = new Set(before.split('\n'));
  return after.split('\n').filter((line) => !known.has(line));
};

/** Removes the rows of tables. */
const withoutTables = (text: string): string => text.replace(/^( *)(- table.*)(\n\1 .*)+/gm, '$1$2');

const withoutDigits = (text: string | null) => text?.replace(/\d/g, '');
