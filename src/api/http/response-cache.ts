import type { ParameterSource } from '#api/http/parameter-coercion.js';
import type { RenameTypes } from '#api/http/profile.js';
import type { RawParameters } from '#api/http/query-string.js';
import { LruByBytes } from '#kernel/async/lru-by-bytes.js';
import type { Clock } from '#kernel/clock/clock.js';

/** The result of an endpoint as JSON text, and the headers that go with it. */
export class Result {
  /** In the `spec` profile. */
  readonly text: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The newest masterchain block of the data when the work began; null: true at any. */
  readonly mcSeqno: number | null;
  readonly #rename: RenameTypes;
  #renamed: string | null = null;

  constructor(
    text: string,
    headers: readonly (readonly [string, string])[],
    rename: RenameTypes,
    mcSeqno: number | null = null,
  ) {
    this.text = text;
    this.headers = headers;
    this.mcSeqno = mcSeqno;
    this.#rename = rename;
  }

  /** In the `toncenter` profile; made once. */
  get renamed(): string {
    this.#renamed ??= this.#rename(this.text);
    return this.#renamed;
  }
}

interface Kept {
  readonly result: Result;
  /** The head it was made at; null: true for ever. */
  readonly headSeqno: number | null;
  readonly since: number;
}

/** Larger parameters are not worth keeping their answers. */
const MAX_KEY = 4_096;

/** A JSON text may be kept in both profiles. */
const COPIES = 2;

/** Keeps results: those about the head until it changes or they are old, the others as long as there is room. */
export class ResponseCache {
  readonly #kept: LruByBytes<Kept>;
  readonly #headCacheMs: number;
  readonly #clock: Clock;
  hits = 0;
  misses = 0;

  constructor(maxBytes: number, headCacheMs: number, clock: Clock) {
    this.#kept = new LruByBytes(maxBytes);
    this.#headCacheMs = headCacheMs;
    this.#clock = clock;
  }

  get bytes(): number {
    return this.#kept.bytes;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** @param headSeqno of now */
  get(key: string, headSeqno: number): Result | undefined {
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      const { headSeqno: madeAt, since } = kept;
      if (madeAt === null || (madeAt === headSeqno && this.#clock.now() - since <= this.#headCacheMs)) {
        this.hits++;
        return kept.result;
      }
      this.#kept.delete(key);
    }
    this.misses++;
    return undefined;
  }

  /** @param headSeqno at which the work on it began; null for what is true for ever */
  set(key: string, result: Result, headSeqno: number | null): void {
    if (headSeqno === 0 || key.length > MAX_KEY) return;
    let bytes = result.text.length * COPIES;
    for (const [name, value] of result.headers) bytes += name.length + value.length;
    this.#kept.set(key, { result, headSeqno, since: this.#clock.now() }, bytes);
  }

  clear(): void {
    this.#kept.clear();
  }
}

/** Equal for equal parameters, in whatever order they came; different for all others. */
export function parametersKey(raw: RawParameters, source: ParameterSource): string {
  const names = Object.keys(raw);
  if (names.length > 1) names.sort();
  let key = source === 'query' ? '?' : '{';
  for (const name of names) {
    const value = raw[name];
    key +=
      typeof value === 'string'
        ? `${name.length},${name}=${value.length},${value};`
        : `${name.length},${name}:${JSON.stringify(value)};`;
  }
  return key;
}
