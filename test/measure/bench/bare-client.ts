import http from 'node:http';
import { serviceSignature } from '../../../lib/webhooks/signing.ts';

/** A client that only POSTs bodies with their signatures, with limited concurrency. */
export function bareClient(url: string, together: number) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: together });
  return async (bodies: readonly string[]): Promise<void> => {
    await Promise.all(bodies.map(post));
  };

  function post(body: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': serviceSignature('secret', body) };
      const request = http.request(url, { method: 'POST', agent, headers }, (response) =>
        response.resume().on('end', resolve),
      );
      request.on('error', reject).end(body);
    });
  }
}
