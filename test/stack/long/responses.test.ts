import { describe, expect, it } from 'vitest';
import { put, sync } from '../../support/documents.ts';
import { useService } from '../../support/service.ts';

const service = useService();
const number = (i: number) => String(i).padStart(6, '0');

describe('a page', () => {
  it.each([
    ['text in other scripts', '漢'.repeat(43_000)],
    ['quotes', '"'.repeat(64_000)],
  ])('stays below the response limit of a function: %s', async (_, value) => {
    const client = await (await service.project()).client('live');
    const keys = Array.from({ length: 51 }, (_, i) => `big:${number(i)}`);
    for (const key of keys) expect((await put(client, key, { text: value })).status).toBe(201);
    const listed: string[] = [];
    for (let cursor = ''; ; ) {
      const { status, text, body } = await client('GET', `/v1/documents?limit=100${cursor}`);
      expect(status, text.slice(0, 200)).toBe(200);
      listed.push(...body.data.map(({ document_key }: { document_key: string }) => document_key));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(listed).toEqual(keys);
    const pulled: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const answer = await sync(client, { limit: 100, ...(cursor && { cursor }) });
      expect(answer.status, answer.text.slice(0, 200)).toBe(200);
      pulled.push(...answer.body.changes.map(({ document_key }: { document_key: string }) => document_key));
      if (!answer.body.has_more) break;
      cursor = answer.body.cursor;
    }
    expect(pulled).toEqual(keys);
  });
});

describe('a write', () => {
  it('stays below the response limit with conflicts in many large documents', async () => {
    const client = await (await service.project()).client('live');
    const keys = Array.from({ length: 25 }, (_, i) => `wide:${number(i)}`);
    for (const key of keys) await put(client, key, { text: '"'.repeat(60_000) });
    const push = keys.map((document_key) => ({
      op: 'put',
      document_key,
      base_revision: 0,
      fields: { text: '"'.repeat(15_000) },
      on_conflict: 'reject',
    }));
    const answer = await sync(client, { push });
    expect(answer.status, answer.text.slice(0, 200)).toBe(200);
    const codes = answer.body.results.map(({ code }: { code: string }) => code);
    expect(codes).toHaveLength(25);
    expect(codes[0]).toBe('conflict');
    expect(codes.at(-1)).toBe('payload_too_large');
  });
});
