import { describe, expect, it } from 'vitest';
import {
  createPageBudget,
  type DocumentList,
  type FoundDocument,
  MAX_PAGE_BYTES,
  type Step,
  walkDocuments,
} from '../../../lib/documents/pages.ts';

const space = { projectId: 'prj_1', environment: 'live' } as const;
const ranges = [{ first: 'a', last: 'z' }];
type Read = Awaited<ReturnType<DocumentList['list']>>;

const document = (documentKey: string): FoundDocument => ({
  documentKey,
  deleted: false,
  read: () => {
    throw new Error('Nobody reads it');
  },
});
const read = (keys: string, next?: string, isCut = false): Read => ({
  found: [...keys].map(document),
  next,
  isCut,
});

/** Walks the results of the queries in order, and handles each document according to `steps`. */
async function walk(answers: readonly Read[], steps: Record<string, Step> = {}, after?: string) {
  const asked: [limit: number, after: string | undefined][] = [];
  const taken: string[] = [];
  const list: DocumentList['list'] = async (_space, _ranges, limit, position) => {
    const answer = answers[asked.length];
    asked.push([limit, position]);
    if (!answer) throw new Error('One query too many');
    return answer;
  };
  const next = await walkDocuments(list, { space, ranges, limit: 3, after }, ({ documentKey }) => {
    const step = steps[documentKey] ?? 'more';
    if (step !== 'no room') taken.push(documentKey);
    return step;
  });
  return { next, taken: taken.join(''), asked };
}

describe('a walk over documents', () => {
  it('ends with the last document', async () => {
    expect(await walk([read('ab')])).toEqual({ next: undefined, taken: 'ab', asked: [[3, undefined]] });
  });

  it('starts at the given key, and continues with larger queries after the last one', async () => {
    const { asked, taken } = await walk([read('bc', 'c'), read('', 'f'), read('g')], {}, 'a');
    expect(taken).toBe('bcg');
    expect(asked).toEqual([
      [3, 'a'],
      [1000, 'c'],
      [1000, 'f'],
    ]);
  });

  it('continues after the last returned document', async () => {
    expect(await walk([read('abc', 'd')], { b: 'full' })).toMatchObject({ next: 'b', taken: 'ab' });
  });

  it('continues after the query if the page ended with its last document', async () => {
    expect(await walk([read('abc', 'd')], { c: 'full' })).toMatchObject({ next: 'd', taken: 'abc' });
    expect(await walk([read('abc')], { c: 'full' })).toMatchObject({ next: undefined, taken: 'abc' });
  });

  it('continues before the first document that did not fit', async () => {
    expect(await walk([read('abc', 'd')], { c: 'no room' })).toMatchObject({ next: 'b', taken: 'ab' });
    expect(await walk([read('bc', 'd')], { b: 'no room' }, 'a')).toMatchObject({ next: 'a', taken: '' });
  });

  it('ends after nine truncated queries, and continues through any number of ranges', async () => {
    const cut = Array.from({ length: 20 }, (_, i) => read('', `k${i}`, true));
    expect(await walk(cut)).toMatchObject({ next: 'k8', asked: { length: 9 } });
    const whole = Array.from({ length: 20 }, (_, i) => read('', i < 19 ? `k${i}` : undefined));
    expect(await walk(whole)).toMatchObject({ next: undefined, asked: { length: 20 } });
  });
});

describe('the budget of a page', () => {
  it('counts the bytes of JSON inside JSON', () => {
    const budget = createPageBudget();
    expect(budget.bytes()).toBe(0);
    expect(budget.takes({ a: 'é"' })).toBe(true);
    expect(budget.bytes()).toBe(Buffer.byteLength(JSON.stringify('{"a":"é\\""}')));
  });

  it('accepts an exact fit, and always the first document', () => {
    const size = Buffer.byteLength(JSON.stringify(JSON.stringify('xxxx')));
    const exact = createPageBudget(2 * size);
    expect([exact.takes('xxxx'), exact.takes('xxxxx'), exact.takes('xxxx'), exact.takes('')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(exact.bytes()).toBe(2 * size);
    expect(createPageBudget(1).takes('more than that')).toBe(true);
  });

  it('is below the response limit of a function', () => {
    expect(MAX_PAGE_BYTES).toBe(5_242_880);
    const budget = createPageBudget();
    expect(budget.takes('x'.repeat(MAX_PAGE_BYTES - 100))).toBe(true);
    expect(budget.takes('x'.repeat(200))).toBe(false);
  });
});
