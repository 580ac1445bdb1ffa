import { beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../../lib/api/operation.ts';
import { type OperationId, operations } from '../../../lib/api/operations.ts';
import { EXAMPLES } from '../../../lib/openapi/examples.ts';
import { costlyBodies } from '../../support/adversarial.ts';
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
      if (name.split('.').length > 2) continue; // a test without a server covers deeper places
      const { status, text } = await admin(method, given, { body });
      const isAccepted = status < 300 && name.startsWith(REPEATED); // the last member with a name wins
      expect(
        [isAccepted || (status >= 400 && status < 500), text.length < MAX_RESPONSE_BYTES],
        `${name}: ${status}`,
      ).toEqual([true, true]);
    }
  });
});
