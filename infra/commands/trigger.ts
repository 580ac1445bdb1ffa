import { sampleData } from '../../lib/events/data.ts';
import { EVENT_TYPES } from '../../lib/events/types.ts';
import { UserError } from '../user-error.ts';
import { command } from './command.ts';
import { request, requireEventType, TARGET_OPTIONS, targetOf } from './target.ts';

export const trigger = command(
  {
    command: 'trigger',
    positionals: 'TYPE',
    about: `Publishes an event with sample data to the subscribed webhooks, and prints its id.
The types are ${EVENT_TYPES.join(', ')}.`,
    options: TARGET_OPTIONS,
  },
  async ({ values, positionals: [text, ...more] }, { print, variables }) => {
    if (text === undefined || more.length > 0) throw new UserError(`Name one event type: ${EVENT_TYPES.join(', ')}.`);
    const type = requireEventType(text);
    const event = { type, data: sampleData(type, Date.now()) };
    const response = await request(targetOf(values, 'live', variables), 'POST', '/v1/events', event);
    print(`${((await response.json()) as { id: string }).id}\n`);
  },
);
