import { parseArgs } from 'node:util';
import { allAbuses } from './abuses/all-abuses.js';

/** What must hold, for the exit code. */
export interface WorstBounds {
  /** Milliseconds, of each honest method. */
  readonly p99: number;
  /** MiB. */
  readonly rss: number;
  /** MiB a minute, after the first third. */
  readonly rssSlope: number;
}

export interface WorstArguments {
  /** Each abuse alone instead of all at once. */
  readonly isTable: boolean;
  readonly abuses: readonly string[];
  /** Of all abuses at once, or of each alone. */
  readonly ms: number;
  readonly isJson: boolean;
  /** Whether the functions of the longest stalls are looked for, which takes time of the server. */
  readonly isProfiled: boolean;
  readonly bounds: WorstBounds;
}

const MOST_MINUTES = 600;
const TABLE_SECONDS = 4;

/** @throws TypeError that says what is wrong */
export function readWorstArguments(args: readonly string[]): WorstArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      seconds: { type: 'string', default: String(TABLE_SECONDS) },
      only: { type: 'string' },
      table: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      'max-p99': { type: 'string', default: '100' },
      'max-rss': { type: 'string', default: '1024' },
      'max-rss-slope': { type: 'string', default: '8' },
    },
  });
  const names = allAbuses.map(({ name }) => name);
  const abuses = values.only?.split(',') ?? names;
  const unknown = abuses.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`--only ${unknown}: wanted is one of ${names.join(', ')}`);
  const minutes = positive('--minutes', values.minutes, MOST_MINUTES);
  const seconds = positive('--seconds', values.seconds, MOST_MINUTES * 60);
  return {
    isTable: values.table,
    abuses,
    ms: values.table ? seconds * 1_000 : minutes * 60_000,
    isJson: values.json,
    isProfiled: values.profile,
    bounds: {
      p99: positive('--max-p99', values['max-p99'], 60_000),
      rss: positive('--max-rss', values['max-rss'], 1_000_000),
      rssSlope: positive('--max-rss-slope', values['max-rss-slope'], 1_000_000),
    },
  };
}

function positive(name: string, text: string, most: number): number {
  const value = Number(text);
  if (value > 0 && value <= most) return value;
  throw new TypeError(`${name} is more than 0 and at most ${most}`);
}
