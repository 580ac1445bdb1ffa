import { generateKeyPairSync, sign } from 'node:crypto';
import type { Call } from './service.ts';

const IDENTIFIER = 'a-published-key';
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const published = {
  public_keys: [
    { key_identifier: IDENTIFIER, key: publicKey.export({ type: 'spki', format: 'pem' }), is_current: true },
  ],
};

export const SCANNER_PATH = '/v1/secret-scanning/github';

/** The environment variables of a service that uses the keys of this scanner. */
export const SCANNER_ENVIRONMENT = {
  SECRET_SCANNING_KEYS_URL: `data:application/json,${encodeURIComponent(JSON.stringify(published))}`,
};

/** A signed report in the format of GitHub. */
export function reportOf(report: unknown): Call {
  const body = typeof report === 'string' ? report : JSON.stringify(report);
  const headers = {
    'GITHUB-PUBLIC-KEY-IDENTIFIER': IDENTIFIER,
    'GITHUB-PUBLIC-KEY-SIGNATURE': sign('sha256', Buffer.from(body), privateKey).toString('base64'),
  };
  return { body, headers };
}
