import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceCall } from '../../../infra/local/services/endpoints.ts';
import { useService } from '../../support/service.ts';
import { createScenario, IS_THOROUGH, KINDS, OPTIONS, type Run, type Scenario } from './harness.ts';

const service = useService(OPTIONS);
let scenario: Scenario;
let clean: Run;

beforeAll(async () => {
  scenario = await createScenario(service);
  clean = await scenario();
});

describe('without a fault', () => {
  it('calls every service, and makes each attempt once', () => {
    const actions = new Set(clean.calls.map(({ service, action }) => `${service} ${action}`));
    expect([...actions].sort()).toEqual([
      'dynamodb BatchGetItem',
      'dynamodb GetItem',
      'dynamodb PutItem',
      'dynamodb Query',
      'dynamodb TransactWriteItems',
      'dynamodb UpdateItem',
      'scheduler POST schedules',
      'ses SendEmail',
      'sqs SendMessageBatch',
    ]);
    expect(clean.messages).toBe(7); // 2 first messages and 5 retries
  });
});

describe.each(KINDS)('a call that is %s', (kind) => {
  it('loses no data, for any call', async () => {
    for (const [at, { principal, action }] of clean.calls.entries()) {
      // Tests the first call of each function and action, because later calls run the same code, which the simulation covers in
      // every state. Throttles each action once, because the SDK waits a second between tries.
      const isSame = (call: ServiceCall) =>
        call.action === action && (kind === 'throttled' || call.principal === principal);
      if (clean.calls.findIndex(isSame) !== at) continue;
      if (!IS_THOROUGH && KINDS[at % KINDS.length] !== kind) continue;
      await scenario({ at, kind }).catch((error: Error) => {
        throw new Error(`call ${at} (${action}) ${kind}: ${error.message}`, { cause: error });
      });
    }
  });
});

describe('a duplicate message', () => {
  it('is processed once, for the first messages and a retry', async () => {
    const all = Array.from({ length: clean.messages }, (_, at) => at);
    const last = clean.messages - 1;
    for (const at of IS_THOROUGH ? all : [0, 1, last]) await scenario({ at, kind: 'duplicate' });
  });
});
