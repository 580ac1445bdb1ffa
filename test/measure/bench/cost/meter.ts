import { READS } from '../../../../infra/local/services/dynamodb-request.ts';
import type { Service, ServiceRequest, ServiceResponse } from '../../../../infra/local/services/endpoints.ts';
import type { LocalStack } from '../../../../infra/local/stack.ts';
import { durationMs, MESSAGE_CPU_MS, pollRequests } from './prices.ts';
import { NOTHING, type Usage } from './usage.ts';

const CHUNK_BYTES = 64 * 1024;
/** CloudWatch Logs bills each event with its timestamp and framing. */
const LOG_EVENT_BYTES = 26;
/** The overhead of an HTTP request or response: status line, headers and TLS records. */
const HTTP_BYTES = 600;
const FAN_OUT_GB = 0.5;

/**
 * The stats gather changes for half a minute, which passes too fast on this stack. Their usage is not billed
 * to events. `name` is the id of a function, or the name of its role.
 */
export const isOfStats = (name: string): boolean => name.startsWith('Stats');

/** Counts the usage of a local stack that AWS would bill. */
export class Meter {
  private usage: Usage = { ...NOTHING };
  /** The number of invocations that run or wait for an execution environment. */
  running = 0;

  constructor(stack: LocalStack) {
    const { endpoints } = stack;
    endpoints.wrap('dynamodb', (service) => this.capacityOf(service));
    endpoints.wrap('sqs', (service) => (request) => {
      this.usage.sqsRequests += chunksOf(request.body);
      if (request.principal.startsWith('DeliveryFanOut')) {
        const { Entries } = request.input as { Entries: object[] };
        this.usage.gbSeconds += FAN_OUT_GB * ((Entries.length * MESSAGE_CPU_MS) / 1000);
      }
      return service(request);
    });
    endpoints.wrap('scheduler', (service) => (request) => {
      this.usage.schedules++;
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
      const uncounted = fn.invoke.bind(fn);
      const invoke: typeof fn.invoke = (event) => {
        this.running++;
        return uncounted(event).finally(() => this.running--);
      };
      fn.invoke = (...args) => {
        if (isOfStats(id)) return invoke(...args);
        this.usage.invocations++;
        this.usage.gbSeconds += ((memory.get(id) ?? 0) / 1024) * (durationMs(id, recordsOf(args[0])) / 1000);
        if (polled.has(id)) this.usage.sqsRequests += pollRequests(recordsOf(args[0]));
        return invoke(...args);
      };
    }
  }

  /** Counts the output of a function. */
  log(text: string): void {
    for (const line of text.split('\n')) {
      if (line === '') continue;
      this.usage.logBytes += Buffer.byteLength(line) + LOG_EVENT_BYTES;
    }
  }

  /** Counts an API call, with the size of its response and of its line in the access log. */
  request(responseBytes: number, accessLogBytes: number): void {
    this.usage.apiRequests++;
    this.usage.outBytes += responseBytes + HTTP_BYTES;
    this.usage.logBytes += accessLogBytes + LOG_EVENT_BYTES;
  }

  /** Counts a delivery to an endpoint. */
  delivered(bodyBytes: number): void {
    this.usage.outBytes += bodyBytes + HTTP_BYTES;
  }

  /** Returns the usage since the last call. */
  take(): Usage {
    const { usage } = this;
    this.usage = { ...NOTHING };
    return usage;
  }

  private capacityOf(service: Service): Service {
    return async (request: ServiceRequest): Promise<ServiceResponse> => {
      if (isOfStats(request.principal)) return service(request);
      const body = JSON.stringify({ ...request.input, ReturnConsumedCapacity: 'TOTAL' });
      const headers = { ...request.headers, 'content-length': String(Buffer.byteLength(body)) };
      const response = await service({ ...request, headers, body });
      const { ConsumedCapacity = [] } = JSON.parse(String(response.body));
      const what = READS.has(request.action) ? 'readUnits' : 'writeUnits';
      for (const { CapacityUnits = 0 } of [ConsumedCapacity].flat()) this.usage[what] += CapacityUnits;
      if (request.action === 'Query') this.usage.queries++;
      return response;
    };
  }
}

const recordsOf = (event: unknown): number => (event as { Records?: object[] } | null)?.Records?.length ?? 0;
const chunksOf = (body: string): number => Math.ceil(Buffer.byteLength(body) / CHUNK_BYTES);
