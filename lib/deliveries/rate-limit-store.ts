import type { Backend } from '../aws/backend.ts';
import { all, type Condition, increased, is, isAtMost, isNew, update } from '../aws/expressions.ts';
import { itemKey, timeToLive } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import { optimistically } from '../concurrency.ts';
import {
  type Allotment,
  allot,
  BURST_MS,
  earlyTurn,
  type RateState,
  type SlotRequest,
  type Turn,
} from './rate-limit.ts';

/** How long the state of a webhook without attempts is kept. */
const KEPT_MS = 24 * 60 * 60 * 1000;

export type TakeSlot = ReturnType<typeof slots>;

/**
 * Takes a token of a webhook's rate limit for an attempt, or books a slot for it. Requests for the same webhook at the same time
 * are taken together, so that a batch has one read and one write for each webhook.
 */
export function slots({ table, clock }: Pick<Backend, 'table' | 'clock'>) {
  const groups = new Map<string, { requests: SlotRequest[]; turns: Promise<Turn[]> }>();
  return async (webhookId: string, maxPerSecond: number, request: SlotRequest): Promise<Turn> => {
    const early = earlyTurn(request, maxPerSecond, clock());
    if (early !== undefined) return early;
    const requests: SlotRequest[] = [];
    const take = () => {
      groups.delete(webhookId);
      return takeSlots(table, webhookId, maxPerSecond, requests, clock());
    };
    const group = groups.get(webhookId) ?? { requests, turns: Promise.resolve().then(take) };
    groups.set(webhookId, group);
    const index = group.requests.push(request) - 1;
    return (await group.turns)[index] ?? null;
  };
}

/**
 * Takes tokens of a webhook and books slots with one read and one write. Concurrent writers add to each other's numbers, so they
 * conflict only when the tokens or the queue end. A lost response loses slots, and the requests get others.
 */
export async function takeSlots(
  table: Table,
  webhookId: string,
  maxPerSecond: number,
  requests: readonly SlotRequest[],
  nowMs: number,
): Promise<Turn[]> {
  const key = itemKey.slots(webhookId);
  let state = (await table.get(key)) as RateState | undefined;
  return optimistically(async () => {
    const allotted = allot(state, maxPerSecond, requests, nowMs);
    if (allotted.tokens + allotted.slots === 0) return allotted.turnsFrom(nowMs);
    const { isDone, item } = await table.updated(
      update(key, changeOf(allotted, state, nowMs), conditionOf(allotted, state, nowMs)),
    );
    state = item as RateState | undefined;
    if (!isDone || !state) return undefined;
    return allotted.turnsFrom(state.bookedUntil - allotted.slots * allotted.intervalMs);
  });
}

function changeOf({ tokens, slots, intervalMs, isQueued, next }: Allotment, state: RateState | undefined, now: number) {
  const isBusy = state !== undefined && state.usedUntil > now;
  return {
    maxPerSecond: next.maxPerSecond,
    usedUntil: isBusy || tokens === 0 ? increased(tokens * intervalMs) : next.usedUntil,
    bookedUntil: isQueued ? increased(slots * intervalMs) : next.bookedUntil,
    expires: timeToLive(Math.max(next.usedUntil, next.bookedUntil) + KEPT_MS),
  };
}

// The times never decrease while the limit stays the same. A time in the future can therefore be increased, up to the longest wait.
function conditionOf(
  { tokens, slots, intervalMs, isQueued, leewayMs, next }: Allotment,
  state: RateState | undefined,
  now: number,
): Condition {
  if (!state) return isNew;
  const isSame = is('maxPerSecond', state.maxPerSecond);
  const isResting = state.usedUntil <= now;
  const usedAtMost = isResting ? now : now + BURST_MS - (tokens - 1) * intervalMs;
  const used = tokens > 0 ? [isAtMost('usedUntil', usedAtMost)] : [];
  return all(isSame, ...used, ...bookedCondition());

  function bookedCondition(): Condition[] {
    const { bookedUntil, maxPerSecond } = state as RateState;
    if (isQueued) return slots > 0 ? [isAtMost('bookedUntil', bookedUntil + leewayMs)] : [];
    if (maxPerSecond !== next.maxPerSecond) return [];
    return [bookedUntil > now ? is('bookedUntil', bookedUntil) : isAtMost('bookedUntil', now)];
  }
}
