/** An internal failure, named by the failed step. The cause contains the reason. */
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

/** Wraps dependencies so that their errors contain the path of the step, such as `disabledEmail.send`. */
export function withStages<Deps extends object>(deps: Deps, prefix = ''): Deps {
  const staged = Object.entries(deps).map(([name, member]) => [name, stagedMember(`${prefix}${name}`, member)]);
  return Object.fromEntries(staged) as Deps;
}

function stagedMember(stage: string, member: unknown): unknown {
  if (isMethod(member)) return inStage(stage, member);
  return typeof member === 'object' && member !== null ? withStages(member, `${stage}.`) : member;
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
