/** What an endpoint does with the next requests. One that wavers responds or fails. */
export const BEHAVIOURS = ['responds', 'fails', 'hangs', 'resets', 'dawdles', 'wavers'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** How a POST to it ends. */
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
  /** When it began, by the world's clock. */
  at: number;
  url: string;
  eventId: string;
  /** The newest run that a message of its batch with this attempt is for. */
  run: number;
  attempt: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** When its process took tokens of the rate limit of each webhook, by the clock of that process. */
  tokensAt: ReadonlyMap<string, number>;
  /** The step at which its process began to read what it refers to. */
  readAt: number;
}
