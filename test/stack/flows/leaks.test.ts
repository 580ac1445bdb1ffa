import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newApiKey } from '../../../lib/access/api-key.ts';
import { reportOf, SCANNER_PATH } from '../../support/scanner.ts';
import { FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);
const send = (report: unknown) => service.as(null)('POST', SCANNER_PATH, reportOf(report));
const matchOf = (token: string, url = 'https://github.com/octocat/hello') => ({
  token,
  type: 'key',
  url,
  source: 'commit',
});
const works = async (key: string) => (await service.as(key)('GET', '/v1/documents')).status === 200;
const emailsTo = (address: string) => service.stack.ses.emails.filter(({ to }) => to === address);
const idOf = (key: string): string => `key_${key.split('_')[2]?.slice(0, 12)}`;

describe('a report of leaked keys', () => {
  it('notifies each project once of its keys, and returns to GitHub which keys are genuine', async () => {
    const { email, admin, ...project } = await service.project('Acme');
    const key = await project.key('live');
    const madeUp = newApiKey('live', 0, (n) => new Uint8Array(n)).key;
    const matches = [
      matchOf(key),
      matchOf(key, 'https://github.com/octocat/other'),
      matchOf(madeUp),
      matchOf('nothing'),
    ];
    const { status, body } = await send(matches);
    const labels = ['true_positive', 'true_positive', 'false_positive', 'false_positive'];
    expect([status, body]).toEqual([
      200,
      matches.map(({ token, type }, i) => ({
        token_hash: createHash('sha256').update(token).digest('hex'),
        token_type: type,
        label: labels[i],
      })),
    ]);
    await send(matches);
    expect(await works(key)).toBe(true);
    const [told, ...more] = emailsTo(email);
    expect(more).toEqual([]);
    expect(told?.text).toContain(`${idOf(key)}, ending in ${key.slice(-4)}`);
    expect(told?.text).toContain('https://github.com/octocat/hello\nhttps://github.com/octocat/other');
    expect(told?.text).toContain('still works');
    expect(JSON.stringify(told)).not.toContain(key);
    expect((await admin('GET', `/v1/audit?target=${idOf(key)}`)).body.data).toMatchObject([
      { action: 'key.leaked', actor: null, detail: { outcome: 'reported' } },
      { action: 'key.created' },
    ]);
  });

  it('is rejected without a genuine signature, and changes nothing', async () => {
    const { email, ...project } = await service.project();
    const call = reportOf([matchOf(await project.key('live'))]);
    const headers = call.headers ?? {};
    const [identifier = '', signature = ''] = Object.keys(headers);
    for (const forged of [
      { ...call, headers: { ...headers, [identifier]: 'another' } },
      { ...call, headers: { ...headers, [signature]: 'AAAA' } },
      { ...call, body: `${call.body} ` },
    ]) {
      const { status, body } = await service.as(null)('POST', SCANNER_PATH, forged);
      expect([status, body.code]).toEqual([403, 'insufficient_permissions']);
    }
    expect(emailsTo(email)).toEqual([]);
  });
});
