import { useState } from 'preact/hooks';
import { MAX_PER_SECOND } from '../../../../lib/deliveries/rate-limit.ts';
import { EVENT_MEANINGS, EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import { Choices, Input, TextArea } from '../components/field.tsx';
import type { Form } from '../state/hooks.ts';
import { linesOf, problemIn } from './webhook-text.ts';

export interface Values {
  url: string;
  events: EventType[];
  description: string;
  /** One pattern per line. */
  documents: string;
  /** One header per line. */
  headers: string;
  /** Attempts per second, or empty. */
  max_per_second: string;
}

interface FieldsProps {
  of: Pick<Form<Values>, 'value' | 'field'>;
  /** The headers before the edit. */
  saved?: string;
}

/** The fields of a new and of an edited webhook. */
export function WebhookFields({ of: { value, field }, saved }: FieldsProps) {
  const [isUsed] = useState(value.documents !== '' || value.headers !== '' || value.max_per_second !== '');
  return (
    <>
      <Input
        label="Endpoint URL"
        hint="An https URL on your server that receives the events."
        type="url"
        placeholder="https://example.com/webhooks"
        {...field('url')}
      />
      <Choices
        legend="Events"
        all="All events"
        options={EVENT_TYPES.map((type) => [type, <code>{type}</code>, EVENT_MEANINGS[type]] as const)}
        {...field('events')}
      />
      <Input label="Description" hint="Optional. What this webhook is for." {...field('description')} />
      <details open={isUsed}>
        <summary>Documents, headers and rate limit</summary>
        <TextArea
          label="Documents"
          hint={
            <>
              Optional. Only events of documents that match one of these patterns, one per line, such as{' '}
              <code>org:acme:*</code>.
            </>
          }
          entries={linesOf(value.documents)}
          {...field('documents')}
        />
        <TextArea
          label="Custom headers"
          hint="Optional. Sent with every request, one per line, as in “X-Tenant: acme”. Values are hidden once they are saved."
          error={problemIn(value.headers, saved)}
          {...field('headers')}
        />
        <Input
          label="Requests per second"
          hint={`Optional. At most this many requests per second to your endpoint, from 1 to ${MAX_PER_SECOND}. Further deliveries wait.`}
          {...field('max_per_second')}
        />
      </details>
    </>
  );
}
