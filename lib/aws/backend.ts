import { failureReporter, type ReportFailure } from './log.ts';
import { lambda, type Runtime } from './runtime.ts';
import { createTable, type Table } from './table.ts';

/** A runtime with the table of the service, for the code of one execution environment. */
export interface Backend extends Runtime {
  readonly table: Table;
  readonly reportFailure: ReportFailure;
}

export const backendOf = (runtime: Runtime): Backend => ({
  ...runtime,
  table: createTable(runtime),
  reportFailure: failureReporter(runtime.log),
});

/** The exports of a file in functions/. Tests call `create` with another runtime and with other requests to the internet. */
export function entry<Handler, Outgoing>(build: (backend: Backend, outgoing?: Outgoing) => Handler) {
  const create = (runtime: Runtime, outgoing?: Outgoing): Handler => build(backendOf(runtime), outgoing);
  return { create, handler: create(lambda) };
}
