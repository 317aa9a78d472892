import type { EndpointResult } from '#api/http/endpoint-result.js';
import type { AnyHttpApi, ChangeLog } from '#api/http/http-api.js';
import type { ParameterSource } from '#api/http/parameters.js';
import type { RawParameters } from '#api/http/query-string.js';
import type { Clock } from '#kernel/clock.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';

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
  /** Beside the text of the result. */
  readonly bytes: number;
}

/** A result that did not change is made anew all the same after so long, in milliseconds. */
const MOST_KEPT_MS = 600_000;

/** Results for longer keys are not cached. */
const MAX_KEY = 4_096;

/** Approximate overhead of a string, and of an entry beside what it names. */
const STRING_BYTES = 24;
const RESULT_BYTES = 400;

/** Part of the bound that is for compressed results. */
const COMPRESSED_PART = 0.5;

/** Results that are being compressed because there is no room for them; what else is evicted meanwhile is not kept. */
const MOST_COMPRESSING = 16;

/**
 * Caches results: those about the head until it changes or they are too old, those of which is known what they depend on until
 * that changes, the others as long as there is room. A result that was not asked for lately is compressed, if it may hold for
 * longer than until the next block; one that is asked for again, by a client that does not accept it so, is expanded.
 */
export class ResponseCache {
  readonly #plain: LruByBytes<CacheEntry>;
  readonly #compressed: LruByBytes<CacheEntry>;
  readonly #headCacheMs: number;
  readonly #clock: Clock;
  /** Evicted entries until they are compressed. */
  readonly #compressing = new Map<string, CacheEntry>();
  hits = 0;
  misses = 0;

  constructor(maxBytes: number, headCacheMs: number, clock: Clock) {
    const compressedBytes = Math.floor(maxBytes * COMPRESSED_PART);
    this.#compressed = new LruByBytes(compressedBytes);
    this.#plain = new LruByBytes(maxBytes - compressedBytes, (key, entry, isEvicted) => {
      if (isEvicted) this.#compress(key, entry);
    });
    this.#headCacheMs = headCacheMs;
    this.#clock = clock;
  }

  get bytes(): number {
    return this.#plain.bytes + this.#compressed.bytes;
  }

  /** Bytes of `bytes` that are of compressed results. */
  get compressedBytes(): number {
    return this.#compressed.bytes;
  }

  get size(): number {
    return this.#plain.size + this.#compressed.size;
  }

  /** @param counts whether it counts as a hit or a miss: a call may look twice */
  get(key: string, head: CurrentHead, counts = true): EndpointResult | undefined {
    const kept = this.#find(key);
    const holds = kept !== undefined && this.#holds(key, kept, head);
    if (counts) {
      if (holds) this.hits++;
      else this.misses++;
    }
    return holds ? kept.result : undefined;
  }

  /** A result that holds but for its tail. */
  withOldTail(key: string, head: CurrentHead): EndpointResult | undefined {
    const kept = this.#find(key);
    if (kept === undefined || this.#holds(key, kept, head)) return undefined;
    return this.#find(key) === kept ? kept.result : undefined;
  }

  #find(key: string): CacheEntry | undefined {
    return this.#plain.get(key) ?? this.#compressed.get(key) ?? this.#compressing.get(key);
  }

  #delete(key: string): void {
    this.#plain.delete(key);
    this.#compressed.delete(key);
    this.#compressing.delete(key);
  }

  /** Deletes an entry that does not hold any more, not even without its tail. */
  #holds(key: string, kept: CacheEntry, head: CurrentHead): boolean {
    const { seqno, changes, keptHeaders } = head;
    const { result, headSeqno, tailSeqno, since } = kept;
    if (headSeqno === null) return true;
    const now = this.#clock.now();
    if (headSeqno === seqno && tailSeqno === seqno && now - since <= this.#headCacheMs) return true;
    const { keys, tail } = result;
    const isKnown = keys !== null && changes !== undefined && now - changes.confirmedAt <= this.#headCacheMs;
    if (!isKnown || now - since > MOST_KEPT_MS || !changes.isUnchanged(keys, headSeqno)) {
      this.#delete(key);
      return false;
    }
    if (headSeqno !== seqno && keptHeaders !== undefined) result.headers = keptHeaders(result.headers);
    kept.headSeqno = seqno;
    if (tail !== null && !changes.isUnchanged(tail.keys, tailSeqno!)) return false;
    kept.tailSeqno = seqno;
    result.mcSeqno = head.mcSeqno;
    return true;
  }

  /** @param headSeqno at which the work began; null for what is valid for ever */
  set(key: string, result: EndpointResult, headSeqno: number | null): void {
    if (headSeqno === 0 || key.length > MAX_KEY) return;
    let bytes = RESULT_BYTES;
    for (const [name, value] of result.headers) bytes += name.length + value.length;
    for (const name of result.keys ?? []) bytes += name.length + STRING_BYTES;
    // The source of a tail names each address once more, at greater length.
    for (const name of result.tail?.keys ?? []) bytes += 3 * name.length + 2 * STRING_BYTES;
    const entry = { result, headSeqno, tailSeqno: headSeqno, since: this.#clock.now(), bytes };
    result.onFormChanged = () => {
      if (this.#find(key) === entry && this.#compressing.get(key) !== entry) this.#place(key, entry);
    };
    this.#delete(key);
    this.#place(key, entry);
  }

  #place(key: string, entry: CacheEntry): void {
    const { result, bytes } = entry;
    const [there, elsewhere] = result.isPlain ? [this.#plain, this.#compressed] : [this.#compressed, this.#plain];
    elsewhere.delete(key);
    there.set(key, entry, bytes + result.textBytes);
  }

  /** Of an entry for which there is no room. */
  #compress(key: string, entry: CacheEntry): void {
    const { result, headSeqno } = entry;
    if (headSeqno !== null && result.keys === null) return;
    if (this.#compressing.size >= MOST_COMPRESSING) return;
    const compressed = result.compressed();
    if (compressed === null) return;
    if (!(compressed instanceof Promise)) {
      result.dropPlain();
      this.#place(key, entry);
      return;
    }
    this.#compressing.set(key, entry);
    const done = (): void => {
      if (this.#compressing.get(key) !== entry) return;
      this.#compressing.delete(key);
      result.dropPlain();
      if (!result.isPlain) this.#place(key, entry);
    };
    compressed.then(done, done);
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
