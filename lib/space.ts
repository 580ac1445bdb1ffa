import type { KeyType } from './access/api-key.ts';

export const ENVIRONMENTS = ['live', 'sandbox'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** One of the two separate data spaces of a project. */
export interface Space {
  projectId: string;
  environment: Environment;
}

/** The environment that a key belongs to; an admin key says which one it means. */
export function environmentOf(type: KeyType): Environment | null {
  if (type === 'admin') return null;
  return type === 'test' ? 'sandbox' : 'live';
}
