import { CfnResource } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Gives the resource of a construct a logical id that does not depend on its place in the tree. CloudFormation replaces a
 * resource whose logical id changes, and with it loses its data or its address. `test/infra/upgrades.test.ts` lists the ids.
 */
export function pinLogicalId(construct: IConstruct, logicalId: string): void {
  const resource = CfnResource.isCfnResource(construct) ? construct : construct.node.defaultChild;
  if (!CfnResource.isCfnResource(resource)) throw new Error(`${construct.node.path} has no resource of its own`);
  resource.overrideLogicalId(logicalId);
}
