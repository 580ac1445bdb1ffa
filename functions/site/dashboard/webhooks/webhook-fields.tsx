import { useState } from 'preact/hooks';
import { MAX_PER_SECOND } from '../../../../lib/deliveries/rate-limit.ts';
import { EVENT_MEANINGS, EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import { Choices, Input, TextArea } from '../components/field.tsx';
import { violationIn, violationOf } from '../components/violations.ts';
import type { Problem } from '../state/api.ts';
import { hiddenIn } from './webhook-text.ts';

export interface Values {
  url: string;
  events: EventType[];
  description: string;
  /** One pattern per line. */
  documents: string;
  /** One header per line. */
  headers: string;
  /** Attempts per second, or empty. */
  limit: string;
}

interface FieldsProps {
  values: Values;
  onChange: (values: Values) => void;
  problem: Problem | undefined;
  /** The headers before the edit. */
  saved?: string;
}

/** The fields of a new and of an edited webhook. */
export function WebhookFields({ values, onChange, problem, saved = '' }: FieldsProps) {
  const [isUsed] = useState(values.documents !== '' || values.headers !== '' || values.limit !== '');
  return (
    <>
      <Input
        label="Endpoint URL"
        hint="An https URL on your server that receives the events."
        type="url"
        value={values.url}
        placeholder="https://example.com/webhooks"
        onInput={(url) => onChange({ ...values, url })}
        error={violationOf(problem, 'url')}
      />
      <Choices
        legend="Events"
        all="All events"
        type="checkbox"
        options={EVENT_TYPES.map((type) => [type, <code>{type}</code>, EVENT_MEANINGS[type]] as const)}
        chosen={values.events}
        onChange={(events) => onChange({ ...values, events })}
        error={violationOf(problem, 'events')}
      />
      <Input
        label="Description"
        hint="Optional. What this webhook is for."
        value={values.description}
        onInput={(description) => onChange({ ...values, description })}
        error={violationOf(problem, 'description')}
      />
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
          value={values.documents}
          onInput={(documents) => onChange({ ...values, documents })}
          error={violationIn(problem, 'documents')}
        />
        <TextArea
          label="Custom headers"
          hint="Optional. Sent with every request, one per line, as in “X-Tenant: acme”. Values are hidden once they are saved."
          value={values.headers}
          onInput={(headers) => onChange({ ...values, headers })}
          error={violationIn(problem, 'headers') ?? hiddenIn(values.headers, saved)}
        />
        <Input
          label="Requests per second"
          hint={`Optional. At most this many requests per second to your endpoint, from 1 to ${MAX_PER_SECOND}. Further deliveries wait.`}
          value={values.limit}
          onInput={(limit) => onChange({ ...values, limit })}
          error={violationOf(problem, 'max_per_second')}
        />
      </details>
    </>
  );
}
