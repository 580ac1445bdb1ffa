import { beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../../lib/api/operation.ts';
import { type OperationId, operations } from '../../../lib/api/operations.ts';
import { EXAMPLES } from '../../../lib/openapi/examples.ts';
import { CHARACTERS, costlyBodies, LONE_SURROGATES, PROTOTYPE_NAMES } from '../../support/adversarial.ts';
import { changed } from '../../support/changed.ts';
import { createWebhook } from '../../support/requests.ts';
import { type Client, useService } from '../../support/service.ts';

const service = useService();
let admin: Client;
beforeAll(async () => {
  ({ admin } = await service.project());
});

const MIB = 1024 * 1024;
const MAX_RESPONSE_BYTES = 64 * 1024;
const REPEATED = 'an object with one name many times';

describe('a body of 1 MiB', () => {
  const withBody = (Object.entries(operations) as [OperationId, Operation][]).filter(
    ([, { body, callers }]) => body !== undefined && callers !== 'anyone',
  );

  it.each(withBody)('is rejected with a short response for any content: %s', async (id, {
    method,
    path,
    parameters,
  }) => {
    const webhook = await createWebhook(admin, 'https://example.com/');
    const given = path.replace(/\{(\w+)\}/g, (_, name) =>
      path.startsWith('/v1/webhooks') ? webhook.id : (parameters[name]?.example ?? ''),
    );
    for (const [name, body] of costlyBodies(EXAMPLES[id].body, MIB)) {
      if (name.split('.').length > 2) continue; // deeper places have a test without a server
      const { status, text } = await admin(method, given, { body });
      const isAccepted = status < 300 && name.startsWith(REPEATED); // the last member with a name counts
      expect(
        [isAccepted || (status >= 400 && status < 500), text.length < MAX_RESPONSE_BYTES],
        `${name}: ${status}`,
      ).toEqual([true, true]);
    }
  });
});

describe('a text', () => {
  it.each(['document_key', 'origin'])('is rejected with a lone surrogate as the %s of an event', async (member) => {
    for (const text of LONE_SURROGATES) {
      const event = { type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'n', [member]: text } };
      const { status, body } = await admin('POST', '/v1/events', { body: event });
      expect([status, body.errors]).toEqual([
        400,
        [{ field: `data.${member}`, detail: 'must not contain lone surrogates' }],
      ]);
    }
  });

  it('is stored unchanged in an event with any characters', async () => {
    const named = Object.fromEntries(
      [...PROTOTYPE_NAMES, ...CHARACTERS, ...LONE_SURROGATES].map((name) => [name, name]),
    );
    const data = { ...changed().data, document_key: CHARACTERS.join(''), named };
    const { status, body } = await admin('POST', '/v1/events', { body: { type: 'document.changed', data } });
    expect(status).toBe(202);
    const read = (await admin('GET', `/v1/events/${body.id}`)).body;
    expect(Object.entries(read.data.named)).toEqual(Object.entries(named));
    expect(read.data.document_key).toBe(data.document_key);
  });
});
