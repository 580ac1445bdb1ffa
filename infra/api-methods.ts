import { Duration } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { operationsByPath } from '../lib/api/operations.ts';
import { CORS_ALLOWED, PREFLIGHT_SECONDS } from '../lib/http/headers.ts';
import type { Operation } from '../lib/http/operation.ts';
import { allowsCrossOrigin, methodsOf } from '../lib/http/route.ts';
import type { Functions } from './functions.ts';

const PUBLIC: apigateway.MethodOptions = { authorizationType: apigateway.AuthorizationType.NONE };

/**
 * Adds the methods of lib/api/operations.ts below the root, and HEAD to every GET. The authorizer protects all methods except
 * public operations and preflight requests. Unsupported methods of a path need a credential too, because API Gateway cannot
 * throttle `ANY`. The function of the pages responds to them with 405 and `Allow`. A mock integration would choose its template
 * by content type.
 */
export function addMethods(root: apigateway.IResource, authorizer: apigateway.IAuthorizer, functions: Functions): void {
  const integrations = new Map(
    Object.entries(functions).map(([name, fn]) => [
      name,
      new apigateway.LambdaIntegration(fn, { scopePermissionToMethod: false }),
    ]),
  );
  // The authorizer returns the API key of a share.
  const behindAuthorizer = { authorizationType: apigateway.AuthorizationType.CUSTOM, authorizer, apiKeyRequired: true };
  for (const [path, operations] of operationsByPath) {
    const resource = root.resourceForPath(path);
    for (const operation of operations) {
      const isPublic = operation.callers === 'anyone';
      for (const name of methodsOf(operation)) {
        const integration = integrations.get(operation.function);
        resource.addMethod(name, integration, isPublic ? PUBLIC : behindAuthorizer);
      }
    }
    addPreflight(resource, operations.filter(allowsCrossOrigin));
    resource.addMethod('ANY', integrations.get('dashboard'), behindAuthorizer);
  }
}

/** The response to a preflight request from another origin (Fetch Standard, "CORS-preflight fetch"). */
function addPreflight(resource: apigateway.IResource, operations: readonly Operation[]): void {
  if (operations.length === 0) return;
  const preflight = resource.addCorsPreflight({
    allowOrigins: ['*'],
    allowMethods: operations.map(({ method }) => method),
    allowHeaders: CORS_ALLOWED,
    maxAge: Duration.seconds(PREFLIGHT_SECONDS),
  });
  // API Gateway creates this response from text (API Gateway Developer Guide, "Content type conversions").
  const cfn = preflight.node.defaultChild as apigateway.CfnMethod;
  cfn.addPropertyOverride('Integration.ContentHandling', 'CONVERT_TO_TEXT');
}
