import { describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../../lib/api/openapi/examples.ts';
import { apiOperations, type OperationId, operations } from '../../../lib/api/operations.ts';
import type { Operation } from '../../../lib/http/operation.ts';
import { createWebhook } from '../../support/requests.ts';
import { FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);
/** The addresses of the examples. */
const ADDRESSES = [EXAMPLES.confirmEmail, EXAMPLES.sendConfirmation].map(
  ({ body }) => (body as { email: string }).email,
);

const cases = (Object.entries(operations) as [OperationId, Operation][]).filter(
  ([, operation]) => apiOperations.includes(operation) && operation.callers !== 'anyone',
);

describe('the gateway', () => {
  it.each(cases)('passes %s to its function with a credential, and rejects it without one', async (id, operation) => {
    const { method, path, parameters, body } = operation;
    const { admin } = await service.project('Test', ADDRESSES);
    const { id: webhookId } = await createWebhook(admin, 'https://example.com/');
    const isOfWebhook = path.startsWith('/v1/webhooks/{id}');
    const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
      isOfWebhook && name === 'id' ? webhookId : (parameters[name]?.example ?? ''),
    );
    const call = body ? { body: EXAMPLES[id].body } : {};
    const { status, body: problem } = await admin(method, filled, call);
    const codes = ['not_found', 'conflict', 'document_not_allowed', 'too_many_requests'];
    expect(status < 300 || codes.includes(problem.code), `${method} ${filled}: ${status} ${problem?.code}`).toBe(true);
    expect((await service.as(null)(method, filled, call)).status).toBe(401);
  });
});

it('the gateway passes the token of a link to its function without a credential', async () => {
  const body = EXAMPLES.confirmAddress.body as object;
  for (const client of [service.as(null), service.as('nonsense')])
    expect((await client('POST', '/v1/email-confirmations', { body })).body.code).toBe('not_found');
  expect((await service.as(null)('GET', '/v1/email-confirmations')).status).toBe(401); // opening an address changes nothing
});

it('repeats a failed message as the template states, because only delays are shorter here', () => {
  const { queues, template } = service.stack;
  for (const { id, properties } of template.ofType('AWS::SQS::Queue')) {
    const { visibilitySpeed, visibilityTimeoutSeconds, deadLetters } = queues.get(id)?.settings ?? {};
    expect([visibilitySpeed, visibilityTimeoutSeconds]).toEqual([1, properties.VisibilityTimeout]);
    const { queue, ...redrive } = deadLetters ?? {};
    const expected = queue && { ...redrive, deadLetterTargetArn: queue().settings.arn };
    expect(expected).toEqual(properties.RedrivePolicy);
  }
});
