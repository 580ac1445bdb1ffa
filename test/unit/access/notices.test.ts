import { describe, expect, it } from 'vitest';
import { adminKeyCreated, adminKeyRotated, noticeEmail, projectChanged } from '../../../lib/projects/notices.ts';

const project = { id: 'prj_1', name: 'Acme <b>', emails: ['a@example.com', 'b@example.com'] };
const source = { keyId: 'key_1', address: '192.0.2.1', at: Date.UTC(2026, 0, 31, 12) };

describe('the email about a security change', () => {
  it('goes to the addresses from before the change and names the key, address and time of the request', () => {
    const notice = projectChanged(project, { emails: ['c@example.com'] });
    if (!notice) throw new Error('No notice');
    const { to, subject, text, html } = noticeEmail(project, notice, source);
    expect(to).toEqual(project.emails);
    expect(subject).toBe('Notification addresses changed (prj_1)');
    expect(
      text,
    ).toBe(`A request changed the notification addresses from a@example[.]com, b@example[.]com to c@example[.]com.

Project: "Acme <b>"
Key of the request: key_1
IP address: 192.0.2.1
Time: 2026-01-31T12:00:00.000Z

If you expected this, no action is needed. Otherwise, revoke the key of the request and review the audit log (GET /v1/audit).`);
    expect(html).not.toContain('<b>');
  });

  it('is not sent when only the name changes', () => {
    expect(projectChanged(project, { name: 'New' })).toBe(null);
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
