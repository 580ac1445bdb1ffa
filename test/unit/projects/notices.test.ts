import { describe, expect, it } from 'vitest';
import { adminKeyCreated, adminKeyRotated, noticeEmail, projectChanged } from '../../../lib/projects/notices.ts';

const project = { id: 'prj_1', name: 'Acme <b>', emails: ['a@example.com', 'b@example.com'] };
const request = {
  caller: { projectId: 'prj_1', keyId: 'key_1', type: 'admin' },
  address: '192.0.2.1',
  baseUrl: 'https://api.example.com/v1-stage',
} as const;
const at = Date.UTC(2026, 0, 31, 12);

describe('the email about a security change', () => {
  it('goes to the addresses from before the change and names the key, address and time of the request', () => {
    const notice = projectChanged(project, { emails: ['c@example.com'] });
    if (!notice) throw new Error('No notice');
    const { to, subject, text, html } = noticeEmail(project, notice, request, at);
    expect(to).toEqual(project.emails);
    expect(subject).toBe('Notification addresses changed (prj_1)');
    expect(text).toBe(
      `A request changed the notification addresses from a@example[.]com, b@example[.]com to c@example[.]com. It used the key key_1 and came from the IP address 192.0.2.1 on 31 Jan 2026, 12:00 UTC.

If you expected this, no action is needed. Otherwise, revoke key_1, and review its changes in the audit log.

Open key_1 in the dashboard:
https://api.example.com/v1-stage/dashboard#/live/keys/key_1

--
Document Sync Service at api.example.com sends this email because this is a notification address of the project "Acme <b>".
Change the addresses:
https://api.example.com/v1-stage/dashboard#/live/settings`,
    );
    expect(html).not.toContain('<b>');
  });

  it('has no links if the request has no valid host', () => {
    const { text } = noticeEmail(
      project,
      adminKeyCreated({ id: 'key_2', name: null }),
      { ...request, baseUrl: '' },
      at,
    );
    expect(text).not.toContain('http');
    expect(text).toContain('Document Sync Service sends this email because');
  });

  it.each([
    [adminKeyCreated({ id: 'key_2', name: 'CI' }), 'A request created the admin key "CI" (key_2).'],
    [adminKeyCreated({ id: 'key_2', name: null }), 'A request created the admin key key_2.'],
    [
      adminKeyRotated({ id: 'key_2', name: 'CI' }, { id: 'key_3' }),
      'A request replaced the admin key "CI" (key_2) with key_3.',
    ],
  ])('names the admin key: %j', ({ change }, sentence) => {
    expect(change).toBe(sentence);
  });
});
