import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keptResources } from './kept-resources.ts';
import { everyOption, synth } from './synth.ts';

const KEPT = 'test/infra/kept-resources.json';

const REPLACED = `An upgrade replaces or removes every resource that differs from ${KEPT}. A replaced table, queue, bucket, key or
schedule group is empty. A replaced API, stage or domain has another address. Callers get errors until a replaced usage plan key
works. A schedule cannot send its message after its role is gone. CloudFormation cannot create an API key or a queue's event source again while the old one exists. Restore the
 logical id (pinLogicalId) and the property. Change ${KEPT} only to add a resource.`;

/** The shares differ only in their number, so the file contains the first and the last one. */
const isListed = (id: string): boolean => !/^Share(Key|Member)\d\d$/.test(id) || /(00|31)$/.test(id);

describe('an upgrade', () => {
  it('keeps every resource with data, a position or an address', () => {
    const expected = JSON.parse(readFileSync(KEPT, 'utf8'));
    const kept = Object.entries(keptResources(synth(everyOption).toJSON().Resources)).filter(([id]) => isListed(id));
    expect(Object.fromEntries(kept), REPLACED).toEqual(expected);
  });
});
