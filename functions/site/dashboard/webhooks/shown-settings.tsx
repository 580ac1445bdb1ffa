import { Facts, Panel } from '../components/basics.tsx';
import type { Webhook } from '../state/api.ts';
import { headerText } from './webhook-text.ts';

/** What a user who cannot change a webhook sees in place of its form. */
export const ShownSettings = ({ of: { url, events, description, documents, headers } }: { of: Webhook }) => (
  <Panel title="Endpoint and events">
    <Facts>
      {[
        ['Endpoint URL', url],
        ['Events', <Tags key="events" of={events} />],
        ['Description', description ?? 'None'],
        ['Documents', documents.length > 0 ? <Tags key="documents" of={documents} /> : 'All'],
        ['Custom headers', headerText(headers) || 'None'],
      ]}
    </Facts>
  </Panel>
);

const Tags = ({ of: texts }: { of: readonly string[] }) => (
  <ul class="tags">
    {texts.map((text) => (
      <li key={text}>
        <code>{text}</code>
      </li>
    ))}
  </ul>
);
