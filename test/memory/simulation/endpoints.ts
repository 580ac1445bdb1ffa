/** The behavior of an endpoint. A wavering endpoint responds or fails. */
export const BEHAVIOURS = ['responds', 'fails', 'hangs', 'resets', 'dawdles', 'wavers'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** The outcome of a POST for each behavior. */
export const OUTCOMES: Record<
  Exclude<Behaviour, 'wavers'>,
  [statusCode: number | null, error: string | null, durationMs: number]
> = {
  responds: [200, null, 50],
  dawdles: [200, null, 3000],
  fails: [500, 'status_not_2xx', 50],
  resets: [null, 'connection_reset', 20],
  hangs: [null, 'timeout', 5000],
};

/** A POST that reached an endpoint. */
export interface Received {
  step: number;
  /** The start of the POST by the clock of the world. */
  at: number;
  url: string;
  eventId: string;
  /** The newest run among the messages of its batch with this attempt. */
  run: number;
  attempt: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** The times when its process took tokens of the rate limit of each webhook, by the clock of the process. */
  tokensAt: ReadonlyMap<string, number>;
  /** The step at which its process started to read its records. */
  readAt: number;
}
