import type { Engine } from '../engine/engine.ts';
import { type Fields, fieldsOf } from '../engine/json-values.ts';
import { type Log, safely } from '../engine/log.ts';

/** The fields of a document at one time, or why they cannot be read. */
export interface Snapshot {
  fields: Fields | null;
  problems: string[];
}

/** Reads fields as JSON. `null` means that nothing is to be published. Never throws. */
export function snapshotOf(read: () => object | null, plain?: (value: object) => unknown): Snapshot {
  const problems = new Set<string>();
  const onLoss = (reason: string) => problems.add(`a value is not published as it is, because ${reason}.`);
  try {
    const fields = read();
    return {
      fields: fields && fieldsOf(fields, { ...(plain && { plain }), onLoss }),
      problems: [...problems],
    };
  } catch (error) {
    return { fields: null, problems: [`the fields cannot be read, so changes are not published: ${messageOf(error)}`] };
  }
}

/**
 * Publishes the documents of an engine that has its own storage. It never throws and never lets the engine wait. If something is not
 * published, the log says why, once for each reason.
 */
export function documentLog(starting: Promise<Engine>, givenLog: Log = console.warn) {
  const log = safely(givenLog);
  const reported = new Map<string, string>();

  function report(key: string, problems: readonly string[]): void {
    const text = problems.join(' ');
    if (text !== (reported.get(key) ?? '')) for (const problem of problems) log(`${key}: ${problem}`);
    if (text === '') reported.delete(key);
    else reported.set(key, text);
  }

  /** While an event waits, only the engine keeps the fields, because an outage can be long. */
  return function publish(key: string, { fields, problems }: Snapshot): void {
    starting
      .then((engine) => (fields ? engine.saved(key, fields) : undefined))
      .then(
        () => report(key, problems),
        (error) => report(key, [`the document is stored, but its change is not published: ${messageOf(error)}`]),
      );
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
