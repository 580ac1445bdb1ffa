/** A request that AWS always rejects with this error code, so a retry cannot help. */
export class InvalidRequest extends Error {
  readonly code: string;

  constructor(message: string, code = 'ValidationException') {
    super(message);
    this.name = code;
    this.code = code;
  }
}
