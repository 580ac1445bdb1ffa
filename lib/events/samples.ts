import { iso } from '../schema.ts';
import type { EventData } from './data.ts';
import type { EventType } from './types.ts';

/** A plausible event of a type, for `POST /v1/webhooks/{id}/test`. */
export function sampleData(type: EventType, at: number): EventData {
  const document_key = 'org:acme:doc-1';
  const origin = 'sample-node';
  const seconds = (n: number) => iso(at - n * 1000);
  const samples: { [Type in EventType]: EventData<Type> } = {
    'document.created': { document_key, revision: 1, fields: { title: 'Draft' }, origin },
    'document.changed': {
      document_key,
      changes: [{ field: 'title', old_value: 'Draft', new_value: 'Final', origin }],
      revision: 2,
    },
    'document.deleted': { document_key, revision: 3, origin },
    'sync.conflict': {
      document_key,
      revision: 2,
      base_revision: 1,
      sync_id: null,
      resolution: 'last_write_wins',
      conflicts: [
        {
          field: 'title',
          winner: { value: 'Final', origin, revision: 2 },
          loser: { value: 'Draft', origin: 'other-node', revision: 1 },
        },
      ],
    },
    'sync.completed': {
      sync_id: 'syn_sample',
      node_id: origin,
      pattern: 'org:acme:*',
      pushed: 1,
      pulled: 2,
      conflicts: 0,
      started_at: seconds(1),
      completed_at: seconds(0),
    },
    'connection.lost': {
      connection_id: 'con_sample',
      node_id: origin,
      document_key,
      user: 'user-7',
      connected_at: seconds(120),
      last_seen_at: seconds(60),
      lost_at: seconds(0),
    },
  };
  return samples[type];
}
