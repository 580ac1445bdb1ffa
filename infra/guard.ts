import { CfnParameter, CfnRule, Fn, type Stack } from 'aws-cdk-lib';
import type { Settings } from './settings.ts';

/**
 * The settings that a deployment must not change by mistake, because the change takes an address, data or alarms away. Each has a
 * value that identifies it.
 */
const CONFIRMED = {
  Table: ({ table }: Settings) => table?.name ?? 'own',
  Domain: ({ domain }: Settings) => domain?.name ?? 'none',
  Alarms: ({ alarms }: Settings) => (!alarms ? 'none' : 'topicArn' in alarms ? alarms.topicArn : 'email'),
  Egress: ({ egress }: Settings) => (typeof egress === 'object' ? egress.vpcId : (egress ?? 'shared')),
  Encryption: ({ encryption }: Settings) => encryption,
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
  for (const [name, identify] of Object.entries(CONFIRMED)) {
    const value = identify(settings);
    const id = `Confirm${name}`;
    const description = 'The value of the last deployment. A deployment with another one needs this parameter';
    const parameter = new CfnParameter(stack, id, { default: value, description });
    const setting = `${name[0]?.toLowerCase()}${name.slice(1)}`;
    const text = `The last deployment had other settings of ${setting}. If deployment.json is right, add`;
    compare(parameter, value, `${text} --parameters ${id}=${value}`);
  }
}
