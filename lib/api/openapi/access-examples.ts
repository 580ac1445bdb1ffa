import type * as v from 'valibot';
import { CreatedKey, KeyResource } from '../../keys/key.ts';
import { ProjectResource } from '../../projects/project.ts';
import { iso } from '../../schema.ts';
import type { OperationOf } from '../operations.ts';
import { EXAMPLE_IDS } from './example-ids.ts';

/** The request and response of one call. */
export interface Example {
  body?: unknown;
  /** The response with the usual status. By default, the example of its schema. */
  response?: unknown;
}

export const AT = Date.parse('2026-01-31T12:00:00.000Z');
/** So many seconds after `AT`. */
export const at = (seconds: number): string => iso(AT + seconds * 1000);

export const exampleList = (item: unknown) => ({ data: [item], next_cursor: null });

const key = {
  id: EXAMPLE_IDS.key,
  type: 'live',
  name: 'App',
  hint: 'h3Kd',
  status: 'active',
  cidrs: [],
  created_at: at(0),
  last_used_at: null,
  last_rejected: null,
  expires_at: null,
  revoked_at: null,
  replaces: null,
  replaced_by: null,
};
const createdKey = { ...key, key: 'svc_live_01Fkq2Xb9TzA…' };

const project = {
  id: 'prj_01KG9XVA7C9E1G3J5K7M9N1P3R',
  name: 'Acme',
  emails: ['ops@example.com', 'oncall@example.com', 'new@example.com'],
  undeliverable_emails: [{ email: 'oncall@example.com', reason: 'bounced', at: at(3600) }],
  unconfirmed_emails: [{ email: 'new@example.com', requested_at: at(0) }],
  source_addresses: ['192.0.2.1', '192.0.2.2'],
  created_at: at(0),
};

/** The examples of schemas that several operations have. */
export const accessSchemas: readonly (readonly [v.GenericSchema, unknown])[] = [
  [KeyResource, key],
  [CreatedKey, createdKey],
  [ProjectResource, project],
];

/** The examples of keys, tokens and the project. */
export const accessExamples: Readonly<Partial<Record<OperationOf<'keys' | 'tokens' | 'project'>, Example>>> = {
  createKey: { body: { type: 'live', name: 'App' } },
  changeKey: { body: { name: 'Web app' }, response: { ...key, name: 'Web app' } },
  getKeyUsage: { response: { id: key.id, days: [{ date: '2026-01-31', active_hours: 9 }] } },
  changeProject: { body: { emails: project.emails } },
  sendTestEmail: { response: { emails: ['ops@example.com'] } },
  confirmEmail: { body: { email: 'oncall@example.com' }, response: { ...project, undeliverable_emails: [] } },
  sendConfirmation: { body: { email: 'new@example.com' }, response: project },
  confirmAddress: {
    body: { token: 'prj_01KG9Y3E5F7H9J1K3M5N7P9Q1R.q83vEjRWeJCrze8SNFZ4kA…' },
    response: { email: 'new@example.com' },
  },
  listAudit: {
    response: exampleList({
      id: 'aud_01KG9Y3E5F7H9J1K3M5N7P9Q1R',
      at: at(60),
      actor: 'key_01Fkq1Wz8RyB',
      address: '203.0.113.7',
      link: { user: 'ann@example.com' },
      action: 'webhook.changed',
      target: EXAMPLE_IDS.webhook,
      detail: { environment: 'live', changed: ['status'], status: 'enabled' },
    }),
  },
  rotateKey: { body: { grace_seconds: 3600 }, response: { ...createdKey, id: 'key_01Fl0pQe4BvC', replaces: key.id } },
  revokeKey: { response: { ...key, status: 'revoked', revoked_at: at(60) } },
  setAllowlist: {
    body: { cidrs: ['203.0.113.0/24', '198.51.100.7'] },
    response: { id: key.id, cidrs: ['203.0.113.0/24', '198.51.100.7/32'] },
  },
  getAllowlist: { response: { id: key.id, cidrs: ['203.0.113.0/24'] } },
  createToken: {
    body: { documents: ['org:acme:*'], permissions: ['read'], ttl: 3600, user: 'user-7' },
    response: {
      token: 'eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1kb2Mrand0Ii…',
      token_id: EXAMPLE_IDS.token,
      documents: ['org:acme:*'],
      permissions: ['read'],
      user: 'user-7',
      expires_at: at(3600),
    },
  },
  createDashboardLink: {
    body: { role: 'viewer', expires_in: 900, user: 'ann@example.com' },
    response: {
      url: 'https://api.example.com/dashboard#session=eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1zZXNzaW9u…',
      expires_at: at(900),
    },
  },
  listTokenKeys: {
    response: {
      keys: [
        {
          kid: key.id,
          kty: 'OKP',
          crv: 'Ed25519',
          x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
          alg: 'EdDSA',
          use: 'sig',
          expires_at: null,
          cidrs: [],
          revoked_tokens: [EXAMPLE_IDS.token],
        },
      ],
      cache_seconds: 10,
    },
  },
  verifyToken: {
    body: {
      token: 'eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1kb2Mrand0Ii…',
      document_key: EXAMPLE_IDS.document,
      permission: 'read',
      address: '203.0.113.7',
    },
    response: {
      active: true,
      token_id: EXAMPLE_IDS.token,
      environment: 'live',
      documents: ['org:acme:*'],
      permissions: ['read'],
      user: 'user-7',
      allowed: true,
      expires_at: at(3600),
      cache_seconds: 60,
    },
  },
};
