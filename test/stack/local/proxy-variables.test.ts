import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/after-file.ts';
import { listen } from '../../support/endpoints.ts';
import { npmStart, startProgram } from '../../support/npm-start.ts';
import { startReceiver } from '../../support/receiver.ts';
import { eventually } from '../../support/service.ts';

/** Starts a proxy that rejects each request, and returns its requests and the variables that select it. */
async function startProxy() {
  const requests: string[] = [];
  const proxy = createServer(({ url = '' }, response) => {
    requests.push(url);
    response.writeHead(502).end();
  }).on('connect', ({ url = '' }, socket) => {
    requests.push(url);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  const url = `http://127.0.0.1:${await listen(proxy)}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const variables = Object.fromEntries(names.map((name) => [name, url]));
  return { requests, env: { ...process.env, ...variables, NODE_USE_ENV_PROXY: '1' } };
}

describe('variables that select a proxy', () => {
  it.each([
    ['without exceptions', {}],
    ['with other exceptions', { no_proxy: 'internal.example', NO_PROXY: '' }],
  ])('%s have no effect on the local stack and its commands', async (_, exceptions) => {
    const proxy = await startProxy();
    const env = { ...proxy.env, ...exceptions };
    const directory = temporaryDirectory();
    const service = npmStart(directory, [], undefined, env);
    await service.ready();
    const receiver = await startReceiver();
    const run = (...args: string[]) =>
      startProgram([process.execPath, 'infra/commands/dev.ts', ...args, '--directory', directory], env);
    const listening = run('listen', '--forward-to', receiver.url);
    await eventually(() => listening.output().includes('Forwarding to'));
    expect(await run('trigger', 'document.changed').ended).toMatchObject({ code: 0 });
    await eventually(() => service.output().includes('[receiver] ✓ verified  document.changed'));
    await receiver.until(1);
    expect(proxy.requests).toEqual([]);
  });

  it('select the proxy for other hosts', async () => {
    const proxy = await startProxy();
    const command = ['infra/commands/dev.ts', 'trigger', 'sync.completed', '--base-url', 'http://api.example.com'];
    const { code } = await startProgram([process.execPath, ...command, '--key', 'svc_live_key'], proxy.env).ended;
    expect(code).toBe(1);
    expect(proxy.requests).toEqual(['api.example.com:80']);
  });
});
