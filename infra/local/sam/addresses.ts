import { spawnSync } from 'node:child_process';

/** The name of the host inside a container. On Linux, `sam local` needs `--add-host` for it. */
export const CONTAINER_HOST = 'host.docker.internal';

/**
 * The addresses to listen on, which containers can reach but the network cannot. Docker Desktop forwards to loopback, and Linux
 * uses the bridge (Docker documentation, "Bridge network driver"). Node.js lists the bridge only while a container runs
 * (`uv__ifaddr_exclude` of libuv), so `ip` reads its address.
 */
export function listenAddresses(): string[] {
  const { stdout } = spawnSync('ip', ['-4', '-o', 'address', 'show', 'docker0'], { encoding: 'utf8' });
  const address = /\binet (\d+(?:\.\d+){3})\//.exec(stdout)?.[1];
  return ['127.0.0.1', ...(address ? [address] : [])];
}
