import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { UnavailableError } from '../../../lib/errors.ts';
import { createReportServer } from '../../../lib/http/signed-report.ts';
import { proxyEvent } from './builders.ts';

const { publicKey: key, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PEM = key.export({ type: 'spki', format: 'pem' }).toString();
// Another serialization of the same report would have other bytes.
const body = ' [ ]';
const signatureOf = (text: string) => sign('sha256', Buffer.from(text), privateKey).toString('base64');
const signed = { 'Github-Public-Key-Identifier': 'a', 'Github-Public-Key-Signature': signatureOf(body) };

function serverWith(publicKey: (identifier: string) => Promise<string | undefined>) {
  const find = vi.fn(publicKey);
  const [handle, reportFailure] = [vi.fn(async () => []), vi.fn()];
  const serve = createReportServer({ publicKey: find, handle, log: { info: () => {} }, reportFailure });
  const send = (headers: Record<string, string>) => serve(proxyEvent({ httpMethod: 'POST', headers, body }));
  return { find, handle, reportFailure, send };
}

describe('a signed report', () => {
  it('is handled when its signature is genuine', async () => {
    const { send, handle } = serverWith(async () => PEM);
    expect((await send(signed)).statusCode).toBe(200);
    expect(handle).toHaveBeenCalledOnce();
  });

  it('is rejected when the signature is of another serialization', async () => {
    const { send, handle } = serverWith(async () => PEM);
    const headers = { ...signed, 'Github-Public-Key-Signature': signatureOf('[]') };
    expect((await send(headers)).statusCode).toBe(403);
    expect(handle).not.toHaveBeenCalled();
  });

  it.each([
    ['no headers', {}],
    ['no identifier', { ...signed, 'Github-Public-Key-Identifier': '' }],
    ['no signature', { ...signed, 'Github-Public-Key-Signature': '' }],
  ])('is rejected with 403 before the keys are read when it has %s', async (_, headers) => {
    const { send, find, handle } = serverWith(async () => PEM);
    expect((await send(headers)).statusCode).toBe(403);
    expect([find.mock.calls, handle.mock.calls]).toEqual([[], []]);
  });

  it('returns 404 unless the operator configured the keys', async () => {
    const serve = createReportServer({ handle: async () => [], log: { info() {} }, reportFailure() {} });
    const { statusCode, body } = await serve(proxyEvent({ httpMethod: 'POST', headers: signed, body: '[]' }));
    expect([statusCode, JSON.parse(body).code]).toEqual([404, 'route_not_found']);
  });

  it('returns 503 without an internal failure when the keys cannot be read', async () => {
    const { send, handle, reportFailure } = serverWith(() => Promise.reject(new UnavailableError(new Error('down'))));
    const { statusCode, headers } = await send(signed);
    expect([statusCode, headers?.['Retry-After']]).toEqual([503, '1']);
    expect([handle.mock.calls, reportFailure.mock.calls]).toEqual([[], []]);
  });

  it('reports an internal failure when a genuine report cannot be handled', async () => {
    const { send, handle, reportFailure } = serverWith(async () => PEM);
    handle.mockRejectedValue(new Error('no table'));
    expect((await send(signed)).statusCode).toBe(500);
    expect(reportFailure).toHaveBeenCalledOnce();
  });
});
