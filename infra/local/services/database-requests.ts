import http, { type OutgoingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface DatabaseResponse {
  status: number;
  /** Not decoded, because most responses are forwarded. */
  body: Buffer;
}

/** Sends requests to the local database over connections that stay open. */
export function databaseRequests(endpoint: string) {
  const { hostname, port, host } = new URL(endpoint);
  const agent = new http.Agent({ keepAlive: true });
  return {
    send(headers: OutgoingHttpHeaders, body: string): Promise<DatabaseResponse> {
      return new Promise((resolve, reject) => {
        const options = { hostname, port, method: 'POST', agent, headers: { ...headers, host } };
        const request = http.request(options, (response) => {
          const { statusCode: status = 500 } = response;
          buffer(response).then((body) => resolve({ status, body }), reject);
        });
        request.on('error', reject).end(body);
      });
    },
    destroy: () => agent.destroy(),
  };
}
