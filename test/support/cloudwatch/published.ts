import { BY_PROJECT, BY_STATUS } from '../../../infra/local/../../lib/deployment.ts';
import { EVENT_COUNTS, type Metric } from '../../../infra/local/monitoring.ts';
import { existingTable, type Template } from '../../../infra/local/template.ts';
import type { MetricFilterProperties } from './logs.ts';

interface Mapping {
  FunctionName: string;
  EventSourceArn: string;
  MetricsConfig?: { Metrics: string[] };
}
interface Table {
  GlobalSecondaryIndexes?: { IndexName: string }[];
}

const metrics = (namespace: string, names: readonly string[], dimensions: Record<string, string>): Metric[] =>
  names.map((name) => ({ namespace, name, dimensions }));

/**
 * The metrics that AWS publishes for the resources of the template, according to the guide of each service, and the metrics of
 * its metric filters. The list contains only metrics for alarms and the dashboard.
 */
export function publishedMetrics(template: Pick<Template, 'ofType' | 'ref'>): Metric[] {
  const mappings = template.ofType<Mapping>('AWS::Lambda::EventSourceMapping');
  const streams = mappings.filter(({ properties }) => properties.EventSourceArn.includes('/stream/'));
  const counted = mappings.filter(({ properties }) => properties.MetricsConfig?.Metrics.includes('EventCount'));
  return [
    ...template
      .ofType('AWS::Lambda::Function')
      .flatMap(({ id: FunctionName }) =>
        metrics('AWS/Lambda', ['Invocations', 'Errors', 'Throttles', 'Duration'], { FunctionName }),
      ),
    ...streams.flatMap(({ properties: { FunctionName } }) => metrics('AWS/Lambda', ['IteratorAge'], { FunctionName })),
    ...counted.flatMap(({ id }) => metrics('AWS/Lambda', EVENT_COUNTS, { EventSourceMappingUUID: id })),
    ...template
      .ofType('AWS::SQS::Queue')
      .flatMap(({ id: QueueName }) =>
        metrics('AWS/SQS', ['ApproximateNumberOfMessagesVisible', 'ApproximateAgeOfOldestMessage'], { QueueName }),
      ),
    ...template
      .ofType<{ Name: string }>('AWS::ApiGateway::RestApi')
      .flatMap(({ properties: { Name: ApiName } }) =>
        metrics('AWS/ApiGateway', ['Count', '4XXError', '5XXError', 'Latency'], { ApiName }),
      ),
    ...tablesOf(template).flatMap(({ TableName, indexes }) =>
      [{ TableName }, ...indexes.map((name) => ({ TableName, GlobalSecondaryIndexName: name }))].flatMap((dimensions) =>
        metrics('AWS/DynamoDB', ['ReadThrottleEvents', 'WriteThrottleEvents'], dimensions),
      ),
    ),
    ...metrics('AWS/SES', ['Reputation.BounceRate', 'Reputation.ComplaintRate'], {}),
    ...template
      .ofType<MetricFilterProperties>('AWS::Logs::MetricFilter')
      .flatMap(({ properties }) => properties.MetricTransformations)
      .flatMap(({ MetricNamespace, MetricName }) => metrics(MetricNamespace, [MetricName], {})),
  ];
}

/** The tables of the template, or an existing one with the indexes of the service. */
function tablesOf(template: Pick<Template, 'ofType' | 'ref'>): { TableName: string; indexes: string[] }[] {
  const existing = existingTable(template);
  if (existing) return [{ TableName: existing, indexes: [BY_PROJECT, BY_STATUS] }];
  return template.ofType<Table>('AWS::DynamoDB::Table').map(({ id, properties }) => ({
    TableName: template.ref(id),
    indexes: (properties.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName),
  }));
}
