/** Whether an address is in a range that the service returned, such as `203.0.113.0/24`. An IPv4 address in IPv6 notation is one of IPv4. */
export function isInRange(address: string, cidr: string): boolean {
  const [network = '', length] = cidr.split('/');
  const [own, other] = [bitsOf(address), bitsOf(network)];
  return (
    own !== null && own.length === other?.length && own.slice(0, Number(length)) === other.slice(0, Number(length))
  );
}

const bits = (value: number, count: number): string => value.toString(2).padStart(count, '0');
/** Decimal without leading zeros, because other notations can mean another address. */
const IPV4 = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;
const MAPPED = /^0{80}1{16}/;

/** Returns the 32 or 128 bits of an address. The notation of the deprecated compatible addresses, `::192.0.2.1`, is none. */
function bitsOf(address: string): string | null {
  if (IPV4.test(address))
    return address
      .split('.')
      .map((part) => bits(Number(part), 8))
      .join('');
  const groups = groupsOf(address);
  if (!groups) return null;
  const all = groups.map((group) => bits(group, 16)).join('');
  if (MAPPED.test(all)) return all.slice(96);
  return address.includes('.') || (/^0{96}/.test(all) && !/^0{112}/.test(all)) ? null : all;
}

/** Returns the eight groups of an IPv6 address in any valid notation. The URL Standard has its parser. */
function groupsOf(address: string): number[] | null {
  if (!/^[0-9A-Fa-f:.]+$/.test(address) || !URL.canParse(`http://[${address}]`)) return null;
  const [before = '', after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [head, tail] = [before, after ?? ''].map((part) => part.split(':').filter(Boolean));
  const missing = 8 - (head?.length ?? 0) - (tail?.length ?? 0);
  const zeros = after === undefined ? [] : Array<string>(missing).fill('0');
  return [...(head ?? []), ...zeros, ...(tail ?? [])].map((group) => Number.parseInt(group, 16));
}
