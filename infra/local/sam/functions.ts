import { LocalClock } from '../lambda/clock.ts';
import { DEFAULT_ACCOUNT_CONCURRENCY, type FunctionProperties, LocalFunction } from '../lambda/lambda.ts';
import type { Services } from '../services/services.ts';
import { CONTAINER_HOST } from './addresses.ts';
import { functionName } from './template.ts';

/** Invokes a function by its name. */
// biome-ignore lint/suspicious/noExplicitAny: every function has a different response
export type Invoke = (name: string, event: unknown) => Promise<any>;

/** Starts the functions outside containers and without event sources, to create the resources of the samples. */
export function startFunctions({ template, environment, iam }: Pick<Services, 'template' | 'environment' | 'iam'>) {
  // Replaces the host name for containers, because this machine cannot resolve it.
  const here = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(CONTAINER_HOST, '127.0.0.1'));
  const clock = new LocalClock();
  const options = {
    clock,
    environment: { ...here(environment), TZ: 'UTC' },
    output: () => {},
    publish: () => {},
    iam,
    logGroupArn: (name: string) => template.arn(name),
    account: { limit: DEFAULT_ACCOUNT_CONCURRENCY, running: 0 },
    concurrency: 1,
    idleMs: 60_000,
    isCpuBusy: () => false,
    hasLowPriority: false,
  };
  const functions = new Map(
    template
      .ofType<FunctionProperties>('AWS::Lambda::Function')
      .map(({ properties, ...resource }) => [
        functionName(resource.id),
        new LocalFunction({ ...resource, properties: here(properties) }, template, options),
      ]),
  );
  const invoke: Invoke = async (name, event) => {
    const fn = functions.get(name);
    if (!fn) throw new Error(`The template has no function ${name}`);
    return fn.invoke(event);
  };
  return { invoke, stop: () => Promise.all([...functions.values()].map((fn) => fn.stop())) };
}
