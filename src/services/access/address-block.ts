import { isIPv4, isIPv6 } from 'node:net';

/** The subject of all invalid addresses. */
const UNREADABLE = 'unreadable';

/**
 * What requests without a key are counted by: a whole IPv4 address; the first 64 bits of an IPv6 address, since a subscriber has
 * at least such a network; IPv4-mapped addresses (`::ffff:192.0.2.1`) count as IPv4.
 */
export function addressBlock(text: string): string {
  if (isIPv4(text)) return text;
  if (text.length > 64 || !isIPv6(text)) return UNREADABLE;
  const groups = groupsOf(text);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high, low] = [groups[6]!, groups[7]!];
    return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** The eight numbers of a well-formed IPv6 address. */
function groupsOf(text: string): number[] {
  const zone = text.indexOf('%');
  const [before = '', after] = (zone < 0 ? text : text.slice(0, zone)).split('::');
  const front = halfOf(before);
  if (after === undefined) return front;
  const back = halfOf(after);
  return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
}

function halfOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a, b, c, d] = group.split('.').map(Number);
    return [(a! << 8) | b!, (c! << 8) | d!];
  });
}
