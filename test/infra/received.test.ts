import { describe, expect, it } from 'vitest';
import { readDelivery } from '../../infra/commands/received.ts';
import { startDemoReceiver } from '../../infra/local/demo-receiver.ts';
import { serviceSignature } from '../../lib/webhooks/signing.ts';

describe('a request to the demo endpoint', () => {
  const attack = '\u001b]52;c;Y3VybCBldmls\u0007\u009b2J\u202e';
  const body = `{"text":"${attack}"}`;
  const secret = 'secret';
  const headers = (signature: string) => ({
    'x-service-event-type': `document.changed${attack}`,
    'x-service-attempt': '1',
    'x-service-signature': signature,
  });

  it('is printed without characters that control the terminal', () => {
    const { verified, line } = readDelivery(secret, headers(serviceSignature(secret, body)), Buffer.from(body));
    expect(verified).toBe(true);
    expect(line).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(line).toContain('"text":"\\u001b]52;c;Y3VybCBldmls\\u0007\\u009b2J\\u202e"');
  });

  it('is rejected and shows only its size when the signature is wrong', async () => {
    expect(readDelivery(secret, headers(`sha256=${attack}`), Buffer.from(body))).toEqual({
      verified: false,
      line: `✗ NOT VERIFIED  ${Buffer.byteLength(body)} bytes`,
    });
    const { url, close } = await startDemoReceiver(secret, 0, () => {});
    const { status } = await fetch(url, { method: 'POST', headers: { 'X-Service-Signature': 'sha256=' }, body });
    close();
    expect(status).toBe(401);
  });

  it('is not verified if its bytes are not those that were signed', () => {
    const signature = serviceSignature(secret, '{"text":"\ufffd"}');
    const bytes = Buffer.concat([Buffer.from('{"text":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(String(bytes)).toBe('{"text":"\ufffd"}');
    expect(readDelivery(secret, headers(signature), bytes).verified).toBe(false);
  });
});
