import { requireAccess } from '../access.ts';
import { isText, requireArgument, requireFunction } from '../arguments.ts';
import type { EngineOptions } from './engine-types.ts';

/** The service accepts leases of these seconds. */
const [MIN_SECONDS, MAX_SECONDS] = [10, 900];

/** Checks the options of an engine. Throws `TypeError`. */
export function requireEngineOptions(options: unknown): asserts options is EngineOptions {
  requireAccess(options);
  const { directory, nodeId, leaseSeconds, log }: Partial<EngineOptions> = options;
  requireArgument(isText(directory), "directory as the path of a folder, such as './document-sync'", directory);
  requireArgument(nodeId === undefined || isText(nodeId), 'nodeId as text', nodeId);
  const isLease =
    Number.isInteger(leaseSeconds) && Number(leaseSeconds) >= MIN_SECONDS && Number(leaseSeconds) <= MAX_SECONDS;
  requireArgument(
    leaseSeconds === undefined || isLease,
    `leaseSeconds as a whole number from ${MIN_SECONDS} to ${MAX_SECONDS}`,
    leaseSeconds,
  );
  requireFunction('log', log);
}
