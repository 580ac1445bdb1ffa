import { readFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';

// TLS 1.3 endpoints in a separate process, on as many ports as the argument says. Each takes 50 ms. Sends their URLs to its parent.
const RESPONSE_MS = 50;
const pem = (name: string) => readFileSync(new URL(`../../../support/certificates/${name}.pem`, import.meta.url));
const options = { key: pem('key'), cert: pem('valid'), minVersion: 'TLSv1.3' } as const;
const urls = Array.from({ length: Number(process.argv[2]) }, async () => {
  const server = https.createServer(options, (request, response) => {
    request.resume().on('end', () => setTimeout(() => response.writeHead(204).end(), RESPONSE_MS));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
process.send?.(await Promise.all(urls));
process.on('disconnect', () => process.exit(0));
