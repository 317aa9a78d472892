import type { AnswerTail, SerializedJson } from '#api/http/endpoint.js';
import type { AnswerHeaders, AnyHttpApi, ChangeLog } from '#api/http/http-api.js';
import type { ParameterSource } from '#api/http/parameters.js';
import type { RenameTypes } from '#api/http/profile.js';
import type { RawParameters } from '#api/http/query-string.js';
import type { Clock } from '#kernel/clock.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';

/** The serialised result of an endpoint, and its headers. */
export class EndpointResult {
  /** In the `spec` profile. */
  readonly json: SerializedJson;
  headers: AnswerHeaders;
  /** The newest masterchain block of which it is known to tell the data; null: valid for ever. */
  mcSeqno: number | null;
  /** Keys of the data that it tells; null: any. */
  readonly keys: readonly string[] | null;
  readonly tail: AnswerTail | null;
  /** Work beside that of the price which the endpoint reported, in work units. */
  readonly worked: number;
  readonly #rename: RenameTypes;
  #renamed: SerializedJson | null = null;

  constructor(
    json: SerializedJson,
    headers: readonly (readonly [string, string])[],
    rename: RenameTypes,
    mcSeqno: number | null = null,
    worked = 0,
    { keys, tail }: Pick<EndpointResult, 'keys' | 'tail'> = { keys: null, tail: null },
  ) {
    this.keys = keys;
    this.tail = tail;
    this.json = json;
    this.worked = worked;
    this.headers = headers;
    this.mcSeqno = mcSeqno;
    this.#rename = rename;
  }

  /** The same result with another tail. */
  withTail(text: string, keys: readonly string[], mcSeqno: number | null): EndpointResult {
    const { json, headers } = this;
    const tail = { ...this.tail!, keys };
    return new EndpointResult(replaceEnd(json, tail.from, text), headers, this.#rename, mcSeqno, 0, {
      keys: this.keys,
      tail,
    });
  }

  /** In the `toncenter` profile; computed once. Bytes come from APIs that write each profile. */
  get renamed(): SerializedJson {
    this.#renamed ??= typeof this.json === 'string' ? this.#rename(this.json) : this.json;
    return this.#renamed;
  }
}

/** The same JSON with another end; the very same where it ends so already, as it mostly does. */
function replaceEnd(json: SerializedJson, from: number, end: string): SerializedJson {
  if (typeof json === 'string') return json.slice(0, from) + end;
  const bytes = Buffer.from(end);
  return bytes.equals(json.subarray(from)) ? json : Buffer.concat([json.subarray(0, from), bytes]);
}

/** What results about the head are compared with. */
export interface CurrentHead {
  /** The seqno that invalidates cached results about the head, but for those that did not change. */
  readonly seqno: number;
  readonly changes: ChangeLog | undefined;
  /** The newest masterchain block of the data; null where that is not told. */
  readonly mcSeqno: number | null;
  readonly keptHeaders?: AnyHttpApi['keptHeaders'];
}

interface CacheEntry {
  readonly result: EndpointResult;
  /** The newest head as of which it is known to hold, without its tail, and with it; null: valid for ever. */
  headSeqno: number | null;
  tailSeqno: number | null;
  readonly since: number;
}

/** A result that did not change is made anew all the same after so long, in milliseconds. */
const MOST_KEPT_MS = 600_000;

/** Results for longer keys are not cached. */
const MAX_KEY = 4_096;

/** A result may be held in both profiles. */
const COPIES = 2;

/**
 * Caches results: those about the head until it changes or they are too old, those of which is known what they depend on until
 * that changes, the others as long as there is room.
 */
export class ResponseCache {
  readonly #entries: LruByBytes<CacheEntry>;
  readonly #headCacheMs: number;
  readonly #clock: Clock;
  hits = 0;
  misses = 0;

  constructor(maxBytes: number, headCacheMs: number, clock: Clock) {
    this.#entries = new LruByBytes(maxBytes);
    this.#headCacheMs = headCacheMs;
    this.#clock = clock;
  }

  get bytes(): number {
    return this.#entries.bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @param counts whether it counts as a hit or a miss: a call may look twice */
  get(key: string, head: CurrentHead, counts = true): EndpointResult | undefined {
    const kept = this.#entries.get(key);
    const holds = kept !== undefined && this.#holds(key, kept, head);
    if (counts) {
      if (holds) this.hits++;
      else this.misses++;
    }
    return holds ? kept.result : undefined;
  }

  /** A result that holds but for its tail. */
  withOldTail(key: string, head: CurrentHead): EndpointResult | undefined {
    const kept = this.#entries.get(key);
    if (kept === undefined || this.#holds(key, kept, head)) return undefined;
    return this.#entries.get(key) === kept ? kept.result : undefined;
  }

  /** Deletes an entry that does not hold any more, not even without its tail. */
  #holds(key: string, kept: CacheEntry, { seqno, changes, mcSeqno, keptHeaders }: CurrentHead): boolean {
    const { result, headSeqno, tailSeqno, since } = kept;
    if (headSeqno === null) return true;
    const now = this.#clock.now();
    if (headSeqno === seqno && tailSeqno === seqno && now - since <= this.#headCacheMs) return true;
    const { keys, tail } = result;
    const isKnown = keys !== null && changes !== undefined && now - changes.confirmedAt <= this.#headCacheMs;
    if (!isKnown || now - since > MOST_KEPT_MS || !changes.isUnchanged(keys, headSeqno)) {
      this.#entries.delete(key);
      return false;
    }
    if (headSeqno !== seqno && keptHeaders !== undefined) result.headers = keptHeaders(result.headers);
    kept.headSeqno = seqno;
    if (tail !== null && !changes.isUnchanged(tail.keys, tailSeqno!)) return false;
    kept.tailSeqno = seqno;
    result.mcSeqno = mcSeqno;
    return true;
  }

  /** @param headSeqno at which the work began; null for what is valid for ever */
  set(key: string, result: EndpointResult, headSeqno: number | null): void {
    if (headSeqno === 0 || key.length > MAX_KEY) return;
    const { json } = result;
    let bytes = typeof json === 'string' ? json.length * COPIES : json.length;
    for (const [name, value] of result.headers) bytes += name.length + value.length;
    for (const name of result.keys ?? []) bytes += name.length;
    for (const name of result.tail?.keys ?? []) bytes += name.length * COPIES;
    this.#entries.set(key, { result, headSeqno, tailSeqno: headSeqno, since: this.#clock.now() }, bytes);
  }

  clear(): void {
    this.#entries.clear();
  }
}

/** Equal for equal parameters in any order, and different for all others. */
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
