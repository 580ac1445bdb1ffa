/** A CloudWatch metric. Its dimensions are part of its identity. */
export interface Metric {
  namespace: string;
  name: string;
  dimensions: Readonly<Record<string, string>>;
}

export type Publish = (metric: Metric, value: number) => void;

/** The values of a request for the access log, by the names of `$context`. */
export type AccessContext = Record<string, string | number | undefined>;

/**
 * What AWS reports to CloudWatch. `npm start` discards it, so that it runs with any alarm. Tests evaluate the alarms of the template
 * with it.
 */
export interface Monitoring {
  readonly put: Publish;
  /** Receives what a function printed. */
  log(functionId: string, text: string): void;
  /** Receives a request that the API has responded to. */
  request(access: AccessContext): void;
  /** Adds a function that reports what AWS samples once per minute. */
  readonly everyMinute: (sample: () => void) => void;
}

export const NO_MONITORING: Monitoring = { put() {}, log() {}, request() {}, everyMinute() {} };
