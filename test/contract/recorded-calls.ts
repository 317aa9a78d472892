import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { RawParameters } from '#api/http/endpoint.js';
import { readBytes } from '#test/support/vector-files.js';

/** A request to a reference service, and its answer. */
export interface Recording {
  readonly id: string;
  readonly desc?: string;
  readonly method: string;
  readonly path: string;
  readonly query: string | null;
  readonly body: unknown;
  readonly status: number;
  readonly response: unknown;
}

/** A recording that calls a method, whichever way: by path and query, by a body, by JSON-RPC. */
export interface RecordedCall {
  readonly recording: Recording;
  readonly name: string;
  readonly source: 'query' | 'body';
  readonly params: RawParameters;
}

export interface Answer {
  readonly status: number;
  /** Null when only the status is of interest: the body of an error. */
  readonly response: unknown;
}

/**
 * A difference that is meant, and why. `path` is a regular expression of `/method`, also for calls by JSON-RPC; `when`
 * narrows the rule to recordings with one of these statuses, this error text, these parameters, or this description (regular
 * expressions; parameters as JSON). What it allows: `ignore` (patterns as in `/result/x`, where `*` is one step and `**` any
 * number; with `recorded` or `answered` only where the JSON of that value matches), `unordered` (lists, by pattern, whose items
 * may come in any order: what identifies an item that is an object), `tied` (lists, by pattern: items that have the same `by` may come in any
 * order, and where a page begins or ends between them be others), `exchanged` (objects, by pattern, in which two members have changed places),
 * `status: "class"` (2xx, 4xx, 5xx must agree, bodies of errors not), `expect` (what is answered instead; a number is a
 * status), `asText` (patterns: a number and a text with the same digits are equal), or `skip`.
 */
export interface Rule {
  readonly path: string;
  readonly when?: {
    readonly status?: readonly number[];
    readonly error?: string;
    readonly params?: string;
    readonly desc?: string;
  };
  readonly ignore?: readonly string[];
  readonly recorded?: string;
  readonly answered?: string;
  readonly unordered?: Readonly<Record<string, readonly string[]>>;
  readonly tied?: Readonly<Record<string, { readonly by: string; readonly names: readonly string[] }>>;
  readonly exchanged?: Readonly<Record<string, readonly [string, string]>>;
  readonly asText?: readonly string[];
  readonly status?: 'class';
  readonly expect?: number;
  readonly skip?: boolean;
  readonly reason: string;
}

interface Difference {
  readonly id: string;
  readonly call: string;
  readonly at: string;
  readonly recorded: unknown;
  readonly answered: unknown;
}

export interface Comparison {
  readonly cases: number;
  readonly equal: number;
  /** By rules: not asked at all. */
  readonly skipped: number;
  readonly differences: readonly Difference[];
  /** Reasons of rules about these methods that matched nothing. */
  readonly stale: readonly string[];
}

