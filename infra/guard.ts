import { CfnParameter, CfnRule, Fn, type Stack } from 'aws-cdk-lib';
import type { Settings } from './settings.ts';

type Identify<Name extends keyof Settings> = (settings: Pick<Settings, Name>) => string;

/**
 * Whether a deployment can change a setting by mistake, for each setting. A setting that protects something has a value that
 * identifies it: without the setting, an address, data, logs, alarms or a filter would be gone, or another API would lose its logs.
 * The others are `null`: they tune the service, or name what a customer sees, and the next deployment corrects them.
 */
export const CONFIRMED: { [Name in keyof Settings]: Identify<Name> | null } = {
  table: ({ table }) => table?.name ?? 'own',
  domain: ({ domain }) => domain?.name ?? 'none',
  webAclArn: ({ webAclArn }) => webAclArn ?? 'none',
  alarms: ({ alarms }) => (!alarms ? 'none' : 'topicArn' in alarms ? alarms.topicArn : alarms.email),
  egress: ({ egress }) => (typeof egress === 'object' ? egress.vpcId : (egress ?? 'shared')),
  encryption: ({ encryption }) => encryption,
  dataRetention: ({ dataRetention }) => dataRetention,
  logRetentionDays: ({ logRetentionDays }) => String(logRetentionDays),
  cloudWatchRole: ({ cloudWatchRole }) => cloudWatchRole,
  stackName: null, // another name is another stack
  senderEmail: null,
  throttles: null,
  deliverConcurrency: null,
  batchingSeconds: null,
  securityContact: null,
};

/**
 * Lets CloudFormation reject a deployment, before it changes a resource, if a confirmed setting differs from the last deployment of
 * the stack, or if there is no settings file. The parameters of the stack contain the settings of its last deployment: a
 * deployment keeps the value of each parameter, unless it passes another one. Rules compare them with the template (CloudFormation
 * User Guide, "Rules"). Synthesis therefore needs no access to AWS.
 */
export function addGuard(stack: Stack, settings: Settings | undefined): void {
  const compare = (parameter: CfnParameter, value: string, assertDescription: string) =>
    new CfnRule(stack, `Has${parameter.node.id}`, {
      assertions: [{ assert: Fn.conditionEquals(parameter.valueAsString, value), assertDescription }],
    });
  if (!settings) {
    const allowedValues = ['missing'];
    const file = new CfnParameter(stack, 'DeploymentFile', { default: 'missing', allowedValues });
    compare(file, 'exists', 'There is no deployment.json. To write one, run npm run init.');
    return;
  }
  for (const [setting, identify] of Object.entries(CONFIRMED)) {
    if (!identify) continue;
    const value = identify(settings);
    const id = confirmationOf(setting);
    const description = 'The value of the last deployment. A deployment with another one needs this parameter';
    const parameter = new CfnParameter(stack, id, { default: value, description });
    const text = `The last deployment had other settings of ${setting}. npx cdk diff lists the changed parameters of all settings.`;
    compare(parameter, value, `${text} If deployment.json is right, add --parameters ${id}=${value}`);
  }
}

/** The parameter that confirms a change of a setting. */
export const confirmationOf = (setting: string): string => `Confirm${setting[0]?.toUpperCase()}${setting.slice(1)}`;
