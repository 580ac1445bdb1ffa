import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** By which a container reaches its host. On Linux, `sam local` needs `--add-host` for it. */
export const CONTAINER_HOST = 'host.docker.internal';

type Interfaces = Readonly<Record<string, NetworkInterfaceInfo[] | undefined>>;

/**
 * Where to listen, so that containers reach this machine and its network does not: on loopback, to which Docker Desktop
 * forwards, and on Linux on the bridge (Docker documentation, "Bridge network driver").
 */
export function listenAddresses(interfaces: Interfaces = networkInterfaces()): string[] {
  const bridge = interfaces['docker0']?.find(({ family }) => family === 'IPv4');
  return ['127.0.0.1', ...(bridge ? [bridge.address] : [])];
}
