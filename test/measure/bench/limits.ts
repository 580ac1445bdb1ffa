import { EXAMPLES } from '../../../lib/http/openapi/examples.ts';
import type { Operation } from '../../../lib/http/operation.ts';
import { type OperationId, operations } from '../../../lib/http/operations.ts';
import { costlyBodies } from '../../support/adversarial.ts';
import { createProject } from './project.ts';
import { startBench } from './stack.ts';

const MIB = 1024 * 1024;

/**
 * Measures the CPU time of the most expensive invalid body of each operation: costly JSON in every place of its example, with the
 * maximum size of the operation and with 1 MiB. `worst` includes the client, the gateway, the authorizer and the database client.
 * `of_the_function` leaves out the cost of the same body when the function refuses its content type.
 */
export async function measureLimits(assembly: string) {
  const { stack, stop } = await startBench(assembly);
  const { adminKey, post } = await createProject(stack);
  const { id: webhookId = '' } = await post('/v1/webhooks', {
    url: 'http://127.0.0.1:9/',
    events: ['document.changed'],
  });
  const headers = { Authorization: `Bearer ${adminKey}` };
  const rows: Record<string, object> = {};
  for (const [id, { body, callers, method, path, parameters, maxBodyBytes }] of all) {
    if (body === undefined || callers === 'anyone') continue;
    const given = path.replace(/\{(\w+)\}/g, (_, name) =>
      path.startsWith('/v1/webhooks') ? webhookId : (parameters[name]?.example ?? ''),
    );
    const cost = async (text: string, type = 'application/json') => {
      const before = process.cpuUsage();
      const response = await fetch(stack.baseUrl + given, {
        method,
        headers: { ...headers, 'Content-Type': type },
        body: text,
      });
      await response.text();
      const { user, system } = process.cpuUsage(before);
      return { ms: (user + system) / 1000, status: response.status };
    };
    const leastOf = async (text: string, type?: string) => {
      const costs = [await cost(text, type), await cost(text, type), await cost(text, type)];
      return costs.reduce((least, each) => (each.ms < least.ms ? each : least));
    };
    const example = await leastOf(JSON.stringify(EXAMPLES[id].body));
    let worst = { ms: 0, status: 0, name: '', text: '' };
    for (const bytes of new Set([maxBodyBytes, MIB]))
      for (const [name, text] of costlyBodies(EXAMPLES[id].body, bytes)) {
        const found = await leastOf(text);
        if (found.ms > worst.ms) worst = { ...found, name, text };
      }
    // The function refuses this content type before it parses the body.
    const unparsed = await leastOf(worst.text, 'text/plain');
    rows[id] = {
      the_example: Math.round(example.ms),
      worst: Math.round(worst.ms),
      of_the_function: Math.round(worst.ms - unparsed.ms),
      status: worst.status,
      body: worst.name,
    };
  }
  await stop();
  return rows;
}

const all = Object.entries(operations) as [OperationId, Operation][];
