import type { Services } from '../../infra/local/services/services.ts';
import { type LocalStack, type StackOptions, startStack } from '../../infra/local/stack.ts';
import { LocalCloudWatch } from './cloudwatch/cloudwatch.ts';
import { watchServices } from './cloudwatch/sources.ts';

/** A local stack whose metrics, logs and alarms tests can observe. */
export type WatchedStack = LocalStack & { cloudWatch: LocalCloudWatch };

export async function startWatchedStack(options: Omit<StackOptions, 'monitor'>): Promise<WatchedStack> {
  const watched: LocalCloudWatch[] = [];
  const monitor = (services: Services) => {
    const cloudWatch = new LocalCloudWatch(services.template);
    watchServices(services, cloudWatch);
    watched.push(cloudWatch);
    return cloudWatch;
  };
  const stack = await startStack({ ...options, monitor });
  const [cloudWatch] = watched;
  if (!cloudWatch) throw new Error('The stack asks for its monitoring when it starts');
  return Object.assign(stack, { cloudWatch });
}
