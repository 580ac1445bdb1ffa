import { invalid, notFound, type Problem } from '../api/problems.ts';
import {
  COUNTERS,
  type Counts,
  countedTypes,
  FIGURES_KEPT_MS,
  figureName,
  latencyPercentile,
  PERIOD_MS,
  type Period,
  startOf,
} from '../delivery/figures.ts';
import { EVENT_TYPES, type EventType } from '../events/types.ts';
import type { CursorSecrets } from '../http/pagination.ts';
import { page } from '../http/pagination.ts';
import type { Handlers } from '../http/serve.ts';
import { iso } from '../schema.ts';
import type { ReadableWebhooks } from './webhook-changes.ts';

export type StatsHandlers = Pick<Handlers<'webhooks'>, 'getStats'>;

export interface StatsDeps {
  webhooks: ReadableWebhooks;
  figures: {
    /** Of the periods that begin from `from` on and before `to`, oldest first. */
    list(
      webhookId: string,
      window: { by: Period; from: number; to: number },
    ): Promise<{ start: number; counts: Counts }[]>;
  };
  cursors: CursorSecrets;
  clock(): number;
}

const DEFAULT_PERIODS: Readonly<Record<Period, number>> = { hour: 24, day: 30 };

/** Rows of one response: about 250 bytes each. */
const MAX_ROWS = 15_000;

/** The figures of webhooks. A page has those of some webhooks, each of them whole. */
export function statsHandlers({ webhooks, figures, cursors, clock }: StatsDeps): StatsHandlers {
  return {
    async getStats(request) {
      const { space, query } = request;
      const { webhook_id: webhookId, type, by = 'hour', to = clock() } = query;
      const from = startOf(by, query.from ?? to - DEFAULT_PERIODS[by] * PERIOD_MS[by]);
      const problem = violationOf(by, from, to);
      if (problem) return problem;
      const only = webhookId === undefined ? undefined : await webhooks.get(space, webhookId);
      if (webhookId !== undefined && !only) return notFound('webhook');
      const periods = Math.ceil((to - from) / PERIOD_MS[by]);
      const limit = Math.max(1, Math.floor(MAX_ROWS / (periods * (type ? 1 : EVENT_TYPES.length))));
      return page(request, cursors, async (_limit, after) => {
        const some = only ? { webhooks: [only], next: undefined } : await webhooks.list(space, limit, after);
        const rows = await Promise.all(
          some.webhooks.map(async ({ id }) => {
            const found = await figures.list(id, { by, from, to });
            return found.flatMap(({ start, counts }) => rowsOf(id, start, counts, type));
          }),
        );
        return { data: rows.flat(), next: some.next };
      });
    },
  };
}

function violationOf(by: Period, from: number, to: number): Problem | undefined {
  if (from >= to) return invalid([{ field: 'from', detail: 'must be before to' }]);
  const periodsMax = FIGURES_KEPT_MS[by] / PERIOD_MS[by];
  if (to - from <= FIGURES_KEPT_MS[by] + PERIOD_MS[by]) return undefined;
  return invalid([{ field: 'from', detail: `must be at most ${periodsMax} ${by}s before to` }]);
}

const rowsOf = (webhookId: string, start: number, counts: Counts, only: EventType | undefined) =>
  countedTypes(counts)
    .filter((type) => only === undefined || type === only)
    .map((type) => ({
      at: iso(start),
      webhook_id: webhookId,
      type,
      ...(Object.fromEntries(COUNTERS.map((name) => [name, counts[figureName(type, name)] ?? 0])) as Record<
        (typeof COUNTERS)[number],
        number
      >),
      latency_ms: {
        p50: latencyPercentile(counts, type, 0.5),
        p95: latencyPercentile(counts, type, 0.95),
        p99: latencyPercentile(counts, type, 0.99),
      },
    }));
