/** Most decimals that are shown as decimals: TEP-64 has them as text, and contracts may say anything. */
const MOST_DECIMALS = 255;

/** An amount in the reader's notation: `1,234.5` */
export interface AmountText {
  /** With the grouping of the locale, and the sign. */
  readonly whole: string;
  /** Separator and digits without trailing zeros: `.5`; empty for whole numbers. */
  readonly fraction: string;
}

/** Grouping and decimal separator of a locale. */
interface Notation {
  readonly grouped: (value: bigint) => string;
  readonly separator: string;
}

const notations = new Map<string, Notation>();

function notationOf(locale: string | undefined): Notation {
  const key = locale ?? '';
  const known = notations.get(key);
  if (known !== undefined) return known;
  // Digits of other scripts would stand beside addresses and raw values, which never have them.
  const format = new Intl.NumberFormat(locale, { numberingSystem: 'latn', maximumFractionDigits: 0 });
  const parts = new Intl.NumberFormat(locale, { numberingSystem: 'latn', minimumFractionDigits: 1 }).formatToParts(0.5);
  const separator = parts.find(({ type }) => type === 'decimal')?.value ?? '.';
  const made = { grouped: (value: bigint) => format.format(value), separator };
  notations.set(key, made);
  return made;
}

/**
 * An integer amount with decimals, exactly: nothing is rounded and nothing passes through a floating point number.
 *
 * @param units in the smallest unit: nanotons, or what a jetton wallet holds
 * @param decimals 9 for TON; out of range they count as 0
 * @param locale default: that of the browser
 */
export function amountText(units: bigint, decimals: number, locale?: string): AmountText {
  const { grouped, separator } = notationOf(locale);
  const places = isDecimals(decimals) ? decimals : 0;
  const isNegative = units < 0n;
  const digits = (isNegative ? -units : units).toString().padStart(places + 1, '0');
  const whole = BigInt(digits.slice(0, digits.length - places));
  const fraction = places === 0 ? '' : digits.slice(-places).replace(/0+$/, '');
  const sign = isNegative ? '−' : '';
  return { whole: `${sign}${grouped(whole)}`, fraction: fraction === '' ? '' : `${separator}${fraction}` };
}

/** The same as one text. */
export function amountLine(units: bigint, decimals: number, locale?: string): string {
  const { whole, fraction } = amountText(units, decimals, locale);
  return `${whole}${fraction}`;
}

/** Whether a number can be the decimals of a token. */
function isDecimals(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MOST_DECIMALS;
}

/** The decimals that the metadata of a jetton give, as text or number; 9 without any, as TEP-64 has it. */
export function decimalsOf(value: unknown): number {
  const number = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && isDecimals(number) ? number : 9;
}

/**
 * The smallest units of an amount as a person writes it: digits, and at most one decimal separator (`.` or `,`).
 *
 * @returns null when it is no amount, or has more decimals than there are
 */
export function parseAmount(text: string, decimals: number): bigint | null {
  const found = /^(\d{1,80})?(?:[.,](\d{1,255})?)?$/.exec(text.trim().replaceAll(/[\s_\u00a0\u202f]/g, ''));
  const [, whole = '', fraction = ''] = found ?? [];
  if (found === null || (whole === '' && fraction === '') || fraction.length > decimals) return null;
  return BigInt(`${whole}${fraction.padEnd(decimals, '0')}` || '0');
}

/** A count in the notation of the locale; a dash for a number that is none, as metrics have it for what is not known. */
export function countText(value: bigint | number, locale?: string): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return '–';
  return notationOf(locale).grouped(typeof value === 'bigint' ? value : BigInt(Math.round(value)));
}

/** An integer of an answer (decimal text or number); null where it is none. */
export function integerOf(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null;
  return typeof value === 'string' && /^-?\d{1,100}$/.test(value) ? BigInt(value) : null;
}
