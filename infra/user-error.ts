/** An error that the user can correct. Commands print its message, which is a sentence, without a stack trace. */
export class UserError extends Error {}

/** Runs an operation on a file or directory that the user named. Throws `UserError`. */
export function onPath<Result>(path: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (error instanceof UserError) throw error;
    // Node's messages are like "ENOENT: no such file or directory, open '/nope/x'".
    const [, reason = 'unknown error'] = /: (.+?),/.exec((error as Error).message) ?? [];
    throw new UserError(`Cannot use ${path}: ${reason}.`);
  }
}
