import type { Service, ServiceRequest, ServiceResponse } from '../../../infra/local/services/endpoints.ts';
import type { LocalStack } from '../../../infra/local/stack.ts';
import { DURATIONS_MS } from './prices.ts';
import { NOTHING, type Usage } from './usage.ts';

const CHUNK_BYTES = 64 * 1024;
/** CloudWatch Logs bills each event with its timestamp and framing. */
const LOG_EVENT_BYTES = 26;
/** Of an HTTP response or request: status line, headers, TLS records. */
const HTTP_BYTES = 600;
const READS = new Set(['GetItem', 'BatchGetItem', 'Query']);

/** Counts what AWS would bill for what happens on a local stack. */
export class Meter {
  private usage: Usage = { ...NOTHING };
  /** Write units by partition key. */
  readonly partitions = new Map<string, number>();
  /** Names of the custom metrics that were written. */
  readonly metrics = new Set<string>();

  constructor(stack: LocalStack) {
    const { endpoints } = stack;
    endpoints.wrap('dynamodb', (service) => this.capacityOf(service));
    endpoints.wrap('sqs', (service) => (request) => {
      this.usage.sqsRequests += chunksOf(request.body);
      return service(request);
    });
    endpoints.wrap('scheduler', (service) => (request) => {
      if (request.method === 'POST') this.usage.schedules++;
      return service(request);
    });
    endpoints.wrap('ses', (service) => (request) => {
      this.usage.emails++;
      return service(request);
    });
    const polled = new Set(
      stack.template
        .ofType<{ FunctionName: string; EventSourceArn: string }>('AWS::Lambda::EventSourceMapping')
        .filter(({ properties }) => properties.EventSourceArn.includes(':sqs:'))
        .map(({ properties }) => properties.FunctionName),
    );
    const memory = new Map(
      stack.template
        .ofType<{ MemorySize: number }>('AWS::Lambda::Function')
        .map(({ id, properties }) => [id, properties.MemorySize]),
    );
    for (const [id, fn] of stack.functions) {
      const invoke = fn.invoke.bind(fn);
      fn.invoke = (...args) => {
        this.usage.invocations++;
        this.usage.gbSeconds += ((memory.get(id) ?? 0) / 1024) * (durationOf(id) / 1000);
        if (polled.has(id)) this.usage.sqsRequests += 2; // the batch is received, and deleted
        return invoke(...args);
      };
    }
  }

  /** What a function prints. */
  log(text: string): void {
    for (const line of text.split('\n')) {
      if (line === '') continue;
      this.usage.logBytes += Buffer.byteLength(line) + LOG_EVENT_BYTES;
      const { _aws } = JSON.parse(line) as { _aws?: { CloudWatchMetrics: { Metrics: { Name: string }[] }[] } };
      for (const { Metrics } of _aws?.CloudWatchMetrics ?? []) for (const { Name } of Metrics) this.metrics.add(Name);
    }
  }

  /** A call of the API, with the length of its response and of the line in the access log. */
  request(responseBytes: number, accessLogBytes: number): void {
    this.usage.apiRequests++;
    this.usage.outBytes += responseBytes + HTTP_BYTES;
    this.usage.logBytes += accessLogBytes + LOG_EVENT_BYTES;
  }

  /** What an endpoint got. */
  delivered(bodyBytes: number): void {
    this.usage.outBytes += bodyBytes + HTTP_BYTES;
  }

  /** The usage since it was taken last. */
  take(): Usage {
    const taken = this.usage;
    this.usage = { ...NOTHING };
    return taken;
  }

  private capacityOf(service: Service): Service {
    return async (request: ServiceRequest): Promise<ServiceResponse> => {
      const body = JSON.stringify({ ...JSON.parse(request.body), ReturnConsumedCapacity: 'TOTAL' });
      const headers = { ...request.headers, 'content-length': String(Buffer.byteLength(body)) };
      const response = await service({ ...request, headers, body });
      const action = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
      const { ConsumedCapacity = [] } = JSON.parse(response.body);
      const units = [ConsumedCapacity].flat().reduce((total, { CapacityUnits = 0 }) => total + CapacityUnits, 0);
      if (READS.has(action)) this.usage.readUnits += units;
      else {
        this.usage.writeUnits += units;
        this.writtenTo(request.body, units);
      }
      return response;
    };
  }

  private writtenTo(body: string, units: number): void {
    const { Key, Item, TransactItems = [] } = JSON.parse(body);
    const keys = [{ Key, Item }, ...TransactItems.flatMap(Object.values)]
      .map((write) => (write.Key ?? write.Item)?.pk?.S as string | undefined)
      .filter((pk) => pk !== undefined);
    for (const pk of keys) this.partitions.set(pk, (this.partitions.get(pk) ?? 0) + units / keys.length);
  }
}

const durationOf = (id: string): number => DURATIONS_MS.find(([name]) => name.test(id))?.[1] ?? 0;
const chunksOf = (body: string): number => Math.ceil(Buffer.byteLength(body) / CHUNK_BYTES);
