import { Address } from '@ton/core';
import { amountLine } from '../../../web/src/format/amount.js';
import type { CheckReport } from '../check-report.js';
import { expectSame } from '../same-answer.js';
import type { JsonObject } from '../tonlib-session.js';
import { answer } from './newcomer-checks.js';
import type { WatchedPage } from './watched-browser.js';

/** An answer of API v3 with a list of rows in it. */
type Rows = Readonly<Record<string, readonly JsonObject[]>>;

const LOCALE = 'en-GB';
const MOST = 50;

export const ton = (nano: unknown) => `${amountLine(BigInt(nano as string), 9, LOCALE)} TON`;
export const units = (value: unknown, decimals: number) => amountLine(BigInt(value as string), decimals, LOCALE);
export const hex = (hash: unknown) => Buffer.from(hash as string, 'base64').toString('hex');
export const short = (hash: unknown) => `${hex(hash).slice(0, 8)}…${hex(hash).slice(-6)}`;
export const count = (value: unknown) => amountLine(BigInt(value as number), 0, LOCALE);

/** The raw form of an address in any form. */
export function raw(address: unknown): string {
  return Address.parse(address as string)
    .toRawString()
    .toUpperCase();
}

/** Walks the pages and compares what they show with the answers of API v3, value by value. */
export class ValueWalk {
  readonly #watched: WatchedPage;
  readonly #url: string;
  readonly #report: CheckReport;
  #compared = 0;

  constructor(watched: WatchedPage, url: string, report: CheckReport) {
    this.#watched = watched;
    this.#url = url;
    this.#report = report;
  }

  /** Checks a kind of page; the result says how many values were compared. */
  async check(name: string, run: () => Promise<string>): Promise<void> {
    await this.#report.check(`values: ${name}`, async () => {
      this.#compared = 0;
      const said = await run();
      if (this.#compared === 0) throw new Error('nothing was compared');
      return `${said}, ${this.#compared} values`;
    });
  }

  /** Rows of API v3; there may be none. */
  async rowsOrNone(method: string, list: string, query = ''): Promise<readonly JsonObject[]> {
    return (await answer<Rows>(this.#url, `/api/v3/${method}?limit=${MOST}&${query}`))[list] ?? [];
  }

  /** Rows of API v3. @throws when there are none */
  async rows(method: string, list: string, query = ''): Promise<readonly JsonObject[]> {
    const rows = await this.rowsOrNone(method, list, query);
    if (rows.length === 0) throw new Error(`${method} has no ${list}`);
    return rows;
  }

  /** Opens a page, and compares its facts: a text, the addresses of links, or both. */
  async facts(path: string, expected: Readonly<Record<string, string | readonly string[]>>): Promise<void> {
    await this.#watched.go(path);
    const shown = await this.#watched.facts();
    for (const [name, value] of Object.entries(expected)) {
      const fact = shown.get(name);
      if (fact === undefined) throw new Error(`${path} has no "${name}", but ${[...shown.keys()].join(', ')}`);
      if (typeof value === 'string') this.same(value, fact.text, `${name} of ${path}`);
      else
        this.same(
          [...value].sort(),
          fact.links
            .filter((link) => link !== '')
            .map(raw)
            .sort(),
          `${name} of ${path}`,
        );
    }
  }

  /** Opens a page and compares cells of its table, as sets of rows: equal keys may come in any order. */
  async table(path: string, expected: readonly (readonly string[])[], columns: readonly number[]): Promise<void> {
    await this.#watched.go(path);
    await this.#watched.page.locator('main .table tbody tr').first().waitFor();
    const shown = (await this.#watched.rows()).map((row) => columns.map((column) => row[column] ?? '').join(' | '));
    const wanted = expected.map((row) => row.join(' | '));
    this.same(wanted.sort(), shown.slice(0, wanted.length).sort(), `the table of ${path}`);
    this.#compared += wanted.length * columns.length - 1;
  }

  same<Value>(expected: Value, shown: Value, what: string): void {
    expectSame(expected as never, shown as never, what);
    this.#compared++;
  }

  /** Where the APIs are. */
  get url(): string {
    return this.#url;
  }

  get page(): WatchedPage {
    return this.#watched;
  }
}
