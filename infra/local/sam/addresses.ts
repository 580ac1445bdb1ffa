import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** The name of the host inside a container. On Linux, `sam local` needs `--add-host` for it. */
export const CONTAINER_HOST = 'host.docker.internal';

type Interfaces = Readonly<Record<string, NetworkInterfaceInfo[] | undefined>>;

/**
 * The addresses to listen on, which containers can reach but the network cannot. Docker Desktop forwards to loopback, and Linux
 * uses the bridge (Docker documentation, "Bridge network driver").
 */
export function listenAddresses(interfaces: Interfaces = networkInterfaces()): string[] {
  const bridge = interfaces['docker0']?.find(({ family }) => family === 'IPv4');
  return ['127.0.0.1', ...(bridge ? [bridge.address] : [])];
}
