import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRoutes } from '../../infra/local/gateway/routes.ts';
import type { FunctionProperties } from '../../infra/local/lambda/lambda.ts';
import { ACCOUNT } from '../../infra/local/template.ts';
import { allOperations, operationsByPath } from '../../lib/api/operations.ts';
import { methodsOf } from '../../lib/http/route.ts';
import { SHARES, shareKeyOf } from '../../lib/projects/project.ts';
import { apiKeys, readTemplate } from '../stack/local/gateway.ts';
import { resourcesOf } from './resources.ts';
import { synth } from './synth.ts';

const template = synth({});
const local = readTemplate();
/** The resources of a type of API Gateway, by logical id. */
const partsOf = (type: string) => resourcesOf(template, `AWS::ApiGateway::${type}`);
const propertiesOf = (type: string) => partsOf(type).map(([, properties]) => properties);
const [stage = {}] = propertiesOf('Stage');

describe('the API', () => {
  it('has a method for every operation, HEAD for every GET and ANY for every path, with the authorizer except for public operations', () => {
    const expected = [...operationsByPath].flatMap(([path, operations]) => [
      ...operations.flatMap((operation) =>
        methodsOf(operation).map((method) => [method, path, operation.function, operation.callers !== 'anyone']),
      ),
      ['ANY', path, 'dashboard', true],
    ]);
    const routes = readRoutes(local).flatMap(({ resource, method, target, authorizerId }) => {
      if (!('integrationUri' in target)) return []; // a preflight response
      const [, fn = ''] = /:function:([A-Z][a-z]+)/.exec(target.integrationUri) ?? [];
      return [[method, resource, fn.toLowerCase(), authorizerId !== undefined]];
    });
    expect(routes.map(String).sort()).toEqual(expected.map(String).sort());
    const anyone = allOperations.filter(({ callers }) => callers === 'anyone');
    const withData = anyone.filter((operation) => operation.function !== 'dashboard');
    expect(withData.map(({ path }) => path)).toEqual(['/v1/email-confirmations']); // needs the token of a link
  });

  it('accepts IPv4 and IPv6, with and without its own domain, because allowlists can contain both', () => {
    const domain = { name: 'api.example.com', certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/a' };
    const named = synth({ domain });
    const endpoints = [
      ...resourcesOf(template, 'AWS::ApiGateway::RestApi'),
      ...['RestApi', 'DomainName'].flatMap((type) => resourcesOf(named, `AWS::ApiGateway::${type}`)),
    ].map(([, { EndpointConfiguration }]) => EndpointConfiguration);
    expect(endpoints).toEqual(Array(3).fill({ IpAddressType: 'dualstack', Types: ['REGIONAL'] }));
  });

  it('creates one key for every share that the authorizer can return, in a plan for the stage', () => {
    const values = apiKeys(local);
    const [prefix = ''] = local
      .ofType<FunctionProperties>('AWS::Lambda::Function')
      .flatMap(({ properties }) => properties.Environment?.Variables?.SHARE_PREFIX ?? []);
    const keyOf = (projectId: string) => shareKeyOf(prefix, projectId);
    expect(new Set(values)).toEqual(new Set(Array.from({ length: 2000 }, (_, i) => keyOf(`prj_${i}`))));
    for (const value of values) {
      expect(value).toMatch(/^[0-9a-z]{20,128}$/);
      expect(value).toContain(ACCOUNT);
    }
    const [[plan = ''] = []] = partsOf('UsagePlan');
    const members = propertiesOf('UsagePlanKey');
    expect(members.every(({ UsagePlanId }) => UsagePlanId.Ref === plan)).toBe(true);
    expect(new Set(members.map(({ KeyId }) => KeyId.Ref))).toEqual(new Set(partsOf('ApiKey').map(([id]) => id)));
  });

  it.each([
    ['adds one share key at a time to the plan, because API Gateway rejects parallel additions', 'UsagePlanKey'],
    ['creates one share key at a time, because an account can create five per second', 'ApiKey'],
  ])('%s', (_, type) => {
    const created = Object.entries(template.findResources(`AWS::ApiGateway::${type}`));
    const ids = created.map(([id]) => id);
    const previous = created.map(([, { DependsOn = [] }]) => [DependsOn].flat().filter((id) => ids.includes(id)));
    expect(previous).toEqual([[], ...ids.slice(0, -1).map((id) => [id])]);
    expect(ids).toHaveLength(SHARES);
  });

  it('creates at most five of its parts at the same time, because API Gateway throttles such requests', () => {
    const types = ['GatewayResponse', 'Resource', 'Method'].map((name) => `AWS::ApiGateway::${name}`);
    const parts = new Map(types.flatMap((type) => Object.entries(template.findResources(type))));
    expect(parts.size).toBeGreaterThan(150);
    const created = new Set<string>();
    while (created.size < parts.size) {
      const next = [...parts].filter(
        ([id, { DependsOn = [], Properties }]) =>
          !created.has(id) &&
          [DependsOn, Properties.ParentId?.Ref, Properties.ResourceId?.Ref]
            .flat()
            .every((other) => !parts.has(other) || created.has(other)),
      );
      expect(next.length).toBeGreaterThan(0);
      expect(next.length).toBeLessThanOrEqual(5);
      for (const [id] of next) created.add(id);
    }
  });

  it('is deployed after all of its parts, because a deployment contains only the parts that exist', () => {
    const [{ DependsOn } = {}] = Object.values(template.findResources('AWS::ApiGateway::Deployment'));
    const parts = [...partsOf('Method'), ...partsOf('Resource'), ...partsOf('GatewayResponse')].map(([id]) => id);
    expect(parts.filter((id) => !DependsOn.includes(id))).toEqual([]);
  });

  it('throttles every method without a credential separately', () => {
    const [, ...others] = stage.MethodSettings;
    const throttled = others.map(
      ({ ResourcePath, HttpMethod }: { ResourcePath: string; HttpMethod: string }) =>
        `${ResourcePath.replace('/~1', '/').replaceAll('~1', '/')} ${HttpMethod}`,
    );
    const open = readRoutes(local).filter(({ authorizerId }) => authorizerId === undefined);
    expect(open.map(({ resource, method }) => `${resource} ${method}`).sort()).toEqual(throttled.sort());
  });

  it('has the throttles that the guide states', () => {
    const guide = readFileSync('functions/site/docs/guides/conventions.md', 'utf8');
    const stated = [...guide.matchAll(/(\d+) per second[^|]*? burst of ([\d,]*\d)/g)].map(([, ...figures]) =>
      figures.map((figure) => Number(figure.replace(',', ''))),
    );
    const [{ Throttle, ApiStages } = {}] = propertiesOf('UsagePlan');
    const ofProject = [Throttle, ...Object.values<typeof Throttle>(ApiStages[0].Throttle)];
    const limits = [
      ...ofProject.map(({ RateLimit, BurstLimit }) => [RateLimit, BurstLimit]),
      ...stage.MethodSettings.slice(1).map((method: Record<string, number>) => [
        method.ThrottlingRateLimit,
        method.ThrottlingBurstLimit,
      ]),
    ];
    expect(new Set(limits.map(String))).toEqual(new Set(stated.map(String)));
    expect(guide).toContain(
      `${stage.MethodSettings[0].ThrottlingRateLimit.toLocaleString('en')} per second per method`,
    );
  });

  it('has no more method settings than one update of the stage can patch', () => {
    const settings: object[] = stage.MethodSettings;
    const key = ['HttpMethod', 'ResourcePath'];
    const patches = settings.flatMap((setting) => Object.keys(setting).filter((name) => !key.includes(name)));
    expect(patches.length).toBeGreaterThan(settings.length);
    expect(patches.length).toBeLessThanOrEqual(75); // of 80, because the deployment and the access log need some
  });

  it('allows other origins only for operations of scoped tokens, without a function', () => {
    const preflights = readRoutes(local).filter(({ method }) => method === 'OPTIONS');
    const forTokens = allOperations.filter(({ callers }) => callers.includes('token'));
    for (const { resource, target } of preflights) {
      const methods = forTokens.filter(({ path }) => path === resource).map(({ method }) => method);
      expect(target).toMatchObject({ headers: { 'Access-Control-Allow-Methods': methods.join(',') } });
    }
    expect(preflights).toHaveLength(new Set(forTokens.map(({ path }) => path)).size);
  });
});
