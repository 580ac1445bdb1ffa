import { type Client, isInProgress } from './client.ts';
import type { Request, Response } from './requests.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Pauses between requests of a replica, in which a device sleeps or has no connection. */
export const PAUSES_MS = [
  MINUTE_MS,
  HOUR_MS,
  13 * HOUR_MS,
  25 * HOUR_MS,
  3 * DAY_MS,
  6 * DAY_MS,
  9 * DAY_MS,
  90 * DAY_MS,
];

const MAX_TRIES = 8;
const LOST_RATE = 0.1;
/** The statuses of a request without an effect, which works later: the project is suspended, or over its budget of deliveries. */
const TOO_EARLY: readonly number[] = [403, 429];
/** The length at which a text in the story ends, such as a cursor. */
const MAX_TOLD = 16;

/** The connection of a replica, which loses responses. Each request is repeated unchanged. */
export class Wire {
  private readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Sends a request until a response arrives. `observe` receives also the responses that are lost. A request that must not be
   * repeated has an unknown outcome after its first try.
   */
  async untilKnown(
    request: Request,
    isRepeatable: boolean,
    observe: (response: NonNullable<Response>) => void,
  ): Promise<Response> {
    const { world } = this.client;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const response = await this.attempt(request, observe);
      const isTooEarly = response !== null && TOO_EARLY.includes(response.status);
      const isKnown = response !== null && response.status < 500 && !isTooEarly && !isInProgress(response);
      if (isKnown) return response;
      if (!isRepeatable && !isTooEarly) return null;
      await this.client.pass(world.pick([100, 1000, 31_000, 10 * MINUTE_MS]));
    }
    return null;
  }

  /** Sends a request. Some responses are lost, and some clients stop waiting while the request runs. */
  private async attempt(request: Request, observe: (response: NonNullable<Response>) => void): Promise<Response> {
    const { world, service } = this.client;
    const running = service.request(request).then((response) => {
      world.tell(() => `  a replica gets ${response?.status} ${told(response?.body)} to ${told(request)}`);
      if (response) observe(response);
      return response;
    });
    if (!world.chance(LOST_RATE)) return running;
    const isImpatient = world.chance(0.5);
    await (isImpatient ? this.client.pass(world.pick([20, 100, 1000])) : running);
    world.tell(() => '  a response is lost');
    return null;
  }

  /** Time passes, and the table deletes expired items. */
  async pass(ms: number): Promise<void> {
    await this.client.pass(ms);
    if (this.client.world.chance(0.7)) this.client.service.expire();
  }
}

/** The content of a request or response, with its cursors cut. */
function told(message: Partial<Request> | undefined): string {
  const { path, body = message } = message ?? {};
  return JSON.stringify(path ? { ...path, ...body } : body, (_, value) =>
    typeof value === 'string' && value.length > MAX_TOLD ? `${value.slice(0, MAX_TOLD)}…` : value,
  );
}
