import { DomainName, EndpointAccessMode, EndpointType, type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { Construct } from 'constructs';
import { pinLogicalId } from './logical-ids.ts';
import type { Settings } from './settings.ts';

/** TLS 1.3 only (API Gateway security policies). */
export const SECURITY_POLICY = SecurityPolicy.TLS13_1_3_2025_09;

/** Adds a custom domain for the API with the same TLS policy, and returns the target for its DNS record. */
export function addDomain(
  scope: Construct,
  restApi: RestApi,
  { name, certificateArn }: NonNullable<Settings['domain']>,
) {
  const domain = new DomainName(scope, 'Domain', {
    domainName: name,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SECURITY_POLICY,
    endpointAccessMode: EndpointAccessMode.STRICT,
  });
  pinLogicalId(domain, 'Domain');
  pinLogicalId(domain.addBasePathMapping(restApi), 'BasePath');
  return domain.domainNameAliasDomainName;
}
