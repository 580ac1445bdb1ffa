import type { Request, Response } from './requests.ts';
import type { SimulatedService } from './service.ts';
import type { World } from './world.ts';

/** The maximum number of tries. A client repeats a request without a response under the same key. */
const MAX_TRIES = 8;

/** The API client of customers. */
export class Client {
  readonly world: World;
  readonly service: SimulatedService;
  private readonly seed: number;
  private names = 0;

  constructor(world: World, service: SimulatedService, seed: number) {
    this.world = world;
    this.service = service;
    this.seed = seed;
  }

  /** Sends a request. With an idempotency key, repeats it until there is a response. */
  send(request: Request, isRepeated = true): Promise<Response> {
    if (!isRepeated) return this.attempt(request);
    const idempotencyKey = `key ${this.names++}`;
    return this.untilKnown(() => this.attempt({ ...request, idempotencyKey }));
  }

  /** Repeats an action until its result is known, or returns `null`. */
  async untilKnown<Result>(act: () => Promise<Result | null>): Promise<Result | null> {
    for (let tries = 1; ; tries++) {
      const result = await act();
      if (result !== null || tries === MAX_TRIES) return result;
      await this.pass(this.world.pick([1000, 31_000]));
    }
  }

  /** Sometimes performs the action several times concurrently. */
  async several(act: () => Promise<unknown>): Promise<void> {
    await Promise.all(Array.from({ length: this.world.pick([1, 1, 2]) }, act));
  }

  pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.world.after(ms, resolve));
  }

  /** Creates a unique text. */
  marker(): string {
    return `marker-${this.seed}-${this.names++}`;
  }

  private async attempt(request: Request): Promise<Response> {
    const response = await this.service.request(request);
    this.world.tell(
      () => `  a client gets ${response?.status ?? 'no response'} to ${request.method} ${request.resource}`,
    );
    return response === null || response.status >= 500 || isInProgress(response) ? null : response;
  }
}

/** Whether a client must wait, because another run of its request has not ended. */
export const isInProgress = ({ status, body }: { status: number; body: { code?: string } }): boolean =>
  status === 409 && body?.code === 'idempotency_in_progress';
