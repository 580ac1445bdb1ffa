import { describe, expect, it } from 'vitest';
import { isSignedBy } from '../../lib/access/leaks.ts';

// GitHub Docs, "Secret scanning partner program": the sample request, and the published key that signed it.
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
  it('is that of the published sample', () => {
    expect(isSignedBy(KEY, Buffer.from(BODY), SIGNATURE)).toBe(true);
  });

  it.each([
    ['another body', KEY, `${BODY} `, SIGNATURE],
    ['another key', OTHER_KEY, BODY, SIGNATURE],
    ['another signature', KEY, BODY, SIGNATURE.replace('MEQC', 'MEUC')],
    ['no signature', KEY, BODY, ''],
    ['no base64', KEY, BODY, '%%%'],
    ['no key', 'nothing', BODY, SIGNATURE],
  ])('is not that of %s', (_, key, body, signature) => {
    expect(isSignedBy(key, Buffer.from(body), signature)).toBe(false);
  });
});
