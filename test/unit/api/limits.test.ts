import { expect, it } from 'vitest';
import { EXAMPLES } from '../../../lib/api/openapi/examples.ts';
import { type OperationId, operations } from '../../../lib/api/operations.ts';
import { sampleData } from '../../../lib/events/data.ts';
import type { Operation } from '../../../lib/http/operation.ts';
import { Problem, problemResult } from '../../../lib/http/problems.ts';
import { type BodyViolations, parseRequest } from '../../../lib/http/request.ts';
import { keyViolations } from '../../../lib/keys/handlers.ts';
import { webhookViolations } from '../../../lib/webhooks/handlers.ts';
import { costlyBodies } from '../../support/adversarial.ts';
import { useSteps } from '../../support/steps.ts';
import { posting, proxyEvent } from '../http/builders.ts';

/** Large enough that a check of every pair, or a violation of every item, exceeds both limits. */
const BODY_BYTES = 16 * 1024;
/** The maximum number of code blocks for the validation of a body, which allows few passes over its members. */
const maxSteps = (bytes: number): number => 1000 + bytes;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** The code that validates bodies. Excludes lib/json.ts, which reads every character once. */
const EXAMINERS = /\/lib\/(?!json\.ts)|\/valibot\//;

const stepsOf = useSteps(EXAMINERS);

const MORE: Partial<Record<string, BodyViolations>> = {
  ...keyViolations(() => 0),
  ...webhookViolations('public'),
};

/** Every operation with a body, with an example of each form of the body. */
const cases = (Object.entries(operations) as [OperationId, Operation][])
  .filter(([, { body }]) => body !== undefined)
  .map(([id, operation]) => {
    const samples = (['document.changed', 'sync.conflict'] as const).map((type) => ({
      type,
      data: sampleData(type, 0),
    }));
    const examples = id === 'publishEvent' ? samples : [EXAMPLES[id].body];
    return { id, operation, examples };
  });

function parsed(id: string, operation: Operation, body: string) {
  const { method, path } = operation;
  return parseRequest(proxyEvent({ ...posting(body), httpMethod: method, resource: path }), operation, MORE[id]);
}

it.each(cases)('a large body costs bounded work and has a short response, whatever is in it: $id', async ({
  id,
  operation,
  examples,
}) => {
  const excessive: string[] = [];
  const size = Math.min(BODY_BYTES, operation.maxBodyBytes);
  for (const example of examples)
    for (const [name, body] of costlyBodies(example, size)) {
      let response: ReturnType<typeof parsed> | undefined;
      const steps = await stepsOf(() => {
        response = parsed(id, operation, body);
      });
      const bytes = response instanceof Problem ? problemResult(response, 'request-1', '').body.length : 0;
      if (steps > maxSteps(size) || bytes > MAX_RESPONSE_BYTES)
        excessive.push(`${name}: ${steps} steps, ${bytes} bytes`);
    }
  expect(excessive).toEqual([]);
});
