import { CfnResource, Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Gives the resource of a construct a logical id that does not depend on its place in the tree. CloudFormation replaces a
 * resource whose logical id changes, and its data or its address is lost. `test/infra/upgrades.test.ts` lists the ids.
 */
export function pinLogicalId(construct: IConstruct, logicalId: string): void {
  resourceOf(construct).overrideLogicalId(logicalId);
}

/** The logical id in the template. `Stack.getLogicalId` ignores pinned ids. */
export const logicalIdOf = (construct: IConstruct): string =>
  Stack.of(construct).resolve(resourceOf(construct).logicalId);

function resourceOf(construct: IConstruct): CfnResource {
  const resource = CfnResource.isCfnResource(construct) ? construct : construct.node.defaultChild;
  if (!CfnResource.isCfnResource(resource)) throw new Error(`${construct.node.path} has no resource of its own`);
  return resource;
}
