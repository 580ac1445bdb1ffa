import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns a process and its descendants by id. Works on Linux only, like the rest of this file. */
export function processesOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(/\) \w (\d+)/.exec(read(`/proc/${name}/stat`))?.[1])] as const);
  const children = (of: number): number[] =>
    parents.filter(([, parent]) => parent === of).flatMap(([child]) => [child, ...children(child)]);
  return [pid, ...children(pid)];
}

export const isRunning = (pid: number): boolean => /\) [^Z]/.test(read(`/proc/${pid}/stat`));

export const argumentsOf = (pid: number): string[] => read(`/proc/${pid}/cmdline`).split('\0');

/** Returns the TCP addresses on which these processes listen, in the hexadecimal format of the kernel. */
export function listeningAddresses(pids: readonly number[]): string[] {
  const inodes = new Set(pids.flatMap(socketsOf));
  const sockets = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => read(path).split('\n').slice(1));
  return sockets.flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const isListening = state === '0A'; // TCP_LISTEN (Linux, net/tcp_states.h)
    return isListening && inodes.has(inode) ? [local.split(':')[0] ?? ''] : [];
  });
}

export const LOOPBACK = '0100007F';

function socketsOf(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${directory}/${fd}`))?.[1] ?? [];
    } catch {
      return []; // closed in the meantime
    }
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
