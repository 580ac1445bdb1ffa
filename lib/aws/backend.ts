import { failureReporter, type ReportFailure } from './log.ts';
import type { Runtime } from './runtime.ts';
import { createTable, type Table } from './table.ts';

/** A runtime with the table of the service, for the code of one execution environment. */
export interface Backend extends Runtime {
  readonly table: Table;
  readonly reportFailure: ReportFailure;
}

export const connect = (runtime: Runtime): Backend => ({
  ...runtime,
  table: createTable(runtime),
  reportFailure: failureReporter(runtime.log),
});
