import { SESClient, VerifyEmailIdentityCommand } from '@aws-sdk/client-ses';
import { beforeAll, expect } from 'vitest';
import type { SettingsInput } from '../../infra/settings.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook } from '../support/requests.ts';
import { type CreatedProject, projectOf } from '../support/service.ts';
import { callerOf, clientOf, type ServedApi, servedApi } from './account.ts';
import { type Checkout, checkOut, STACK } from './checkout.ts';
import { type Emulator, startEmulator } from './emulator.ts';

/** The sender of `Checkout.synthesize`. */
const SENDER = 'webhooks@example.com';

export type Account = Awaited<ReturnType<typeof openAccount>>;

/** An empty account, in which the CDK can deploy. */
export async function openAccount() {
  const emulator = await startEmulator();
  const checkout = checkOut(emulator);
  await checkout.bootstrap();
  await clientOf(SESClient, emulator).send(new VerifyEmailIdentityCommand({ EmailAddress: SENDER }));
  return { emulator, checkout };
}

/** Deploys, and creates a project with an operator's command. */
export function useDeployment(settings: SettingsInput = {}) {
  let account: Account;
  let api: ServedApi;
  beforeAll(async () => {
    account = await openAccount();
    const { status, output } = await account.checkout.deploy(await account.checkout.synthesize(settings));
    expect(status, output).toBe(0);
    api = await servedApi(account.emulator);
  });
  return {
    get emulator(): Emulator {
      return account.emulator;
    },
    get checkout(): Checkout {
      return account.checkout;
    },
    as: (credential: string | null) => callerOf(api, credential),
    project: (name?: string, email?: string) => createProject(account, api, name, email),
  };
}

/** Creates a project with the command of an operator. */
export async function createProject(
  { checkout }: Account,
  api: ServedApi,
  name = 'Acme',
  email = `${name}@example.com`,
) {
  const options = ['--stack', STACK, '--name', name, '--email', email];
  const created = await checkout.ops('projects', 'create', ...options);
  return projectOf(JSON.parse(created) as CreatedProject, (credential) => callerOf(api, credential));
}

type Project = Awaited<ReturnType<typeof createProject>>;

/** The main job: a token writes a document, and the signed event arrives. */
export async function deliverDocument(project: Project, as: (credential: string) => ReturnType<typeof callerOf>) {
  const live = await project.client('live');
  const receiver = await startReceiver();
  const webhook = await createWebhook(live, receiver.url);
  const grant = { documents: ['org:acme:*'], permissions: ['read', 'write'], ttl: 3600 };
  const { status, body, text } = await live('POST', '/v1/tokens', { body: grant });
  expect(status, text).toBe(201);
  const token = as(body.token);
  const written = await token('PUT', '/v1/documents/org:acme:hello', { body: { fields: { title: 'Hello' } } });
  expect(written.status, written.text).toBe(201);
  const [delivery] = await receiver.until(1);
  return { live, receiver, webhook, token, delivery };
}
