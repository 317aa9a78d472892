import { gunzipSync, gzip } from 'node:zlib';
import type { AnswerTail, RawParameters, SerializedJson } from '#api/http/endpoint.js';
import type { AnswerHeaders, AnyHttpApi, ChangeLog } from '#api/http/http-api.js';
import type { ParameterSource } from '#api/http/parameters.js';
import type { Clock } from '#kernel/clock.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';

/** Renames the types in a serialised result. */
export type RenameTypes = (json: string) => string;

/**
 * Renames values of `@type` by a table. Quotes within strings are escaped in JSON, so a match, which begins with an unescaped
 * quote after `{` or `,`, is a key and never part of a string.
 */
export function typeRenamer(names: Readonly<Record<string, string>>): RenameTypes {
  const table = new Map(Object.entries(names).filter(([from, to]) => from !== to));
  if (table.size === 0) return (json) => json;
  const alternatives = [...table.keys()].map((name) => name.replace(/[^A-Za-z0-9]/g, '\\$&')).join('|');
  const pattern = new RegExp(`(?<=[{,]"@type":")(?:${alternatives})(?=")`, 'g');
  return (json) => json.replace(pattern, (name) => table.get(name) as string);
}

/** Longer results are not kept compressed: one is expanded by the main thread at once. */
const MOST_COMPRESSED = 512 * 1024;

/** Measured on 26 kB of transactions: 140 µs to 8.4 kB; more effort saves 3 %. */
const GZIP = { level: 2 };

/** The serialised result of an endpoint, and its headers. The text is plain, compressed, or both. */
export class EndpointResult {
  headers: AnswerHeaders;
  /** The newest masterchain block of which it is known to tell the data; null: valid for ever. */
  mcSeqno: number | null;
  /** Keys of the data that it tells; null: any. */
  readonly keys: readonly string[] | null;
  readonly tail: AnswerTail | null;
  /** Work beside that of the price which the endpoint reported, in work units. */
  readonly worked: number;
  /** Characters or bytes of the JSON. */
  readonly length: number;
  /** Whether its JSON is in UTF-8: that of APIs that write each profile, which is sent as it is. */
  readonly isBytes: boolean;
  /** Called when the text was compressed or expanded. */
  onFormChanged: (() => void) | null = null;
  readonly #rename: RenameTypes;
  /** Null: only compressed. */
  #json: SerializedJson | null;
  #renamed: SerializedJson | null = null;
  #gzip: Uint8Array | null = null;
  #compressing: Promise<Uint8Array> | null = null;

  /** @param json in the `spec` profile */
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
    this.#json = json;
    this.length = json.length;
    this.isBytes = typeof json !== 'string';
    this.worked = worked;
    this.headers = headers;
    this.mcSeqno = mcSeqno;
    this.#rename = rename;
  }

  /** In the `spec` profile. */
  get json(): SerializedJson {
    if (this.#json !== null) return this.#json;
    this.#json = gunzipSync(this.#gzip!, { chunkSize: Math.max(MIN_CHUNK, this.length) });
    this.onFormChanged?.();
    return this.#json;
  }

  /** In the `toncenter` profile; computed once. Bytes come from APIs that write each profile. */
  get renamed(): SerializedJson {
    if (this.isBytes) return this.json;
    this.#renamed ??= this.#rename(this.json as string);
    return this.#renamed;
  }

  get isPlain(): boolean {
    return this.#json !== null;
  }

  /** Memory of the text in all its forms. */
  get textBytes(): number {
    const renamed = this.isBytes ? 0 : this.length;
    return (this.isPlain ? this.length + renamed : 0) + (this.#gzip?.length ?? 0);
  }

  /** The bytes of its JSON in gzip, made once, on another thread; null: it is a string or too long. */
  compressed(): Uint8Array | Promise<Uint8Array> | null {
    if (this.#gzip !== null) return this.#gzip;
    if (!this.isBytes || this.length > MOST_COMPRESSED) return null;
    this.#compressing ??= this.#compress();
    return this.#compressing;
  }

  #compress(): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      gzip(this.json, GZIP, (error, bytes) => {
        this.#compressing = null;
        if (error !== null) return reject(error);
        // What zlib returns may be a small part of its buffer.
        const own = Buffer.allocUnsafeSlow(bytes.length);
        own.set(bytes);
        this.#gzip = own;
        this.onFormChanged?.();
        resolve(own);
      });
    });
  }

  /** Only the compressed form is held, where there is one. */
  dropPlain(): void {
    if (this.#gzip !== null) this.#json = null;
  }

  /** The same result with another tail. */
  withTail(text: string, keys: readonly string[], mcSeqno: number | null): EndpointResult {
    const { json, headers } = this;
    const tail = { ...this.tail!, keys };
    const whole = replaceEnd(json, tail.from, text);
    const result = new EndpointResult(whole, headers, this.#rename, mcSeqno, 0, { keys: this.keys, tail });
    if (whole === json) result.#gzip = this.#gzip;
    return result;
  }
}

/** The smallest that zlib takes. */
const MIN_CHUNK = 64;

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
