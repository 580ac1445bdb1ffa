import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readRoutes } from '../../../../infra/local/gateway/routes.ts';
import { createState } from '../../../../infra/local/services/state.ts';
import { LAYOUT } from '../../../../lib/deployment.ts';
import { everyOption, synth } from '../../../infra/synth.ts';
import { databaseEndpoint } from '../../../support/database.ts';
import { eventually, FAST, request } from '../../../support/service.ts';
import { startWatchedStack } from '../../../support/watched-stack.ts';
import { readTemplate } from '../../local/gateway.ts';
import { BETWEEN_STEPS_MS, during, startEndpoints } from './deployment.ts';
import { changeIndexes } from './indexes.ts';
import { keptResources } from './kept-resources.ts';
import { consumersOf, failedStarts, mixed, resourcesOf } from './mixed.ts';
import { extractRelease, type ReleaseSource, releases } from './release.ts';
import {
  addWork,
  makeDue,
  readStored,
  restoreItems,
  type Stored,
  shapesOf,
  withEndpoints,
  withPlaceholders,
} from './stored.ts';
import { attemptAgain, begin, complete, type Endpoints, proceed, rejectFirstAttempts, type Work } from './work.ts';

const MISSING = `The previous release needs these attributes and members after a rollback. Write them until the release after the next one
(infra/UPGRADES.md).`;
const REPLACED = `The upgrade replaces or removes these resources of the previous release. Restore the logical id (pinLogicalId) and the
properties, or name the resource in the section "Upgrading" of CHANGELOG.md and say what the operator must do.`;

const previous = releases.at(-1);
if (!previous) throw new Error('releases.json is empty');
const current = inject('assembly');
/** The releases whose tables this version shares. It does not work with tables of another layout. */
const sharing = releases.filter(({ layout }) => layout === LAYOUT);
const others = releases.filter(({ layout }) => layout !== LAYOUT);
let source: ReleaseSource;
let earlier: string;
beforeAll(() => {
  source = extractRelease(previous);
  earlier = source.synthesize();
});
afterAll(() => source?.remove());

/** `RECORD=1` records the fixture of the release that `releases.json` names last, with its own code. */
const fixtureOf = (version: string) => new URL(`stored/${version}.json`, import.meta.url);

/** The changelog above the section of a release. */
function upgradeNotesSince(version: string): string {
  const [notes = '', ...rest] = readFileSync('CHANGELOG.md', 'utf8').split(`\n## [${version}]`);
  expect(rest, `CHANGELOG.md has one section [${version}]`).toHaveLength(1);
  return notes;
}

/** Begins work under a deployment, and returns everything that it stored. */
async function storedBy(assembly: string, endpoints: Endpoints): Promise<Stored> {
  const state = createState();
  const at = Date.now();
  const work = await during({ assembly, state, at }, (stack) => begin(stack, state, endpoints));
  return readStored(state, work, at);
}

describe.each(sharing)('the data of release $version', ({ version }) => {
  it('is complete to this version, with its work in progress', async () => {
    const endpoints = await startEndpoints();
    if (process.env.RECORD && version === previous.version) {
      const text = JSON.stringify(await storedBy(earlier, endpoints), null, 1);
      writeFileSync(fixtureOf(version), `${withPlaceholders(text, endpoints)}\n`);
    }
    const stored: Stored = JSON.parse(withEndpoints(readFileSync(fixtureOf(version), 'utf8'), endpoints));
    const { work } = stored;
    rejectFirstAttempts(work.published.body.id, endpoints);
    const state = createState();
    let at = stored.at + BETWEEN_STEPS_MS;
    await during({ assembly: current, state, at }, () => restoreItems(stored, state));
    addWork(stored, state);
    await during({ assembly: current, state, at }, (stack) => proceed(stack, work, endpoints));
    makeDue(state);
    at += BETWEEN_STEPS_MS;
    await during({ assembly: current, state, at, pace: FAST }, (stack) => complete(stack, work));
  });

  it('has the attributes and members that this version writes', async () => {
    const expected = shapesOf(JSON.parse(readFileSync(fixtureOf(version), 'utf8')));
    const found = shapesOf(await storedBy(current, await startEndpoints()));
    const missing = Object.entries(expected).flatMap(([kind, members]) =>
      members.filter((member) => !found[kind]?.includes(member)).map((member) => `${kind}: ${member}`),
    );
    expect(missing, MISSING).toEqual([]);
  });
});

