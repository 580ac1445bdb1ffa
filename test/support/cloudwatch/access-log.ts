import type { AccessContext, Monitoring } from '../../../infra/local/monitoring.ts';
import type { Template } from '../../../infra/local/template.ts';

interface StageProperties {
  AccessLogSetting: { DestinationArn: string; Format: string };
}

/**
 * Records each request in the metrics of the API and in the access log of its stage. A variable without a value is `-`. API
 * Gateway "counts modified gateway response status codes as 4XXError errors" (API Gateway Developer Guide, "Amazon API Gateway
 * dimensions and metrics"). The local stack applies this to every response of the gateway, which is the worst case for an alarm.
 */
export function requestRecorder(
  template: Pick<Template, 'ofType'>,
  cloudWatch: Pick<Monitoring, 'put' | 'log'>,
): (context: AccessContext) => void {
  const [api] = template.ofType<{ Name: string }>('AWS::ApiGateway::RestApi');
  const [stage] = template.ofType<StageProperties>('AWS::ApiGateway::Stage');
  const { DestinationArn = '', Format = '' } = stage?.properties.AccessLogSetting ?? {};
  const dimensions = { ApiName: api?.properties.Name ?? '' };
  const count = (name: string, value: number) =>
    cloudWatch.put({ namespace: 'AWS/ApiGateway', name, dimensions }, value);

  return (context) => {
    const isOfGateway = context['error.responseType'] !== undefined;
    const status = Number(context.status);
    count('Count', 1);
    count('4XXError', isOfGateway || (status >= 400 && status < 500) ? 1 : 0);
    count('5XXError', !isOfGateway && status >= 500 ? 1 : 0);
    count('Latency', Number(context.responseLatency));
    const line = Format.replace(/\$context\.([\w.]+)/g, (_, name) =>
      JSON.stringify(String(context[name] ?? '-')).slice(1, -1),
    );
    cloudWatch.log(DestinationArn.split(':').at(-1) ?? '', line);
  };
}
