import type { Request, Response } from './requests.ts';
import type { SimulatedService } from './service.ts';
import type { World } from './world.ts';

/** A client sends a request again that it has no response to, under the same key, until it has one; at most so often. */
const MAX_TRIES = 8;

/** How customers call the service. */
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

  /** With an idempotency key, a request is sent again until there is a response; without one, once. */
  send(request: Request, isRepeated = true): Promise<Response> {
    if (!isRepeated) return this.attempt(request);
    const idempotencyKey = `key ${this.names++}`;
    return this.untilKnown(() => this.attempt({ ...request, idempotencyKey }));
  }

  /** Does it again until it is known how it ended; `null` if that never is. */
  async untilKnown<Result>(act: () => Promise<Result | null>): Promise<Result | null> {
    for (let tries = 1; ; tries++) {
      const result = await act();
      if (result !== null || tries === MAX_TRIES) return result;
      await this.pass(this.world.pick([1000, 31_000]));
    }
  }

  /** The same by several at once, now and then. */
  async several(act: () => Promise<unknown>): Promise<void> {
    await Promise.all(Array.from({ length: this.world.pick([1, 1, 2]) }, act));
  }

  pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.world.after(ms, resolve));
  }

  /** A text that is nowhere else. */
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

const isInProgress = ({ status, body }: { status: number; body: { code?: string } }): boolean =>
  status === 409 && body?.code === 'idempotency_in_progress';
