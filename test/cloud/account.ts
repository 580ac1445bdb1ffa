import {
  CloudFormationClient,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { expectConformance } from '../support/conformance.ts';
import type { Answer, Client } from '../support/service.ts';
import { request } from '../support/service.ts';
import { STACK } from './checkout.ts';
import type { Emulator } from './emulator.ts';

/** Creates a client of the AWS SDK for the account of an emulator. */
export function clientOf<Type>(type: new (options: object) => Type, { variables }: Pick<Emulator, 'variables'>): Type {
  const credentials = { accessKeyId: variables.AWS_ACCESS_KEY_ID, secretAccessKey: variables.AWS_SECRET_ACCESS_KEY };
  return new type({ endpoint: variables.AWS_ENDPOINT_URL, region: variables.AWS_REGION, credentials });
}

/** Returns the state of the stack, or nothing without one. */
export async function stackOf(emulator: Emulator) {
  const { Stacks } = await clientOf(CloudFormationClient, emulator).send(new DescribeStacksCommand({}));
  return Stacks?.find(({ StackName }) => StackName === STACK);
}

/** The physical ids of the resources of the stack by logical id. */
export async function physicalIds(emulator: Emulator): Promise<Record<string, string>> {
  const command = new DescribeStackResourcesCommand({ StackName: STACK });
  const { StackResources = [] } = await clientOf(CloudFormationClient, emulator).send(command);
  return Object.fromEntries(
    StackResources.map(({ LogicalResourceId = '', PhysicalResourceId = '' }) => [
      LogicalResourceId,
      PhysicalResourceId,
    ]),
  );
}

/** The outputs of the stack by name. */
export async function outputsOf(emulator: Emulator): Promise<Record<string, string>> {
  const { Outputs = [] } = (await stackOf(emulator)) ?? {};
  return Object.fromEntries(Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
}

export interface ServedApi {
  /** Where the emulator serves it. */
  address: string;
  /** The base URL in its links. */
  baseUrl: string;
}

/** Finds the deployed API. */
export async function servedApi(emulator: Emulator): Promise<ServedApi> {
  const [{ Api }, { BaseUrl = '' }] = [await physicalIds(emulator), await outputsOf(emulator)];
  return { address: `${emulator.endpoint}/_aws/execute-api/${Api}/live`, baseUrl: BaseUrl };
}

/** Calls the API with a credential. Each response must be as the OpenAPI document describes it. */
export const callerOf =
  ({ address, baseUrl }: ServedApi, credential: string | null): Client =>
  async (method, path, call = {}): Promise<Answer> => {
    const headers = { ...(credential !== null && { Authorization: `Bearer ${credential}` }), ...call.headers };
    const answer = await request(address, method, path, { ...call, headers });
    expectConformance(method, path, answer, call.body, baseUrl);
    return answer;
  };

/** The emulator does not verify the signature of the account itself. */
const authorization = ({ AWS_ACCESS_KEY_ID: id, AWS_REGION: region }: Emulator['variables'], service: string) =>
  `AWS4-HMAC-SHA256 Credential=${id}/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=0`;

/** Calls an operation of the JSON protocol, for services whose SDK is no dependency. */
async function call({ endpoint, variables }: Emulator, service: string, target: string, input: object) {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.1',
      'X-Amz-Target': target,
      Authorization: authorization(variables, service),
    },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`${target}: ${await response.text()}`);
  return response.json();
}

/** The lines of all functions that report a failure. */
export async function failuresIn(emulator: Emulator): Promise<string[]> {
  const logs = (operation: string, input: object) => call(emulator, 'logs', `Logs_20140328.${operation}`, input);
  const { logGroups, nextToken } = await logs('DescribeLogGroups', { limit: 50 });
  if (nextToken) throw new Error('There are more log groups than one page contains.');
  const lines: string[] = [];
  for (const { logGroupName } of logGroups) {
    const { events, nextToken: more } = await logs('FilterLogEvents', { logGroupName });
    if (more) throw new Error(`${logGroupName} has more events than one page contains.`);
    for (const { message } of events) lines.push(...message.split('\n'));
  }
  return lines.filter((line) => /"level":"ERROR"|AccessDenied|not authorized to perform/.test(line));
}

/** The calls that the emulator denied a role. */
export const denialsIn = (emulator: Emulator): string[] =>
  emulator
    .log()
    .split('\n')
    .filter((line) => line.includes(' denied '));

/** Denies a role every call from now on. */
export async function denyAll({ endpoint, variables }: Emulator, RoleName: string): Promise<void> {
  const Statement = [{ Effect: 'Deny', Action: '*', Resource: '*' }];
  const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
  const input = { Action: 'PutRolePolicy', Version: '2010-05-08', RoleName, PolicyName: 'DenyAll', PolicyDocument };
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { Authorization: authorization(variables, 'iam') },
    body: new URLSearchParams(input),
  });
  if (!response.ok) throw new Error(await response.text());
}
