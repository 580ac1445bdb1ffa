import { randomUUID } from 'node:crypto';
import { ServiceError } from './endpoints.ts';
import type { LocalQueue } from './sqs.ts';

interface MoveTask {
  Status: 'COMPLETED' | 'FAILED';
  SourceArn: string;
  DestinationArn?: string;
  MaxNumberOfMessagesPerSecond?: number;
  ApproximateNumberOfMessagesMoved: number;
  ApproximateNumberOfMessagesToMove: number;
  FailureReason?: string;
  StartedTimestamp: number;
}

type Input = Pick<MoveTask, 'DestinationArn' | 'MaxNumberOfMessagesPerSecond'> & { MaxResults?: number };

const RECEIVED = 10;

/**
 * Moves dead letters back to their queues (SQS API Reference, `StartMessageMoveTask`). On AWS a task takes time. Here it has
 * ended before the response.
 */
export class MoveTasks {
  private readonly tasks: MoveTask[] = [];
  private readonly queues: ReadonlyMap<string, LocalQueue>;

  constructor(queues: ReadonlyMap<string, LocalQueue>) {
    this.queues = queues;
  }

  perform(action: string, source: LocalQueue, input: Input): object {
    if (action === 'StartMessageMoveTask') return this.start(source, input);
    if (action === 'ListMessageMoveTasks') return this.list(source, input);
    throw new ServiceError('UnsupportedOperation', `The local SQS does not support ${action}`);
  }

  private start(source: LocalQueue, { DestinationArn, MaxNumberOfMessagesPerSecond }: Input): { TaskHandle: string } {
    const isDeadLetterQueue = [...this.queues.values()].some(
      ({ settings }) => settings.deadLetters?.queue() === source,
    );
    if (!isDeadLetterQueue)
      throw new ServiceError('InvalidParameterValue', 'Source queue must be configured as a Dead Letter Queue.');
    const destination = DestinationArn && this.queues.get(DestinationArn.split(':').at(-1) ?? '');
    if (DestinationArn && !destination)
      throw new ServiceError('ResourceNotFoundException', `There is no queue ${DestinationArn}`);
    const { visible } = source.counts();
    const { moved, FailureReason } = this.move(source, destination || undefined);
    this.tasks.unshift({
      Status: FailureReason ? 'FAILED' : 'COMPLETED',
      SourceArn: source.settings.arn,
      ...(DestinationArn && { DestinationArn }),
      ...(MaxNumberOfMessagesPerSecond && { MaxNumberOfMessagesPerSecond }),
      ApproximateNumberOfMessagesMoved: moved,
      ApproximateNumberOfMessagesToMove: visible,
      ...(FailureReason && { FailureReason }),
      StartedTimestamp: Date.now(),
    });
    return { TaskHandle: Buffer.from(randomUUID()).toString('base64') };
  }

  /** A moved message is a new message. SQS does not know the queue of a message that was sent to the dead letters directly. */
  private move(source: LocalQueue, destination: LocalQueue | undefined): { moved: number; FailureReason?: string } {
    let moved = 0;
    for (let messages = source.receive(RECEIVED); messages.length > 0; messages = source.receive(RECEIVED)) {
      for (const { body, group, receiptHandle, source: origin = '' } of messages) {
        const target = destination ?? this.queues.get(origin);
        if (!target) return { moved, FailureReason: 'CouldNotDetermineMessageSource' };
        target.send(body, { group });
        source.delete(receiptHandle);
        moved++;
      }
    }
    return { moved };
  }

  private list(source: LocalQueue, { MaxResults = 1 }: Input): { Results: MoveTask[] } {
    const Results = this.tasks.filter(({ SourceArn }) => SourceArn === source.settings.arn).slice(0, MaxResults);
    return { Results };
  }
}
