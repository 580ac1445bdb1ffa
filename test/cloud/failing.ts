import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STACK } from './checkout.ts';

/** The part of the message of a deployment with `failing`. */
export const CAUSE = 'Failing';

/** Adds an alarm without its required threshold to an assembly, which CloudFormation creates after all other resources. */
export function failing(assembly: string): string {
  const file = join(assembly, `${STACK}.template.json`);
  const template = JSON.parse(readFileSync(file, 'utf8'));
  const DependsOn = Object.keys(template.Resources).filter((id) => !template.Resources[id].Condition);
  const Properties = { Namespace: 'None', MetricName: 'None', ComparisonOperator: 'GreaterThanThreshold' };
  template.Resources[CAUSE] = { Type: 'AWS::CloudWatch::Alarm', Properties, DependsOn };
  writeFileSync(file, JSON.stringify(template));
  return assembly;
}
