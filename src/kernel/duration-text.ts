const UNITS = [
  ['y', 31_536_000],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration for people, in its two largest units: `30 d`, `1 h 5 min`, `0 s`. @param seconds not negative */
export function durationText(seconds: number): string {
  let left = Math.floor(seconds);
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.length === 0 ? '0 s' : parts.slice(0, 2).join(' ');
}