/** Reads a file with one JSON value a line; one that ends in `.gz` or `.br` is decompressed. */
export function readLines(file: string): unknown[] {
  const text = Buffer.from(readBytes(file)).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

export function readRecordings(file: string): Recording[] {
  return readLines(file) as Recording[];
}

export function readRules(file: string): Rule[] {
  return JSON.parse(readFileSync(file, 'utf8')) as Rule[];
}

/** Asks all calls again, and compares what is answered with what was recorded. @param part what of the bodies is compared */
export async function compareCalls(
  calls: readonly RecordedCall[],
  rules: readonly Rule[],
  answer: (call: RecordedCall) => Promise<Answer>,
  part: 'result' | 'body' = 'result',
): Promise<Comparison> {
  const ready = rules.map((rule) => new ReadyRule(rule));
  const differences: Difference[] = [];
  let equal = 0;
  let skipped = 0;
  for (const call of calls) {
    const mine = ready.filter((rule) => rule.applies(call));
    const skip = mine.find(({ rule }) => rule.skip === true);
    if (skip !== undefined) {
      // Of the other rules about a call that is not made nobody knows whether they are stale.
      for (const rule of mine) rule.hits++;
      skipped++;
      continue;
    }
    const found = [...compare(call, await answer(call), mine, part)];
    if (found.length === 0) equal++;
    const { id } = call.recording;
    for (const each of found) differences.push({ id, call: `${call.name} ${JSON.stringify(call.params)}`, ...each });
  }
  const names = new Set(calls.map(({ name }) => name));
  const stale = ready
    .filter((rule) => rule.hits === 0 && [...names].some((name) => rule.isAbout(name)))
    .map(({ rule }) => rule.reason);
  return { cases: calls.length, equal, skipped, differences, stale };
}

type At = Pick<Difference, 'at' | 'recorded' | 'answered'>;

/** Whether the list of an answer may go on before or behind it. */
interface Edges {
  readonly first: boolean;
  readonly last: boolean;
}

function edgesOf({ params: { limit, offset } }: RecordedCall, response: unknown): Edges {
  const lists = isObject(response) ? Object.values(response).filter(Array.isArray) : [];
  return { first: Number(offset ?? 0) > 0, last: lists.some(({ length }) => length === Number(limit ?? 100)) };
}

function* compare(
  call: RecordedCall,
  got: Answer,
  rules: readonly ReadyRule[],
  part: 'result' | 'body',
): Generator<At> {
  const { recording } = call;
  const expecting = rules.find(({ rule }) => rule.expect !== undefined && rule.expect !== recording.status);
  const wanted = expecting?.rule.expect ?? recording.status;
  if (expecting !== undefined) expecting.hits++;
  const byClass = rules.find(({ rule }) => rule.status === 'class');
  const same = byClass === undefined ? got.status === wanted : classOf(got.status) === classOf(wanted);
  if (byClass !== undefined && got.status !== wanted) byClass.hits++;
  if (!same) {
    yield { at: '/status', recorded: wanted, answered: `${got.status} ${errorOf(got.response)}` };
    return;
  }
  if (got.status !== 200 || recording.status !== 200) return;
  const edges = edgesOf(call, recording.response);
  // What JSON-RPC adds beside the result is not the method's.
  const [path, of] =
    part === 'body'
      ? [[], (body: unknown) => body]
      : [['result'], (body: unknown) => (body as { readonly result: unknown }).result];
  yield* differencesOf(of(recording.response), of(got.response), rules, path, edges);
}

/** Fields of both sides that differ; `@extra` is a server's stamp. */
function* differencesOf(
  recorded: unknown,
  answered: unknown,
  rules: readonly ReadyRule[],
  path: readonly string[],
  edges: Edges,
): Generator<At> {
  if (path.at(-1) === '@extra' || isDeepStrictEqual(recorded, answered)) return;
  const allowing = rules.find(
    (rule) => rule.ignores(path, recorded, answered) || rule.equates(path, recorded, answered),
  );
  if (allowing !== undefined) {
    allowing.hits++;
    return;
  }
  const expected = rules.reduce((value, rule) => rule.rearranged(path, value, answered, edges), recorded);
  if (isObject(expected) && isObject(answered)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(answered)])) {
      yield* differencesOf(expected[key], answered[key], rules, [...path, key], edges);
    }
    return;
  }
  if (Array.isArray(expected) && Array.isArray(answered) && expected.length === answered.length) {
    for (const [index, value] of expected.entries()) {
      yield* differencesOf(value, answered[index], rules, [...path, String(index)], edges);
    }
    return;
  }
  yield { at: `/${path.join('/')}`, recorded: short(recorded), answered: short(answered) };
}

type Pattern = readonly string[];

class ReadyRule {
  readonly rule: Rule;
  readonly #path: RegExp;
  readonly #error: RegExp | null;
  readonly #params: RegExp | null;
  readonly #desc: RegExp | null;
  readonly #recorded: RegExp | null;
  readonly #answered: RegExp | null;
  readonly #ignore: readonly Pattern[];
  readonly #asText: readonly Pattern[];
  readonly #unordered: readonly (readonly [Pattern, readonly string[]])[];
  readonly #tied: readonly (readonly [Pattern, { readonly by: string; readonly names: readonly string[] }])[];
  readonly #exchanged: readonly (readonly [Pattern, readonly [string, string]])[];
  hits = 0;

  constructor(rule: Rule) {
    this.rule = rule;
    this.#path = new RegExp(rule.path);
    this.#error = expression(rule.when?.error);
    this.#params = expression(rule.when?.params);
    this.#desc = expression(rule.when?.desc);
    this.#recorded = expression(rule.recorded);
    this.#answered = expression(rule.answered);
    this.#ignore = (rule.ignore ?? []).map(stepsOf);
    this.#asText = (rule.asText ?? []).map(stepsOf);
    this.#unordered = Object.entries(rule.unordered ?? {}).map(([at, names]) => [stepsOf(at), names]);
    this.#tied = Object.entries(rule.tied ?? {}).map(([at, tie]) => [stepsOf(at), tie]);
    this.#exchanged = Object.entries(rule.exchanged ?? {}).map(([at, names]) => [stepsOf(at), names]);
  }

