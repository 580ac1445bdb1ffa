import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import { projectRoot } from './project-root.ts';
import { UserError } from './user-error.ts';

/** The settings of the deployment from this checkout. Only `app.ts` and commands for operators read it. */
export const DEPLOYMENT_FILE = join(projectRoot, 'deployment.json');

/** The sender of a template without settings, such as that of the local stack. SES never verifies this address. */
export const DEFAULT_SENDER = 'notifications@example.com';

/** The retention periods of CloudWatch logs. */
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

const text = (pattern: RegExp, must: string) => v.pipe(v.string(must), v.regex(pattern, must));
const integer = (min: number, max: number) => {
  const must = `must be an integer from ${min} to ${max}`;
  return v.pipe(v.number(must), v.integer(must), v.minValue(min, must), v.maxValue(max, must));
};
const arn = (service: string, resource: string, of: string) =>
  text(new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]+:\\d{12}:${resource}$`), `must be the ARN of ${of}`);
const group = <E extends v.ObjectEntries>(entries: E) => v.strictObject(entries, 'must be an object');
const described = <S extends v.GenericSchema>(description: string, schema: S) =>
  v.pipe(schema, v.description(description));

const EMAIL = text(/^[^@\s]+@[^@\s]+\.[^@\s]+$/, 'must be an email address');
const SENDER = described('The sender of emails. Verify the address or its domain in SES.', EMAIL);

const TABLE = v.pipe(
  group({
    name: text(/^[\w.-]{3,255}$/, 'must be the name of a table'),
    streamArn: arn('dynamodb', 'table/[\\w.-]+/stream/[\\w:.-]+', 'a stream of a table'),
  }),
  v.check(
    ({ name, streamArn }) => streamArn.includes(`:table/${name}/stream/`),
    'must have the name and the stream of the same table',
  ),
);

const NETWORK = group({
  vpcId: text(/^vpc-(\w{8}|\w{17})$/, 'must be the id of a VPC'),
  subnetIds: v.pipe(
    v.array(text(/^subnet-(\w{8}|\w{17})$/, 'must be the id of a subnet'), 'must be a list of subnet ids'),
    v.minLength(1, 'must have at least one subnet'),
  ),
  sourceAddresses: v.array(v.pipe(v.string(), v.ipv4('must be an IPv4 address')), 'must be a list of IPv4 addresses'),
});

const SETTINGS = {
  stackName: described(
    'The name of the stack, of its API and of the namespace of its metrics. Another name creates another stack.',
    v.optional(
      text(/^[A-Za-z][A-Za-z0-9-]{0,127}$/, 'must be up to 128 letters, digits and hyphens, and start with a letter'),
      'DocumentSyncService',
    ),
  ),
  senderEmail: v.optional(SENDER, DEFAULT_SENDER),
  alarms: described(
    'The receiver of alarms: an email address, or the ARN of your topic that CloudWatch may publish to.',
    v.optional(
      v.union(
        [group({ email: EMAIL }), group({ topicArn: arn('sns', '[\\w-]+', 'an SNS topic') })],
        'must be {"email": "…"} or {"topicArn": "arn:aws:sns:…"}',
      ),
    ),
  ),
  domain: described(
    'Your domain, with an ACM certificate in the same region. The default address is then disabled.',
    v.optional(
      group({
        name: text(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'must be a domain name in lower case'),
        certificateArn: arn('acm', 'certificate/[\\w-]+', 'an ACM certificate'),
      }),
    ),
  ),
  table: described(
    'An existing table and its stream, such as a restored one. The stack never changes or deletes it.',
    v.optional(TABLE),
  ),
  dataRetention: described(
    'retain protects the stack and the table against deletion. destroy deletes the table with the stack.',
    v.optional(v.picklist(['retain', 'destroy'], 'must be retain or destroy'), 'retain'),
  ),
  encryption: described(
    'customer encrypts the table, queues, failed events and alarms with a KMS key of the stack. Never change it back.',
    v.optional(v.picklist(['aws', 'customer'], 'must be aws or customer'), 'aws'),
  ),
  throttles: described(
    'Requests per second of each method for all projects, and requests and deliveries per second of each project.',
    v.optional(
      group({
        methodPerSecond: v.optional(integer(1, 10_000), 1000),
        projectPerSecond: v.optional(integer(1, 10_000), 500),
        deliveriesPerSecond: v.optional(integer(1, 100_000), 1000),
      }),
      {},
    ),
  ),
  deliverConcurrency: described(
    'Concurrent batches of each of the three delivery lanes. Use 2 for an account with a concurrency of 10.',
    v.optional(integer(2, 1000), 150),
  ),
  batchingSeconds: described(
    'The seconds for which Lambda gathers events and deliveries into batches. They are later and cheaper.',
    v.optional(integer(0, 5), 0),
  ),
  egress: described(
    'nat delivers events from two fixed addresses of a new VPC. An object names subnets of an existing VPC.',
    v.optional(
      v.union([v.literal('nat'), NETWORK], 'must be "nat" or {"vpcId": …, "subnetIds": […], "sourceAddresses": […]}'),
    ),
  ),
  webAclArn: described(
    'A regional web ACL that filters the requests to the API.',
    v.optional(arn('wafv2', 'regional/webacl/[\\w-]+/[\\w-]+', 'a regional web ACL')),
  ),
  logRetentionDays: described(
    'A retention period of CloudWatch logs.',
    v.optional(v.picklist(RETENTION_DAYS, `must be one of ${RETENTION_DAYS.join(', ')}`), 30),
  ),
  cloudWatchRole: described(
    'existing keeps the role of the account that API Gateway writes logs with. create replaces it.',
    v.optional(v.picklist(['create', 'existing'], 'must be create or existing'), 'create'),
  ),
  securityContact: described(
    'The address for reports of vulnerabilities, which /.well-known/security.txt contains.',
    v.optional(text(/^(mailto:[^@\s]+@[^@\s]+\.[^@\s]+|https:\/\/\S+)$/, 'must be a mailto: or https: URL')),
  ),
};

const PROPERTIES = group(SETTINGS);

/** The schema of deployment.json. `infra/deployment.schema.json` is its JSON schema, for editors. */
export const DEPLOYMENT = group({ ...SETTINGS, senderEmail: SENDER, $schema: v.optional(v.string()) });

export type SettingsInput = v.InferInput<typeof PROPERTIES>;
export type Settings = v.InferOutput<typeof PROPERTIES>;

/** The name and the description of every setting. */
export const describedSettings = () =>
  (Object.keys(SETTINGS) as (keyof Settings)[]).map(
    (name) => [name, v.getDescription(DEPLOYMENT.entries[name])] as const,
  );

/** Returns the settings with their defaults. Throws `UserError`, which names every violation. */
export const settingsOf = (given: unknown): Settings => parsed(PROPERTIES, given, 'the settings');

/** Reads deployment.json. Returns nothing if there is no such file. Throws `UserError`, which names every violation. */
export function readDeployment(path = DEPLOYMENT_FILE): Settings | undefined {
  if (!existsSync(path)) return undefined;
  const { $schema: _, ...settings } = parsed(DEPLOYMENT, contentsOf(path), basename(path));
  return settings;
}

/**
 * Changes members of deployment.json, or creates it. Throws `UserError` without a change if the result is invalid. The file is
 * replaced, so that a crash leaves the old or the new one.
 */
export function updateDeployment(changes: Partial<SettingsInput>, path = DEPLOYMENT_FILE): void {
  const existing = existsSync(path) ? (contentsOf(path) as object) : { $schema: './infra/deployment.schema.json' };
  const changed = { ...existing, ...changes };
  parsed(DEPLOYMENT, changed, basename(path));
  writeFileSync(`${path}.new`, `${JSON.stringify(changed, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}

function contentsOf(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UserError(`Cannot read ${basename(path)}: ${(error as Error).message}`);
  }
}

function parsed<S extends v.GenericSchema>(schema: S, given: unknown, source: string): v.InferOutput<S> {
  const { success, output, issues } = v.safeParse(schema, given, { abortPipeEarly: true });
  if (success) return output;
  const violations = issues.map((issue) => {
    const isUnknown = issue.kind === 'schema' && issue.expected === 'never';
    const must = isUnknown ? 'is not a setting' : issue.received === 'undefined' ? 'is missing' : issue.message;
    return `  ${v.getDotPath(issue) ?? 'The file'} ${must}`;
  });
  throw new UserError(`Correct ${source}:\n${violations.join('\n')}`);
}
