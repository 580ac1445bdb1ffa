import { AwsClient } from 'aws4fetch';
import { SET_ASIDE_PREFIX } from '../deployment.ts';
import { UnavailableError } from '../errors.ts';

/** A record of a stream as the function received it. Only its id matters here. */
interface StreamRecord {
  eventID?: string | undefined;
}

type Put = (url: string, body: string) => Promise<Pick<Response, 'ok' | 'status'>>;

/** Tries of one PUT after the first. `aws4fetch` waits between them, for 50 ms at first. */
export const RETRIES = 3;
export const TIMEOUT_MS = 5000;

/**
 * Stores a record in the bucket of failed events in the format that Lambda uses for discarded batches: `payload` is a batch that
 * the function can handle again (Lambda Developer Guide, "Retaining discarded records for a DynamoDB event source"). A repetition
 * overwrites the same object. Throws `UnavailableError` if the object may be missing.
 *
 * The S3 client of the SDK would add 200 KB to the bundle for this one request.
 */
export function failedEvents(bucketUrl: string, put: Put = putObject()) {
  return async (record: StreamRecord, error: unknown): Promise<void> => {
    const failure = { message: (error as Error).message };
    const payload = JSON.stringify({ Records: [record] });
    const object = { version: '1.0', requestContext: { condition: 'Refused' }, failure, payload };
    const { ok, status } = await put(`${bucketUrl}/${SET_ASIDE_PREFIX}${record.eventID}`, JSON.stringify(object)).catch(
      (cause: unknown) => {
        throw new UnavailableError(cause);
      },
    );
    if (!ok) throw new UnavailableError(new Error(`S3 responded to a PUT of a failed event with ${status}`));
  };
}

// Lambda sets these variables from the role of the function (Lambda Developer Guide, "Defined runtime environment variables").
function putObject(): Put {
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', AWS_SESSION_TOKEN, AWS_REGION } = process.env;
  const client = new AwsClient({
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
    ...(AWS_REGION && { region: AWS_REGION }),
    service: 's3',
    retries: RETRIES,
  });
  return (url, body) => client.fetch(url, { method: 'PUT', body, signal: AbortSignal.timeout(TIMEOUT_MS) });
}
