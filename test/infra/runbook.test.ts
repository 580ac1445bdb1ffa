import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The commands of the AWS CLI in the runbook, with the options that it uses (AWS CLI Command Reference, version 2). */
const AWS_COMMANDS: Record<string, readonly string[]> = {
  'apigateway create-api-key': ['enabled', 'value'],
  'apigateway create-usage-plan-key': ['usage-plan-id', 'key-id', 'key-type'],
  'apigateway get-api-keys': [],
  'apigateway get-usage-plan-keys': ['usage-plan-id'],
  'cloudformation cancel-update-stack': ['stack-name'],
  'cloudformation describe-stack-resource': ['stack-name', 'logical-resource-id'],
  'dynamodb describe-table': ['table-name'],
  'dynamodb update-table': ['table-name', 'sse-specification'],
  'kms cancel-key-deletion': ['key-id'],
  'kms describe-key': ['key-id'],
  'kms enable-key': ['key-id'],
  'lambda delete-function-concurrency': ['function-name'],
  'lambda get-event-source-mapping': ['uuid'],
  'lambda update-event-source-mapping': ['uuid', 'enabled', 'no-enabled'],
  'logs filter-log-events': ['log-group-name', 'filter-pattern', 'start-time', 'end-time'],
  's3 rm': [],
  'sesv2 delete-suppressed-destination': ['email-address'],
  'sesv2 get-account': [],
  'sesv2 list-suppressed-destinations': ['reasons'],
  'sns list-subscriptions-by-topic': ['topic-arn'],
  'sns subscribe': ['topic-arn', 'protocol', 'notification-endpoint'],
  'sqs get-queue-attributes': ['queue-url', 'attribute-names'],
  'sqs start-message-move-task': ['source-arn'],
  'wafv2 create-web-acl': ['name', 'scope', 'default-action', 'visibility-config', 'rules'],
};

const runbook = readFileSync('infra/RUNBOOK.md', 'utf8');

// `test/stack/flows/runbook.test.ts` runs the commands of this project.
it('the runbook uses only these operations and options of the AWS CLI', () => {
  const code = [...runbook.replaceAll('\\\n', ' ').matchAll(/```\w*\n([\s\S]*?)```|`([^`]+)`/g)].map(
    ([, block, inline]) => block ?? inline,
  );
  const used = code
    .join('\n')
    .split(/\baws (?=[\w-]+ [\w-]+)/)
    .slice(1);
  const names = new Set<string>();
  for (const [line = ''] of used.map((each) => each.split('\n'))) {
    const operation = line.split(' ', 2).join(' ');
    names.add(operation);
    const allowed = AWS_COMMANDS[operation];
    expect(allowed, operation).toBeDefined();
    const given = [...line.matchAll(/ --([\w-]+)/g)].map(([, option]) => option);
    expect([...(allowed ?? []), 'query', 'output'], operation).toEqual(expect.arrayContaining(given));
  }
  expect([...names].sort()).toEqual(Object.keys(AWS_COMMANDS).sort());
});

it('the runbook names only log lines and settings that exist', () => {
  const names = [...runbook.matchAll(/`([a-z]\w*\.[a-z]\w*)`/gi)].map(([, name = '']) => name);
  const code = ['lib', 'infra'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
  );
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !code.some((text) => text.includes(name)))).toEqual([]);
});
