/** The local time of a moment, for reading: `23 Nov 2026, 03:12:05` */
export function localTime(unixSeconds: number, locale?: string): string {
  const date = dateOf(unixSeconds);
  return date === null ? `${unixSeconds}` : new Intl.DateTimeFormat(locale, LOCAL).format(date);
}

const LOCAL: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'medium', numberingSystem: 'latn' };

/** The same moment in UTC, as ISO 8601 without fractions: `2026-11-23T03:12:05Z` */
export function utcTime(unixSeconds: number): string {
  return dateOf(unixSeconds)?.toISOString().replace('.000Z', 'Z') ?? `${unixSeconds}`;
}

/** Null when the number lies outside of what a `Date` can be. */
function dateOf(unixSeconds: number): Date | null {
  const date = new Date(unixSeconds * 1000);
  return Number.isNaN(date.getTime()) ? null : date;
}

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** Seconds by which a moment may lie ahead and still be now: clocks differ, and pages look at theirs every few seconds. */
const NOW_SECONDS = 10;

/** How long ago a moment was: `3 minutes ago`; later ones: `in 2 hours`. */
export function relativeTime(unixSeconds: number, nowSeconds: number, locale?: string): string {
  const ahead = unixSeconds - nowSeconds;
  const distance = ahead > 0 && ahead <= NOW_SECONDS ? 0 : ahead;
  const [unit, seconds] = STEPS.find(([, length]) => Math.abs(distance) >= length) ?? ['second', 1];
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  return format.format(Math.trunc(distance / seconds), unit);
}

/** A length of time in two units: `3 min 5 s`, `2 d 4 h`. @param seconds not negative */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${seconds < 1 && seconds > 0 ? seconds.toFixed(2) : Number(seconds.toFixed(1))} s`;
  const whole = Math.round(seconds);
  const units: readonly (readonly [string, number])[] = [
    ['y', 31_536_000],
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ];
  const first = units.findIndex(([, length]) => whole >= length);
  const [name, length] = units[first]!;
  const next = units[first + 1];
  const count = Math.floor(whole / length);
  const rest = next === undefined ? 0 : Math.floor((whole % length) / next[1]);
  return rest === 0 ? `${count} ${name}` : `${count} ${name} ${rest} ${next![0]}`;
}
