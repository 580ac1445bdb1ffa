import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';

/** The context parameters of the stack (`cdk deploy -c name=value`), with their defaults and allowed values. */
const PARAMETERS = {
  stackName: { default: 'DocumentSyncService', pattern: /^[A-Za-z][A-Za-z0-9-]{0,127}$/ },
  senderEmail: { default: 'notifications@example.com', pattern: /^[^@\s]+@[^@\s]+\.[^@\s]+$/ },
  architecture: { default: 'arm64', oneOf: ['arm64', 'x86_64'] },
  authorizerCacheSeconds: { default: 0, min: 0, max: 3600 },
  throttleRate: { default: 1000, min: 1, max: 10_000 },
  projectThrottleRate: { default: 500, min: 1, max: 10_000 },
  deliverConcurrency: { default: 150, min: 2, max: 1000 },
  batchingSeconds: { default: 0, min: 0, max: 5 },
  egress: { default: 'shared', oneOf: ['shared', 'nat'] },
  warmWritesPerSecond: { default: '', pattern: /^(|[4-9]\d{3}|[123]\d{4}|40000)$/ },
  tableName: { default: '', pattern: /^(|[A-Za-z0-9_.-]{3,255})$/ },
  tableStreamArn: {
    default: '',
    pattern: /^(|arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]+\/stream\/[\w:.-]+)$/,
  },
  dataRetention: { default: 'retain', oneOf: ['retain', 'destroy'] },
  gradualDeployment: { default: 'off', oneOf: ['off', 'on'] },
  logLevel: { default: 'INFO', oneOf: ['INFO', 'WARN'] },
  logRetentionDays: { default: 30, oneOf: Object.values(RetentionDays).filter((days) => typeof days === 'number') },
  encryption: { default: 'aws', oneOf: ['aws', 'customer'] },
  cloudWatchDashboard: { default: 'off', oneOf: ['off', 'on'] },
  functionTracing: { default: 'off', oneOf: ['off', 'on'] },
  cloudWatchRole: { default: 'create', oneOf: ['create', 'existing'] },
  domainName: { default: '', pattern: /^(|[a-z0-9-]+(\.[a-z0-9-]+)+)$/ },
  certificateArn: { default: '', pattern: /^(|arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+)$/ },
  hostedZoneId: { default: '', pattern: /^[A-Z0-9]*$/ },
  hostedZoneName: { default: '', pattern: /^(|[a-z0-9-]+(\.[a-z0-9-]+)+)$/ },
  securityContact: { default: '', pattern: /^(|mailto:[^@\s]+@[^@\s]+\.[^@\s]+|https:\/\/\S+)$/ },
  alarmRequestsPerSecond: { default: 0, min: 0, max: 10_000 },
  alarmClientErrorPercent: { default: 0, min: 0, max: 100 },
  monthlyBudget: { default: 0, min: 0, max: 1_000_000 },
  alarmEmail: { default: '', pattern: /^(|[^@\s]+@[^@\s]+\.[^@\s]+)$/ },
} as const satisfies Record<string, Parameter>;

type Parameter =
  | { default: string; pattern: RegExp }
  | { default: string | number; oneOf: readonly (string | number)[] }
  | { default: number; min: number; max: number };
type ValueOf<P> = P extends { oneOf: readonly (infer Value)[] }
  ? Value
  : P extends { default: number }
    ? number
    : string;
export type Settings = { [Name in keyof typeof PARAMETERS]: ValueOf<(typeof PARAMETERS)[Name]> };

export const DEFAULT_SENDER = PARAMETERS.senderEmail.default;

/** The settings in the context. */
export const readSettings = (node: Node): Settings =>
  settingsOf(Object.fromEntries(Object.keys(PARAMETERS).map((name) => [name, node.tryGetContext(name)])));

/** The given settings, and the defaults of the others. Throws an error that names the parameter and the values it allows. */
export function settingsOf(given: Record<string, unknown>): Settings {
  const entries = Object.entries<Parameter>(PARAMETERS).map(([name, parameter]) => [
    name,
    checked(name, parameter, given[name] ?? parameter.default),
  ]);
  const settings = Object.fromEntries(entries) as Settings;
  const [, streamOf = ''] = /:table\/(.+)\/stream\//.exec(settings.tableStreamArn) ?? [];
  if (settings.tableName !== streamOf) {
    throw new Error('Set both of the parameters tableName and tableStreamArn, for the same table, or neither');
  }
  if ((settings.domainName === '') !== (settings.certificateArn === '')) {
    throw new Error('Set both of the parameters domainName and certificateArn, or neither');
  }
  if ((settings.hostedZoneId === '') !== (settings.hostedZoneName === '')) {
    throw new Error('Set both of the parameters hostedZoneId and hostedZoneName, or neither');
  }
  if (settings.monthlyBudget > 0 && settings.alarmEmail === '') {
    throw new Error('The parameter monthlyBudget needs alarmEmail, which receives the notifications');
  }
  if (settings.hostedZoneName !== '' && !`.${settings.domainName}`.endsWith(`.${settings.hostedZoneName}`)) {
    throw new Error('The parameter domainName must be a name in the zone hostedZoneName');
  }
  return settings;
}

function checked(name: string, parameter: Parameter, input: unknown): string | number {
  if ('pattern' in parameter) {
    if (parameter.pattern.test(String(input))) return String(input);
    throw new Error(`The parameter ${name} must match ${parameter.pattern}, but is "${input}"`);
  }
  if ('oneOf' in parameter) {
    const value = parameter.oneOf.find((each) => String(each) === String(input));
    if (value !== undefined) return value;
    throw new Error(`The parameter ${name} must be one of ${parameter.oneOf.join(', ')}`);
  }
  const value = Number(input);
  if (Number.isInteger(value) && value >= parameter.min && value <= parameter.max) return value;
  throw new Error(`The parameter ${name} must be an integer from ${parameter.min} to ${parameter.max}`);
}
