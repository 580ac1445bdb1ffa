// The browser imports this file too, so it must stay small.

export const ENVIRONMENTS = ['live', 'sandbox'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** One of the two separate data spaces of a project. */
export interface Space {
  projectId: string;
  environment: Environment;
}
