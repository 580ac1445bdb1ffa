import { describe, expect, it } from 'vitest';
import type { Call } from '../../functions/dashboard/app/api.ts';
import { type LogQuery, readLog } from '../../functions/dashboard/app/log.ts';

const everything: LogQuery = {
  status: undefined,
  type: undefined,
  since: undefined,
  documentKey: undefined,
  cursor: undefined,
};
const ofDocument = { ...everything, documentKey: 'org:acme:doc-1' };
const delivery = (event_id: string, status: string) => ({ event_id, status });

/** An API with three events of the document, one of which did not go to the webhook; it notes what it is asked. */
function api(read: (eventId: string) => object) {
  const asked: unknown[] = [];
  const call = async (route: string, options: { path?: { event_id?: string }; query?: object }) => {
    asked.push([route, options.path?.event_id ?? options.query]);
    if (route === 'GET /v1/events')
      return { value: { data: ['evt_3', 'evt_2', 'evt_1'].map((id) => ({ id })), next_cursor: 'older' } };
    return read(options.path?.event_id ?? '');
  };
  return { call: call as unknown as Call, asked };
}
const sent = (eventId: string): object =>
  eventId === 'evt_2'
    ? { problem: { code: 'not_found' } }
    : { value: delivery(eventId, eventId === 'evt_3' ? 'succeeded' : 'failed') };

describe('the log of a webhook', () => {
  it('is read as it is without a document', async () => {
    const page = { value: { data: [], next_cursor: null } };
    const { call, asked } = api(() => page);
    expect(await readLog(call, 'whk_1', { ...everything, status: 'failed' })).toEqual(page);
    expect(asked).toEqual([
      ['GET /v1/webhooks/{id}/deliveries', expect.objectContaining({ status: 'failed', limit: '25' })],
    ]);
  });

  it('of one document has what the webhook took of its events, and goes on where they do', async () => {
    const { call, asked } = api(sent);
    const { value } = await readLog(call, 'whk_1', { ...ofDocument, type: 'document.changed', cursor: 'here' });
    expect(value).toEqual({
      data: [delivery('evt_3', 'succeeded'), delivery('evt_1', 'failed')],
      next_cursor: 'older',
    });
    const query = { document_key: 'org:acme:doc-1', type: 'document.changed', cursor: 'here', limit: '25' };
    expect(asked[0]).toEqual(['GET /v1/events', query]);
  });

  it('of one document keeps to a status', async () => {
    const { value } = await readLog(api(sent).call, 'whk_1', { ...ofDocument, status: 'failed' });
    expect(value?.data).toEqual([delivery('evt_1', 'failed')]);
  });

  it('is no log at all if a part of it could not be read', async () => {
    const problem = { code: 'unavailable' };
    const { call } = api((id) => (id === 'evt_1' ? { problem } : sent(id)));
    expect(await readLog(call, 'whk_1', ofDocument)).toEqual({ problem });
  });
});
