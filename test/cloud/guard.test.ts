import { beforeAll, describe, expect, it } from 'vitest';
import { outputsOf, physicalIds, stackOf } from './account.ts';
import { STACK } from './checkout.ts';
import { type Account, openAccount } from './deployed.ts';

const NAME = 'api.example.com';
const OTHER = {
  domain: { name: NAME, certificateArn: 'arn:aws:acm:us-east-1:000000000000:certificate/0c1d2e3f' },
  alarms: { email: 'ops@example.com' },
};
const TO_OTHER = ['--parameters', `ConfirmDomain=${NAME}`, '--parameters', 'ConfirmAlarms=ops@example.com'];
const BACK = ['--parameters', 'ConfirmDomain=none', '--parameters', 'ConfirmAlarms=none'];

describe('a deployment that changes settings', () => {
  let account: Account;
  let [withoutFile, first, other]: string[] = [];
  beforeAll(async () => {
    account = await openAccount();
    const { checkout } = account;
    withoutFile = await checkout.synthesize(undefined);
    first = await checkout.synthesize({});
    other = await checkout.synthesize(OTHER);
    expect(await deploy(first)).toBe('');
  });

  /** Deploys. Returns the reasons for which CloudFormation rejected it, or nothing. */
  async function deploy(assembly = '', args: readonly string[] = []): Promise<string> {
    const { status, output } = await account.checkout.deploy(assembly, ...args);
    return status === 0 ? '' : output;
  }

  it('is rejected without a settings file', async () => {
    expect(await deploy(withoutFile)).toContain('There is no deployment.json');
  });

  it('is rejected before it changes a resource, until each change is confirmed', async () => {
    const before = await physicalIds(account.emulator);
    expect(await deploy(other)).toMatch(/--parameters Confirm(Domain|Alarms)=/);
    expect(await deploy(other, TO_OTHER.slice(0, 2))).toContain('--parameters ConfirmAlarms=ops@example.com');
    expect(await physicalIds(account.emulator)).toEqual(before);
    expect(await deploy(other, TO_OTHER)).toBe('');
    expect((await outputsOf(account.emulator)).BaseUrl).toBe(`https://${NAME}`);
  });

  it('needs no confirmation again', async () => {
    expect(await deploy(other, ['--force'])).toBe('');
  });

  it('needs a confirmation to change them back', async () => {
    expect(await deploy(first)).toContain('ConfirmDomain=none');
    expect(await deploy(first, BACK)).toBe('');
    expect((await outputsOf(account.emulator)).BaseUrl).toMatch(/^https:\/\/\w+\.execute-api\./);
  });

  it('cannot delete the stack', async () => {
    const { status, output } = await account.checkout.run('npx', 'cdk', 'destroy', '--app', first ?? '', '--force');
    expect([status, output]).toEqual([1, expect.stringMatching(/TerminationProtection|termination protection/i)]);
    expect((await stackOf(account.emulator))?.StackName).toBe(STACK);
  });
});
