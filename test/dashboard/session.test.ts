import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { linkedKey } from '../../functions/dashboard/app/session.ts';
import { newApiKey } from '../../lib/access/api-key.ts';

const [admin, live] = (['admin', 'live'] as const).map((type) => newApiKey(type, 0, randomBytes).key) as [
  string,
  string,
];

describe('a link that signs in', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]'])('does so on this machine: %s', (hostname) => {
    expect(linkedKey({ hash: `#key=${admin}`, hostname })).toBe(admin);
  });

  it.each([
    ['of a deployed dashboard', `#key=${admin}`, 'api.example.com'],
    ['of a host that only begins so', `#key=${admin}`, '127.0.0.1.example.com'],
    ['with a key that is no admin key', `#key=${live}`, '127.0.0.1'],
    ['with half a key', `#key=${admin.slice(0, -1)}`, '127.0.0.1'],
    ['with something after the key', `#key=${admin}&a=b`, '127.0.0.1'],
    ['to a place', '#/live/keys', '127.0.0.1'],
  ])('is none %s', (_name, hash, hostname) => {
    expect(linkedKey({ hash, hostname })).toBeNull();
  });
});
