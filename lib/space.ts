// The browser imports this file too, so it must stay small.

export const ENVIRONMENTS = ['live', 'sandbox'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** One of the two separate data spaces of a project. */
export interface Space {
  projectId: string;
  environment: Environment;
}

/** The fair-queue group of the work of a space (lib/decisions/019-fair-to-projects.md). */
export const fairGroupOf = ({ projectId, environment }: Space): string => `${projectId}#${environment}`;
