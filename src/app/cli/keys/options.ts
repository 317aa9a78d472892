import { cliErrors } from '#app/cli/errors.js';
import { KEY_ID, LABEL } from '#services/access/key-record.js';
import { NAME, NAME_IN_WORDS } from '#services/access/names.js';

/** Milliseconds of a second, a minute, an hour and a day. */
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_GRACE_MS = 366 * 86_400_000;

/** `key_0123456789` @throws cli/usage */
export function parseId(text: string): string {
  if (KEY_ID.test(text)) return text;
  throw cliErrors.usage({ problem: `"${shortened(text)}" is no id of a key; they are like key_0123456789` });
}

/** @throws cli/usage */
export function parseName(option: string, text: string): string {
  if (NAME.test(text)) return text;
  throw cliErrors.usage({ problem: `${option} is "${shortened(text)}"; it must be ${NAME_IN_WORDS}` });
}

/** @throws cli/usage */
export function parseLabel(text: string): string {
  if (LABEL.test(text)) return text;
  throw cliErrors.usage({ problem: '--label must be one line of at most 200 characters' });
}

/** `0`, `90s`, `30m`, `1h`, `7d`, in milliseconds. @throws cli/usage */
export function parseGrace(text: string): number {
  if (text === '0') return 0;
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  const ms = match === null ? Number.NaN : Number(match[1]) * UNITS[match[2]!]!;
  if (ms <= LONGEST_GRACE_MS) return ms;
  throw cliErrors.usage({ problem: `--grace is "${shortened(text)}"; it must be as 90s, 30m, 1h or 7d, up to 366d` });
}

/** @throws cli/usage */
export function parseDays(text: string, most: number): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= most) return days;
  throw cliErrors.usage({ problem: `--days is "${shortened(text)}"; it must be a number from 1 to ${most}` });
}

/** Bad arguments may be anything, a secret of some other kind among it. */
function shortened(text: string): string {
  return text.length > 24 ? `${text.slice(0, 16)}…` : text;
}
