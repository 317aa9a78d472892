import { gunzipSync, gzip } from 'node:zlib';
import type { AnswerTail, SerializedJson } from '#api/http/endpoint.js';
import type { AnswerHeaders } from '#api/http/http-api.js';
import type { RenameTypes } from '#api/http/profile.js';

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
