import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { METHODS, readRoutes } from '../../infra/local/gateway/routes.ts';
import { listenAddresses } from '../../infra/local/sam/addresses.ts';
import { functionName, samTemplate } from '../../infra/local/sam/template.ts';
import { allOperations } from '../../lib/api/operations.ts';
import { methodsOf } from '../../lib/http/route.ts';
import { readTemplate } from '../stack/local/gateway.ts';
import { temporaryDirectory } from '../support/after-file.ts';

const raw = JSON.parse(readFileSync(join(inject('assembly'), 'DocumentSyncService.template.json'), 'utf8'));
const { template } = samTemplate(raw, readTemplate(), {});

/**
 * Returns the function and the authorizer of every path and method in `sam local start-api` 1.170. It merges the methods of a path
 * and function, with the authorizer of the last one (`dedupe_function_routes` of samcli/lib/providers/api_collector.py). `ANY` is
 * seven methods, and the last function of a path and method wins (samcli/local/apigw/local_apigw_service.py).
 */
function routesOfStartApi() {
  const directory = temporaryDirectory();
  const artifacts = { sam: { type: 'aws:cloudformation:stack', properties: { templateFile: 'template.json' } } };
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify({ artifacts }));
  writeFileSync(join(directory, 'template.json'), JSON.stringify(template));
  const merged = new Map<string, { resource: string; methods: string[]; route: object }>();
  for (const { resource, method, target, authorizerId } of readRoutes(readTemplate(directory))) {
    if (!('integrationUri' in target)) continue; // a preflight response
    const id = /:function:(\w+)/.exec(target.integrationUri)?.[1] ?? '';
    const key = `${resource} ${id}`;
    const methods = [...(merged.get(key)?.methods ?? []), ...(method === 'ANY' ? METHODS : [method])];
    merged.set(key, {
      resource,
      methods,
      route: { function: functionName(id), authorizer: authorizerId !== undefined },
    });
  }
  return new Map(
    [...merged.values()].flatMap(({ resource, methods, route }) =>
      methods.map((method) => [`${method} ${resource}`, route] as const),
    ),
  );
}

describe('the template for sam local', () => {
  it('routes every operation to its function and authorizer by the rules of start-api', () => {
    const expected = allOperations.flatMap(({ path, callers, ...operation }) => {
      const name = operation.function.charAt(0).toUpperCase() + operation.function.slice(1);
      const route = { function: name, authorizer: callers !== 'anyone' };
      return methodsOf(operation).map((method) => [`${method} ${path}`, route] as const);
    });
    expect(expected.length).toBeGreaterThan(50);
    expect(Object.fromEntries(routesOfStartApi())).toEqual(Object.fromEntries(expected));
  });

  it('runs every function on the architecture of this machine', () => {
    const resources = Object.values<{ Properties?: { Architectures?: string[] } }>(template.Resources);
    const architectures = resources.flatMap(({ Properties }) => Properties?.Architectures ?? []);
    expect(new Set(architectures)).toEqual(new Set([process.arch === 'arm64' ? 'arm64' : 'x86_64']));
  });

  it('names no resource that it lacks', () => {
    const resources = Object.entries<{ DependsOn?: string[] }>(template.Resources);
    const needed = resources.flatMap(([, { DependsOn = [] }]) => DependsOn);
    expect(needed.length).toBeGreaterThan(0);
    expect(needed.filter((id) => !(id in template.Resources))).toEqual([]);
  });
});

it.each([
  ['loopback and the bridge of Docker', 'inet 172.17.0.1/16', ['127.0.0.1', '172.17.0.1']],
  ['only loopback without the bridge', '', ['127.0.0.1']],
  ['only loopback without the program ip, as on macOS', undefined, ['127.0.0.1']],
])('the services for sam local listen on %s', (_, line, addresses) => {
  const path = temporaryDirectory();
  if (line !== undefined) writeFileSync(join(path, 'ip'), `#!/bin/sh\necho '${line}'\n`, { mode: 0o755 });
  vi.stubEnv('PATH', path);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(listenAddresses()).toEqual(addresses);
});
