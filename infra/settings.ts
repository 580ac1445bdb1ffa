import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';

/** The context parameters of the stack (`cdk deploy -c name=value`), with their defaults and allowed values. */
const PARAMETERS = {
  stackName: { default: 'DocumentSyncService', pattern: /^[A-Za-z][A-Za-z0-9-]{0,127}$/ },
  senderEmail: { default: 'notifications@example.com', pattern: /^[^@\s]+@[^@\s]+\.[^@\s]+$/ },
  architecture: { default: 'arm64', pattern: /^(arm64|x86_64)$/ },
  authorizerCacheSeconds: { default: 0, min: 0, max: 3600 },
  throttleRate: { default: 1000, min: 1, max: 10_000 },
  projectThrottleRate: { default: 500, min: 1, max: 10_000 },
  deliverConcurrency: { default: 150, min: 2, max: 1000 },
  batchingSeconds: { default: 0, min: 0, max: 5 },
  warmWritesPerSecond: { default: '', pattern: /^(|[4-9]\d{3}|[123]\d{4}|40000)$/ },
  dataRetention: { default: 'retain', pattern: /^(retain|destroy)$/ },
  logLevel: { default: 'INFO', pattern: /^(INFO|WARN)$/ },
  logRetentionDays: { default: 30, oneOf: Object.values(RetentionDays).filter((days) => typeof days === 'number') },
  encryption: { default: 'aws', pattern: /^(aws|customer)$/ },
  cloudWatchDashboard: { default: 'off', pattern: /^(off|on)$/ },
  functionTracing: { default: 'off', pattern: /^(off|on)$/ },
  cloudWatchRole: { default: 'create', pattern: /^(create|existing)$/ },
  domainName: { default: '', pattern: /^(|[a-z0-9-]+(\.[a-z0-9-]+)+)$/ },
  certificateArn: { default: '', pattern: /^(|arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+)$/ },
  hostedZoneId: { default: '', pattern: /^[A-Z0-9]*$/ },
  hostedZoneName: { default: '', pattern: /^(|[a-z0-9-]+(\.[a-z0-9-]+)+)$/ },
  secretScanningKeysUrl: { default: '', pattern: /^(|https:\/\/\S+)$/ },
  alarmRequestsPerSecond: { default: 0, min: 0, max: 10_000 },
  alarmEmail: { default: '', pattern: /^(|[^@\s]+@[^@\s]+\.[^@\s]+)$/ },
} as const satisfies Record<string, Parameter>;

type Parameter =
  | { default: string; pattern: RegExp }
  | { default: number; oneOf: readonly number[] }
  | { default: number; min: number; max: number };
type Widened<T> = T extends number ? number : string;
export type Settings = { [Name in keyof typeof PARAMETERS]: Widened<(typeof PARAMETERS)[Name]['default']> };

export const DEFAULT_SENDER = PARAMETERS.senderEmail.default;

/** Reads the context. Throws an error that names the parameter and the values it allows. */
export function readSettings(node: Node): Settings {
  const entries = Object.entries<Parameter>(PARAMETERS).map(([name, parameter]) => [
    name,
    checked(name, parameter, node.tryGetContext(name) ?? parameter.default),
  ]);
  const settings = Object.fromEntries(entries) as Settings;
  if ((settings.domainName === '') !== (settings.certificateArn === '')) {
    throw new Error('Set both of the context parameters domainName and certificateArn, or neither');
  }
  if ((settings.hostedZoneId === '') !== (settings.hostedZoneName === '')) {
    throw new Error('Set both of the context parameters hostedZoneId and hostedZoneName, or neither');
  }
  if (settings.hostedZoneName !== '' && !`.${settings.domainName}`.endsWith(`.${settings.hostedZoneName}`)) {
    throw new Error('The context parameter domainName must be a name in the zone hostedZoneName');
  }
  return settings;
}

function checked(name: string, parameter: Parameter, input: unknown): string | number {
  if ('pattern' in parameter) {
    if (parameter.pattern.test(String(input))) return String(input);
    throw new Error(`The context parameter ${name} must match ${parameter.pattern}, but is "${input}"`);
  }
  const value = Number(input);
  if ('oneOf' in parameter) {
    if (parameter.oneOf.includes(value)) return value;
    throw new Error(`The context parameter ${name} must be one of ${parameter.oneOf.join(', ')}`);
  }
  if (Number.isInteger(value) && value >= parameter.min && value <= parameter.max) return value;
  throw new Error(`The context parameter ${name} must be an integer from ${parameter.min} to ${parameter.max}`);
}
