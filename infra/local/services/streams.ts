import type { DynamoDBRecord } from 'aws-lambda';
import { REGION } from '../template.ts';
import { databaseRequests } from './database-requests.ts';

/** A stream operation that the database rejected. `name` is the error type. */
class StreamError extends Error {
  constructor(type: string, message: string) {
    super(message);
    this.name = type.split('#').at(-1) ?? type;
  }
}

/** Whether the records after a position are no longer in the stream. */
export const isTrimmed = (error: unknown): boolean =>
  error instanceof StreamError && error.name === 'TrimmedDataAccessException';

/** The records of one response. The thread that parses them also runs API Gateway and SQS. */
const MAX_RECORDS = 200;
/** The headers of a signed request. The database requires their form, but does not verify the signature. */
const SIGNED = {
  authorization: `AWS4-HMAC-SHA256 Credential=local/20260101/${REGION}/dynamodb/aws4_request, SignedHeaders=x-amz-date, Signature=0`,
  'x-amz-date': '20260101T000000Z',
};

/**
 * The streams of the local database. Records keep the JSON of the wire, which functions receive too. The SDK would decode every
 * attribute of every record, and take most of the time of a busy stream.
 */
export function localStreams(endpoint: string) {
  const { send, destroy } = databaseRequests(endpoint);

  async function call<Output>(operation: string, input: object): Promise<Output> {
    const headers = {
      ...SIGNED,
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDBStreams_20120810.${operation}`,
    };
    const { status, body } = await send(headers, JSON.stringify(input));
    const output = JSON.parse(String(body));
    if (status !== 200) throw new StreamError(String(output.__type), String(output.message ?? output.Message));
    return output;
  }

  return {
    destroy,

    async shardIds(StreamArn: string): Promise<string[]> {
      const { StreamDescription } = await call<{ StreamDescription: { Shards?: { ShardId: string }[] } }>(
        'DescribeStream',
        { StreamArn },
      );
      return (StreamDescription.Shards ?? []).map(({ ShardId }) => ShardId);
    },

    /** An iterator that starts after a sequence number, or at the oldest record. */
    async iterator(StreamArn: string, ShardId: string, after: string | undefined): Promise<string> {
      const position = after
        ? { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after }
        : { ShardIteratorType: 'TRIM_HORIZON' };
      const { ShardIterator } = await call<{ ShardIterator: string }>('GetShardIterator', {
        StreamArn,
        ShardId,
        ...position,
      });
      return ShardIterator;
    },

    /** The next records, and the next iterator unless the shard is closed and all its records are read. */
    async records(ShardIterator: string): Promise<{ records: DynamoDBRecord[]; next: string | undefined }> {
      const { Records = [], NextShardIterator } = await call<{
        Records?: DynamoDBRecord[];
        NextShardIterator?: string;
      }>('GetRecords', { ShardIterator, Limit: MAX_RECORDS });
      return { records: Records, next: NextShardIterator };
    },
  };
}
