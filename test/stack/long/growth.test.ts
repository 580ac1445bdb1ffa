import { describe, expect, it } from 'vitest';
import { LocalIam } from '../../../infra/local/services/iam.ts';
import { LocalSes } from '../../../infra/local/services/ses.ts';
import type { LocalQueue } from '../../../infra/local/services/sqs.ts';
import { changed } from '../../support/changed.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publishAll } from '../../support/requests.ts';
import { eventually, useService } from '../../support/service.ts';
import { createFunction } from '../local/functions.ts';
import { readTemplate } from '../local/gateway.ts';

const CONCURRENCY = 3;

describe('the local stack, when its work is done', () => {
  const service = useService({ concurrency: CONCURRENCY, idleMs: 2000, visibilitySpeed: 2000 });

  it('keeps no message, group, schedule or execution environment', async () => {
    const { queues, scheduler, functions } = service.stack;
    const project = await service.project();
    const live = await project.client('live');
    const receivers = await Promise.all([startReceiver(), startReceiver()]);
    for (const { url } of receivers) await createWebhook(live, url);
    for (let batch = 0; batch < 3; batch++) {
      const events = Array.from({ length: 100 }, (_, i) => changed({ revision: batch * 100 + i + 1 }));
      await publishAll(live, events);
    }
    for (const receiver of receivers) await eventually(() => receiver.received.length >= 300, 90_000);
    const sizes = [...functions.values()].map(({ size }) => size);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(CONCURRENCY);

    // An invocation that timed out leaves messages, and another one then handles them.
    const isEmpty = (queue: LocalQueue) => {
      const { visible, inFlight, delayed } = queue.counts();
      return queue.groupCount + visible + inFlight + delayed === 0;
    };
    await eventually(
      () => [...functions.values()].every(({ size }) => size === 0) && [...queues.values()].every(isEmpty),
    );
    expect(scheduler.count()).toBe(0);
  });
});

describe('an execution environment', () => {
  it('has the memory of its function, with a small young generation', async () => {
    const source = `
      const { resourceLimits } = require('node:worker_threads');
      exports.handler = async () => resourceLimits;`;
    const fn = createFunction(source, { properties: { MemorySize: 256 } });
    expect(await fn.invoke({})).toMatchObject({ maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 12 });
  });
});

describe('the emails', () => {
  it('are limited to the newest 10,000', () => {
    const iam = new LocalIam(readTemplate());
    iam.isPermissive = true;
    const ses = new LocalSes(() => 0, iam, new Map());
    for (let i = 0; i < 10_010; i++) {
      const form = {
        Action: 'SendEmail',
        Source: 'us@example.com',
        ConfigurationSetName: 'set',
        'Destination.ToAddresses.member.1': 'a@example.com',
        'Message.Subject.Data': `${i}`,
      };
      const body = new URLSearchParams(form).toString();
      ses.service({ method: 'POST', path: '/', action: 'SendEmail', headers: {}, principal: 'role', body });
    }
    expect([ses.emails.length, ses.emails.at(0)?.subject, ses.emails.at(-1)?.subject]).toEqual([10_000, '10', '10009']);
  });
});
