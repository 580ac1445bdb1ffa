/** AWS refuses a request with this error code, whatever the state of the service is. A repetition cannot help. */
export class InvalidRequest extends Error {
  readonly code: string;

  constructor(message: string, code = 'ValidationException') {
    super(message);
    this.name = code;
    this.code = code;
  }
}
