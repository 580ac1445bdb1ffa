import { EXAMPLE_EVENTS } from '../../../../lib/api/openapi/examples.ts';
import { jsonSchemaOf } from '../../../../lib/api/openapi/schemas.ts';
import { EVENT_DATA } from '../../../../lib/events/data.ts';
import { EVENT_MEANINGS, EVENT_TYPES } from '../../../../lib/events/types.ts';
import { anchorOf, code, inline } from './html.ts';
import { membersOf } from './members.ts';

/** Lists every event type with its meaning, its data and a delivered event. */
export const eventCatalogue = (): string =>
  EVENT_TYPES.map((type) => {
    const anchor = anchorOf(type);
    return `<section>
<h2 id="${anchor}"><a href="#${anchor}"><code>${type}</code></a></h2>
<p>${inline(EVENT_MEANINGS[type])}</p>
${membersOf(jsonSchemaOf(EVENT_DATA[type]))}
${code(JSON.stringify(EXAMPLE_EVENTS[type], null, 2), 'json')}
</section>`;
  }).join('\n');
