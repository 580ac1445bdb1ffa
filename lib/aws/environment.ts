import type { Variable } from '../deployment.ts';
import type { AddressPolicy } from '../webhooks/endpoint-url.ts';

/** Reads a variable. Throws if it is missing, so that a function without it does not start. */
export function environment(name: Variable): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set`);
  return value;
}

/**
 * Reads a variable that the previous release does not set. `undefined` while CloudFormation has changed the code of a function and
 * not its variables, or the other way round after a rollback (.github/UPGRADES.md). Read it with `environment` in the next release.
 */
export const newVariable = (name: Variable): string | undefined => process.env[name];

/** The fixed addresses of deliveries. Empty if they come from changing addresses. */
export const sourceAddresses = (): string[] => process.env.SOURCE_ADDRESSES?.split(',') ?? [];

/** Only the local stack sets `ALLOW_PRIVATE_ENDPOINTS`, for endpoints on loopback. */
export const addressPolicy = (): AddressPolicy => (process.env.ALLOW_PRIVATE_ENDPOINTS === 'true' ? 'any' : 'public');
