/** An amount in TON, without trailing zeros: `1.5`. */
export function tons(nanotons: bigint): string {
  const digits = nanotons.toString().padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '');
}
