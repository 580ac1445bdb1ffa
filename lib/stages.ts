/** A failure on our side, named by the step that failed. The cause says why. */
export class StageError extends Error {
  override readonly name = 'StageError';
  readonly stage: string;

  constructor(stage: string, cause: unknown) {
    super(`${stage}: ${(cause as Error).message}`, { cause });
    this.stage = stage;
  }
}

/** Which step an error comes from. */
export const stageOf = (error: unknown): string => (error instanceof StageError ? error.stage : 'handle');

/** The error that a stage threw. */
export const rootCause = (error: unknown): unknown => (error instanceof StageError ? rootCause(error.cause) : error);

/** The same dependencies; what one of them throws is named after it. */
export function withStages<Deps extends object>(deps: Deps): Deps {
  const named = Object.entries(deps).map(([stage, member]) => [
    stage,
    isMethod(member) ? inStage(stage, member) : member,
  ]);
  return Object.fromEntries(named) as Deps;
}

type Method = (...args: unknown[]) => unknown;

const isMethod = (member: unknown): member is Method => typeof member === 'function';

function inStage(stage: string, method: Method): Method {
  const fail = (cause: unknown): never => {
    throw new StageError(stage, cause);
  };
  return (...args) => {
    const result = method(...args);
    return result instanceof Promise ? result.catch(fail) : result;
  };
}