describe('the template', () => {
  it('replaces or removes no resource with data, an address or work in progress, unless the notes say so', () => {
    const before = keptResources(
      resourcesOf(source.synthesize({ ...previous.everyOption, 'aws:cdk:bundling-stacks': [] })),
    );
    const after = keptResources(synth(everyOption).toJSON().Resources);
    const notes = upgradeNotesSince(previous.version);
    const replaced = Object.entries(before).flatMap(([id, resource]) =>
      isDeepStrictEqual(resource, after[id]) || notes.includes(`\`${id}\``) ? [] : [id],
    );
    expect(replaced, REPLACED).toEqual([]);
  });

  it('has no new type of resource by default, which a region can lack, unless the notes name it', () => {
    const typesOf = (assembly: string) => new Set(Object.values(resourcesOf(assembly)).map(({ Type }) => Type));
    const notes = upgradeNotesSince(previous.version);
    const added = [...typesOf(current).difference(typesOf(earlier))];
    expect(added.filter((type) => !notes.includes(`\`${type}\``))).toEqual([]);
  });
});

describe.each(sharing.slice(-1))('an upgrade from $version and a rollback', () => {
  it('lose no work of either release', async () => {
    const consumers = consumersOf(resourcesOf(current));
    const isConsumer = (id: string) => consumers.has(id);
    const steps: [name: string, assembly: string][] = [
      ['the release', earlier],
      ['its functions under the new policies', mixed(current, earlier, () => true)],
      ['the new API before the new consumers', mixed(current, earlier, isConsumer)],
      ['this version', current],
      // Functions that lack a permission fail and retry until their code is rolled back. `memory/simulation` has such failures.
      ['a rollback of the API before the consumers', mixed(earlier, current, isConsumer, { bothPolicies: true })],
      ['the release again', earlier],
    ];
    const state = createState();
    const begun: { work: Work; endpoints: Endpoints; attempts: number }[] = [];
    let at = Date.now();
    for (const [, assembly] of steps) {
      await during({ assembly, state, at }, async (stack) => {
        for (const each of begun) {
          each.attempts++;
          await proceed(stack, each.work, each.endpoints);
          await attemptAgain(each.work, each.endpoints, each.attempts, state);
        }
        const endpoints = await startEndpoints();
        begun.push({ work: await begin(stack, state, endpoints), endpoints, attempts: 1 });
      });
      makeDue(state);
      at += BETWEEN_STEPS_MS;
    }
    await during({ assembly: current, state, at, pace: FAST }, async (stack) => {
      for (const { work, endpoints } of begun) await proceed(stack, work, endpoints);
      for (const { work } of begun) await complete(stack, work);
      await eventually(() => state.messages.size + state.schedules.size === 0);
    });
  });
});

describe.each(others.slice(-1))('release $version, which has another layout,', () => {
  it.each([
    ['keeps its table, in which this version changes nothing', () => [earlier, current]],
    ['changes nothing in the table of this version', () => [current, earlier]],
  ])('%s', async (_, assemblies) => {
    const [first = '', second = ''] = assemblies();
    const state = createState();
    const endpoints = await startEndpoints();
    const work = await during({ assembly: first, state, at: Date.now() }, (stack) => begin(stack, state, endpoints));
    const tableItems = async () => (await readStored(state, work, 0)).items;
    const before = await tableItems();
    await changeIndexes(state, second);
    const stack = await startWatchedStack({ assembly: second, databaseEndpoint: databaseEndpoint(), state, ...FAST });
    try {
      const headers = { Authorization: `Bearer ${work.live}` };
      const calls = await Promise.all([
        request(stack.baseUrl, 'GET', '/v1/documents', { headers }),
        request(stack.baseUrl, 'PUT', '/v1/documents/org:d', { headers, body: { fields: {} } }),
      ]);
      expect(calls.map(({ status }) => status)).toEqual([503, 503]);
    } finally {
      await stack.stop();
    }
    expect(await tableItems()).toEqual(before);
  });
});

describe('the functions during a deployment', () => {
  it('serve every public path of the previous release, because the stage keeps it', async () => {
    const assembly = mixed(earlier, current, () => true);
    const open = readRoutes(readTemplate(assembly)).filter(({ authorizerId }) => authorizerId === undefined);
    expect(open.length).toBeGreaterThan(20);
    await during({ assembly, state: createState(), at: Date.now() }, async ({ baseUrl }) => {
      for (const { method, resource } of open) {
        const { status } = await fetch(baseUrl + resource, { method, redirect: 'manual' });
        expect(status !== 405 && status < 500, `${method} ${resource}: ${status}`).toBe(true);
      }
    });
  });

  it.each([
    ['this version', () => failedStarts({ code: current, variables: earlier })],
    ['the previous release', () => failedStarts({ code: earlier, variables: current })],
  ])('of %s start with the variables of the other, because Lambda changes code and variables separately', async (_, failed) => {
    expect(await failed()).toEqual([]);
  });
});
