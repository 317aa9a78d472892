import { cliErrors } from '#app/cli/errors.js';

const NANO = 1_000_000_000n;

/** `1.5` (TON) in nanotons, as a decimal number. @throws cli/usage */
export function nanotonsOf(name: string, text: string): string {
  const match = /^(\d{1,20})(?:\.(\d{1,9}))?$/.exec(text);
  if (match !== null) return String(BigInt(match[1]!) * NANO + BigInt((match[2] ?? '').padEnd(9, '0')));
  const problem = `${name} is "${text.slice(0, 40)}"; it must be an amount in TON, as 5 or 0.25, with up to 9 decimals`;
  throw cliErrors.usage({ problem });
}

/** @param nanotons a decimal number */
export function tonOf(nanotons: string): string {
  const value = BigInt(nanotons);
  const rest = String(value % NANO)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${value / NANO}${rest === '' ? '' : `.${rest}`} TON`;
}

/** Seconds of a second, a minute, an hour, a day and a year of 365 days. */
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, y: 31_536_000 };

/** `90`, `90s`, `+1h`, `30d` or `1y`, in seconds. @throws cli/usage */
export function secondsOf(text: string): number {
  const match = /^\+?(\d{1,10})([smhdy]?)$/.exec(text);
  if (match !== null) return Number(match[1]) * UNITS[match[2] || 's']!;
  throw cliErrors.usage({ problem: `the time is "${text.slice(0, 40)}"; it must be as +1h, 90s, 30m, 7d or 1y` });
}

/** A whole number. @throws cli/usage */
export function numberOf(name: string, text: string, least: number, most: number): number {
  const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw cliErrors.usage({
    problem: `${name} is "${text.slice(0, 40)}"; it must be a whole number from ${least} to ${most}`,
  });
}
