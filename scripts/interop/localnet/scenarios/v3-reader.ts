import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../tonlib-session.js';

const PATIENCE_MS = 45_000;
const POLL_MS = 200;
const PAGE = 500;

/** Reads over API v3, as any program does that has no client for it. */
export class V3Reader {
  readonly #url: string;

  /** @param url of the server, without a slash at the end */
  constructor(url: string) {
    this.#url = `${url}/api/v3`;
  }

  async get(method: string, parameters: Readonly<Record<string, string | number>>): Promise<JsonObject> {
    const query = new URLSearchParams(
      Object.entries(parameters).map(([name, value]) => [name, `${value}`] as [string, string]),
    );
    const response = await fetch(`${this.#url}/${method}?${query}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`/${method}?${query}: ${response.status} ${text}`);
    return JSON.parse(text) as JsonObject;
  }

  /** The one row of a table that fits. */
  async row(method: string, table: string, parameters: Readonly<Record<string, string | number>>): Promise<JsonObject> {
    const rows = (await this.get(method, parameters))[table] as readonly JsonObject[];
    if (rows.length !== 1) throw new Error(`/${method} has ${rows.length} rows for ${JSON.stringify(parameters)}`);
    return rows[0]!;
  }

  /** All rows of a table, page after page. */
  async rows(method: string, table: string, parameters: Readonly<Record<string, string>>): Promise<JsonObject[]> {
    const all: JsonObject[] = [];
    for (;;) {
      const page = await this.get(method, { ...parameters, limit: PAGE, offset: all.length });
      const rows = page[table] as readonly JsonObject[];
      all.push(...rows);
      if (rows.length < PAGE) return all;
    }
  }

  /** The trace of an external message, by its normalised hash in base64, once all of it is there. */
  async trace(messageHash: string): Promise<JsonObject> {
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await delay(POLL_MS)) {
      const traces = await this.get('traces', { msg_hash: messageHash });
      const [trace] = traces.traces as readonly JsonObject[];
      if (trace !== undefined && (trace.trace_info as JsonObject).trace_state === 'complete') return trace;
    }
    throw new Error(`the trace of ${messageHash} is not complete after ${PATIENCE_MS / 1000} s`);
  }

  /** Waits until the index has a masterchain block. */
  async reaches(seqno: number): Promise<void> {
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await delay(POLL_MS)) {
      const { last } = await this.get('masterchainInfo', {});
      if (((last as JsonObject).seqno as number) >= seqno) return;
    }
    throw new Error(`the index has not reached block ${seqno} after ${PATIENCE_MS / 1000} s`);
  }
}
