import { EVENT_TYPES, type EventType } from '../../lib/events/types.ts';
import { UserError } from '../user-error.ts';
import { command } from './command.ts';
import { request, requireEventType, TARGET_OPTIONS, targetOf } from './target.ts';

const USAGE = {
  command: 'npm run dev -- trigger',
  positionals: 'TYPE',
  about: `Publishes an event with sample data to the subscribed webhooks, and prints its id. The types are
${EVENT_TYPES.join(', ')}.`,
  options: {
    ...TARGET_OPTIONS,
    data: { type: 'string', value: 'JSON', about: 'members that replace those of the sample data', default: '{}' },
  },
} as const;

export const trigger = command(USAGE, async ({ values, positionals: [type, ...more] }, shell) => {
  if (type === undefined || more.length > 0) throw new UserError(`Name one event type: ${EVENT_TYPES.join(', ')}.`);
  requireEventType(type);
  const target = targetOf(values, 'live', shell.variables);
  const { data: types } = (await (await request(target, 'GET', '/v1/event-types')).json()) as {
    data: { name: EventType; sample: { data: object } }[];
  };
  const sample = types.find(({ name }) => name === type)?.sample.data;
  const body = { type, data: { ...sample, ...readData(values.data) } };
  const { id } = (await (await request(target, 'POST', '/v1/events', body)).json()) as { id: string };
  shell.print(`${id}\n`);
});

function readData(text: string): object {
  try {
    const data = JSON.parse(text);
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
  } catch {}
  throw new UserError('--data must be a JSON object.');
}
