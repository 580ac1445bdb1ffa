import { CfnResource } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Sets a logical id that does not depend on the position of the construct in the tree. CloudFormation replaces a resource whose
 * logical id changes, which loses its data or address. `test/stack/long/upgrades` compares them with the previous release.
 */
export function pinLogicalId(construct: IConstruct, logicalId: string): void {
  const resource = CfnResource.isCfnResource(construct) ? construct : construct.node.defaultChild;
  if (!CfnResource.isCfnResource(resource)) throw new Error(`${construct.node.path} has no resource of its own`);
  resource.overrideLogicalId(logicalId);
}
