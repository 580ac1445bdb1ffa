/**
 * Waits until every promise has settled and then throws the first failure. `Promise.all` throws earlier, and Lambda would freeze
 * the work that is still running when the invocation ends.
 */
export async function allDone(promises: Iterable<Promise<unknown>>): Promise<void> {
  const results = await Promise.allSettled(promises);
  const failure = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  if (failure) throw failure.reason;
}
