import { describe, expect, it } from 'vitest';
import { isSignedBy, LeakReport, leakEmail, placesOf } from '../../../lib/access/leak-reports.ts';
import { newKey, newProject } from '../../memory/contracts/builders.ts';
import { violationsOf } from '../../support/violations.ts';

// The sample request and its published key from GitHub Docs, "Secret scanning partner program".
const KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYAGMWO8XgCamYKMJS6jc/qgvSlAd
AjPuDPRcXU22YxgBrz+zoN19MzuRyW87qEt9/AmtoNP5GrobzUvQSyJFVw==
-----END PUBLIC KEY-----
`;
const OTHER_KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9MJJHnMfn2+H4xL4YaPDA4RpJqUq
kCmRCBnYERxZanmcpzQSXs1X/AljlKkbJ8qpVIW4clayyef9gWhFbNHWAA==
-----END PUBLIC KEY-----
`;
const BODY = '[{"source":"commit","token":"some_token","type":"some_type","url":"https://example.com/base-repo-url/"}]';
const SIGNATURE = 'MEQCIQDaMKqrGnE27S0kgMrEK0eYBmyG0LeZismAEz/BgZyt7AIfXt9fErtRS4XaeSt/AO1RtBY66YcAdjxji410VQV4xg==';

describe('the signature of a report', () => {
  it('matches the published sample', () => {
    expect(isSignedBy(KEY, Buffer.from(BODY), SIGNATURE)).toBe(true);
  });

  it.each([
    ['another body', KEY, `${BODY} `, SIGNATURE],
    ['another key', OTHER_KEY, BODY, SIGNATURE],
    ['another signature', KEY, BODY, SIGNATURE.replace('MEQC', 'MEUC')],
    ['no signature', KEY, BODY, ''],
    ['no base64', KEY, BODY, '%%%'],
    ['no key', 'nothing', BODY, SIGNATURE],
  ])('does not match %s', (_, key, body, signature) => {
    expect(isSignedBy(key, Buffer.from(body), signature)).toBe(false);
  });
});

describe('a report', () => {
  const match = { token: 'svc_live_1', type: 'service_api_key', url: 'https://example.com/', source: 'commit' };

  it.each([
    ['one match, with more members', [{ ...match, more: 1 }]],
    ['no place', [{ ...match, url: null, source: undefined }]],
    ['nothing', []],
    ['1,000 matches', Array(1000).fill(match)],
  ])('may have %s', (_, report) => {
    expect(violationsOf(LeakReport, report)).toEqual([]);
  });

  it.each([
    ['no list', match, 'body must be an array'],
    ['no token', [{ ...match, token: undefined }], '[0].token is required'],
    ['a token that is no text', [{ ...match, token: 1 }], '[0].token must be a string'],
    ['no type', [match, { ...match, type: null }], '[1].type must be a string'],
    ['a place that is no text', [{ ...match, url: 1 }], '[0].url must be a string'],
    ['a source that is no text', [{ ...match, source: null }], '[0].source must be a string'],
    ['1,001 matches', Array(1001).fill(match), 'body must have at most 1000 entries'],
  ])('is rejected with %s', (_, report, violation) => {
    expect(violationsOf(LeakReport, report)).toEqual([violation]);
  });
});

describe('the places of a report', () => {
  it('are listed once, each on one printable line', () => {
    const matches = ['https://a.example', null, '', 'https://a.example', 'x\r\n\n\u001b[2JYou need\u202e not'];
    expect(placesOf(matches.map((url) => ({ token: 't', type: 'key', url })))).toEqual([
      'https://a.example',
      'x [2JYou need not',
    ]);
  });

  it('are well-formed after truncation', () => {
    const cut = { token: 't', type: 'key', url: `${'x'.repeat(2047)}😀` };
    for (const place of placesOf([cut, { ...cut, url: '\ud800' }])) expect(place.isWellFormed()).toBe(true);
  });
});

describe('the email about a leaked key', () => {
  const project = newProject({ name: 'Acme <b>', cursorSecret: 'cursor-secret' });
  const key = newKey({ id: 'key_1', type: 'live', name: 'CI', hint: 'wxyz', tokenSecret: 'token-secret' });
  const places = ['https://example.com/a', 'https://example.com/b'];

  it('names the key, the location, the reaction and the next steps', () => {
    const { to, subject, text } = leakEmail(project, key, places, 'reported');
    expect(to).toEqual(project.emails);
    expect(subject).toBe('API key found in public: …wxyz (Acme <b>)');
    expect(text).toBe(`GitHub found the live key "CI" (key_1, ending in wxyz) of the project "Acme <b>" in public.

Found at:
https://example.com/a
https://example.com/b

It still works. Rotate it, deploy the new key, then revoke this one immediately.

Someone may have used the key. Review the audit log (GET /v1/audit).`);
  });

  it('omits a missing name, and states that GitHub reported no location', () => {
    const { text } = leakEmail(project, { ...key, name: null }, [], 'reported');
    expect(text).toContain('GitHub found the live key (key_1, ending in wxyz) of');
    expect(text).toContain('\n\nFound at:\nGitHub reported no location\n\n');
  });

  it.each([
    ['revoked', 'We revoked it, so requests with it return 401. Create a new key for the applications that used it.'],
    [
      'kept',
      'It still works. We did not revoke it, because it is the last admin key of the project. Create another admin key, then revoke this one immediately.',
    ],
    ['reported', 'It still works. Rotate it, deploy the new key, then revoke this one immediately.'],
    ['ended', 'It was already revoked or expired. No action is needed.'],
  ] as const)('says that it is %s', (outcome, done) => {
    expect(leakEmail(project, key, places, outcome).text).toContain(`\n\n${done}\n\n`);
  });

  it('contains no secret and no foreign markup', () => {
    const { text, html } = leakEmail(project, key, places, 'revoked');
    for (const secret of [key.hash, key.tokenSecret, project.cursorSecret]) expect(text + html).not.toContain(secret);
    expect(html).not.toContain('<b>');
  });
});
