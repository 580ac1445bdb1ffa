/** An error that the user can correct. Commands print its message, which is a sentence, without a stack trace. */
export class UserError extends Error {}
