import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { statusOf } from '#api/http/error-status.js';
import { compileParameters, type ParameterReader } from '#api/http/parameters.js';
import { typeRenamer } from '#api/http/profile.js';
import { parseQuery, type RawParameters } from '#api/http/query-string.js';
import type { V2Context, V2Network } from '#api/v2/context.js';
import { V2_TYPE_NAMES } from '#api/v2/type-names.js';
import { TernError } from '#kernel/errors/tern-error.js';

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
 * expressions; parameters as JSON). What it allows: `ignore` (patterns as in `/result/x`, where `*` is one step and `**` any number),
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
  readonly asText?: readonly string[];
  readonly status?: 'class';
  readonly expect?: number;
  readonly skip?: boolean;
  readonly reason: string;
}

export interface Difference {
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

/** Reads a file with one JSON value a line; one that ends in `.gz` is unpacked. */
export function readLines(file: string): unknown[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
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

/** The call of a method that a recording is; `null` for requests that are about the transport. */
export function recordedCall(recording: Recording): RecordedCall | null {
  const { method, path, query } = recording;
  const body = jsonOf(recording.body);
  if (path === '/jsonRPC') {
    if (!isObject(body) || typeof body.method !== 'string') return null;
    const params = body.params ?? {};
    return isObject(params) ? { recording, name: body.method, source: 'body', params } : null;
  }
  const name = path.slice(1);
  if (method === 'GET') return { recording, name, source: 'query', params: parseQuery(query ?? '') };
  if (method === 'POST' && isObject(body)) return { recording, name, source: 'body', params: body };
  return null;
}

interface ReadyEndpoint {
  readonly endpoint: AnyEndpoint<V2Context>;
  readonly reader: ParameterReader;
  readonly result: TypeCheck<TSchema>;
}

/**
 * Answers calls as the HTTP layer does, in the `toncenter` profile, without HTTP. Every result is held against the schema of
 * its method.
 */
export class RecordedCalls {
  readonly #byName = new Map<string, ReadyEndpoint>();
  readonly #network: V2Network;
  readonly #rename = typeRenamer(V2_TYPE_NAMES);

  constructor(endpoints: readonly AnyEndpoint<V2Context>[], network: V2Network) {
    this.#network = network;
    for (const endpoint of endpoints) {
      const ready = { endpoint, reader: compileParameters(endpoint), result: TypeCompiler.Compile(endpoint.result) };
      for (const name of [endpoint.name, ...(endpoint.aliases ?? [])]) this.#byName.set(name, ready);
    }
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  async answer({ name, params, source }: RecordedCall): Promise<Answer> {
    const { endpoint, reader, result: schema } = this.#byName.get(name)!;
    try {
      const decoded = reader.read(params, source);
      const context: V2Context = { network: this.#network, read: {}, header: () => {} };
      const text = JSON.stringify(await endpoint.handle(decoded, context));
      const misfit = schema.Errors(JSON.parse(text)).First();
      if (misfit !== undefined)
        throw new RangeError(`the result of ${name} is not as its schema says: ${JSON.stringify(misfit)}`);
      return { status: 200, response: { ok: true, result: JSON.parse(this.#rename(text)) } };
    } catch (error) {
      if (!(error instanceof TernError)) throw error;
      const code = statusOf(error, endpoint as AnyEndpoint<never>, 'toncenter');
      return { status: code, response: { ok: false, error: error.message, code } };
    }
  }
}

/** Asks all calls anew, and compares what is answered with what was recorded. */
export async function compareCalls(
  calls: readonly RecordedCall[],
  rules: readonly Rule[],
  answer: (call: RecordedCall) => Promise<Answer>,
): Promise<Comparison> {
  const ready = rules.map((rule) => new ReadyRule(rule));
  const differences: Difference[] = [];
  let equal = 0;
  let skipped = 0;
  for (const call of calls) {
    const mine = ready.filter((rule) => rule.applies(call));
    const skip = mine.find(({ rule }) => rule.skip === true);
    if (skip !== undefined) {
      skip.hits++;
      skipped++;
      continue;
    }
    const found = [...compare(call.recording, await answer(call), mine)];
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

function* compare(recording: Recording, got: Answer, rules: readonly ReadyRule[]): Generator<At> {
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
  const ignored: Ignored = (path, recorded, answered) => {
    const hit = rules.find((rule) => rule.ignores(path) || rule.equates(path, recorded, answered));
    if (hit !== undefined) hit.hits++;
    return hit !== undefined;
  };
  // What JSON-RPC adds beside the result is not the method's.
  const { result } = recording.response as { readonly result: unknown };
  yield* differencesOf(result, (got.response as { readonly result: unknown }).result, ignored, ['result']);
}

type Ignored = (path: readonly string[], recorded: unknown, answered: unknown) => boolean;

/** Fields of both sides that differ; `@extra` is a server's stamp. */
function* differencesOf(
  recorded: unknown,
  answered: unknown,
  ignored: Ignored,
  path: readonly string[],
): Generator<At> {
  if (path.at(-1) === '@extra') return;
  if (isObject(recorded) && isObject(answered)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(answered)])) {
      yield* differencesOf(recorded[key], answered[key], ignored, [...path, key]);
    }
    return;
  }
  if (Array.isArray(recorded) && Array.isArray(answered) && recorded.length === answered.length) {
    for (const [index, value] of recorded.entries()) {
      yield* differencesOf(value, answered[index], ignored, [...path, String(index)]);
    }
    return;
  }
  if (recorded === answered || ignored(path, recorded, answered)) return;
  yield { at: `/${path.join('/')}`, recorded: short(recorded), answered: short(answered) };
}

class ReadyRule {
  readonly rule: Rule;
  readonly #path: RegExp;
  readonly #error: RegExp | null;
  readonly #params: RegExp | null;
  readonly #desc: RegExp | null;
  readonly #ignore: readonly (readonly string[])[];
  readonly #asText: readonly (readonly string[])[];
  hits = 0;

  constructor(rule: Rule) {
    this.rule = rule;
    this.#path = new RegExp(rule.path);
    this.#error = expression(rule.when?.error);
    this.#params = expression(rule.when?.params);
    this.#desc = expression(rule.when?.desc);
    this.#ignore = (rule.ignore ?? []).map(stepsOf);
    this.#asText = (rule.asText ?? []).map(stepsOf);
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
  equates(path: readonly string[], recorded: unknown, answered: unknown): boolean {
    const kinds = [typeof recorded, typeof answered].sort().join();
    if (kinds !== 'number,string' || Number(recorded) !== Number(answered)) return false;
    return this.#asText.some((pattern) => matches(pattern, path));
  }

  ignores(path: readonly string[]): boolean {
    return this.#ignore.some((pattern) => matches(pattern, path));
  }
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

function jsonOf(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function short(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 160 ? `${text.slice(0, 157)}...` : value === undefined ? 'absent' : value;
}