  applies({ name, params, recording }: RecordedCall): boolean {
    const statuses = this.rule.when?.status;
    return (
      this.#path.test(`/${name}`) &&
      (statuses === undefined || statuses.includes(recording.status)) &&
      (this.#error === null || this.#error.test(errorOf(recording.response))) &&
      (this.#params === null || this.#params.test(JSON.stringify(params))) &&
      (this.#desc === null || this.#desc.test(recording.desc ?? ''))
    );
  }

  /** Whether it is about a method at all. */
  isAbout(name: string): boolean {
    return this.#path.test(`/${name}`);
  }

  /** Whether one is a number and the other a text of the same one; JSON numbers keep 53 bits. */
  equates(path: Pattern, recorded: unknown, answered: unknown): boolean {
    const kinds = [typeof recorded, typeof answered].sort().join();
    if (kinds !== 'number,string' || Number(recorded) !== Number(answered)) return false;
    return this.#asText.some((pattern) => matches(pattern, path));
  }

  ignores(path: Pattern, recorded: unknown, answered: unknown): boolean {
    return (
      this.#ignore.some((pattern) => matches(pattern, path)) &&
      isLike(this.#recorded, recorded) &&
      isLike(this.#answered, answered)
    );
  }

  /** What was recorded, in the order of what is answered, where a rule allows another one. */
  rearranged(path: Pattern, recorded: unknown, answered: unknown, edges: Edges): unknown {
    const exchanged = this.#exchanged.find(([pattern]) => matches(pattern, path));
    if (exchanged !== undefined && isObject(recorded) && isObject(answered)) {
      const [, [one, other]] = exchanged;
      const value = { ...recorded, [one]: recorded[other], [other]: recorded[one] };
      // Where they have not changed places, they are left.
      if (value[one] !== answered[one] || value[other] !== answered[other]) return recorded;
      this.hits++;
      return value;
    }
    if (!Array.isArray(recorded) || !Array.isArray(answered) || recorded.length !== answered.length) return recorded;
    const unordered = this.#unordered.find(([pattern]) => matches(pattern, path));
    const tied = this.#tied.find(([pattern]) => matches(pattern, path));
    const names = unordered?.[1] ?? tied?.[1].names;
    if (names === undefined) return recorded;
    const byName = new Map(recorded.map((item) => [fieldsOf(item, names), item]));
    let value = answered.map((item) => byName.get(fieldsOf(item, names)));
    if (tied !== undefined) {
      const order = (items: readonly unknown[]) => items.map((item) => fieldsOf(item, [tied[1].by]));
      const times = order(recorded);
      if (!isDeepStrictEqual(times, order(answered))) return recorded;
      const { first, last } = edges;
      // Of those at an end of the page that is not the end of the list, others with the same time may be shown.
      const isAtEdge = (at: number) => (first && times[at] === times[0]) || (last && times[at] === times.at(-1));
      value = value.map((item, at) => item ?? (isAtEdge(at) ? answered[at] : undefined));
    }
    if (byName.size !== recorded.length || value.includes(undefined)) return recorded;
    this.hits++;
    return value;
  }
}

function fieldsOf(item: unknown, names: readonly string[]): string {
  return JSON.stringify(isObject(item) ? names.map((name) => item[name]) : item);
}

function isLike(expression: RegExp | null, value: unknown): boolean {
  return expression === null || expression.test(JSON.stringify(value) ?? 'absent');
}

function expression(source: string | undefined): RegExp | null {
  return source === undefined ? null : new RegExp(source);
}

function stepsOf(pattern: string): string[] {
  return pattern.split('/').slice(1);
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  if (pattern.length === 0) return path.length === 0;
  const [first, ...rest] = pattern;
  if (first === '**') return matches(rest, path) || (path.length > 0 && matches(pattern, path.slice(1)));
  return path.length > 0 && (first === '*' || first === path[0]) && matches(rest, path.slice(1));
}

function classOf(status: number): number {
  return Math.floor(status / 100);
}

function errorOf(response: unknown): string {
  return isObject(response) && typeof response.error === 'string' ? response.error : '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function short(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 160 ? `${text.slice(0, 157)}...` : value === undefined ? 'absent' : value;
}
