import { DomainName, EndpointAccessMode, EndpointType, type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import type { Construct } from 'constructs';
import { pinLogicalId } from './logical-ids.ts';
import type { Settings } from './settings.ts';

/** TLS 1.3 only (API Gateway security policies). */
export const SECURITY_POLICY = SecurityPolicy.TLS13_1_3_2025_09;

/**
 * Adds a custom domain for the API with the same TLS policy, and a DNS record if the settings contain the zone. Otherwise returns
 * the target for a record.
 */
export function addDomain(scope: Construct, restApi: RestApi, settings: Settings): string | undefined {
  const { domainName, certificateArn, hostedZoneId, hostedZoneName } = settings;
  if (domainName === '') return undefined;
  const domain = new DomainName(scope, 'Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SECURITY_POLICY,
    endpointAccessMode: EndpointAccessMode.STRICT,
  });
  pinLogicalId(domain, 'Domain');
  pinLogicalId(domain.addBasePathMapping(restApi), 'BasePath');
  if (hostedZoneId === '') return domain.domainNameAliasDomainName;
  const zone = HostedZone.fromHostedZoneAttributes(scope, 'Zone', { hostedZoneId, zoneName: hostedZoneName });
  const record = new ARecord(scope, 'Record', {
    zone,
    recordName: `${domainName}.`,
    target: RecordTarget.fromAlias(new ApiGatewayDomain(domain)),
  });
  pinLogicalId(record, 'DomainRecord');
  return undefined;
}
