import type { TObject } from '@sinclair/typebox';
import { v2Endpoints } from '#api/v2/endpoints.js';
import { NASTY_BODIES, NASTY_JSON, NASTY_TEXTS } from '#test/http/nasty-texts.js';

/** A request that no client would send. */
export interface NastyRequest {
  readonly method: 'GET' | 'POST';
  /** From `/api/v2/` on, with the query. */
  readonly path: string;
  readonly body?: string | Buffer;
}

const EMPTY_CELL = 'te6cckEBAQEAAgAAAEysuc0=';
const ELECTOR = `-1:${'3'.repeat(64)}`;

/** Values that are right, so that a request is wrong in one place only. */
const RIGHT: Readonly<Record<string, unknown>> = {
  address: ELECTOR,
  source: ELECTOR,
  destination: ELECTOR,
  created_lt: '1000000',
  workchain: -1,
  shard: '-9223372036854775808',
  seqno: 3,
  config_id: 0,
  hash: '0'.repeat(64),
  libraries: ['0'.repeat(64)],
  method: 'active_election_id',
  stack: [],
  body: EMPTY_CELL,
  boc: EMPTY_CELL,
  cell: { data: { b64: '', len: 0 }, refs: [] },
};

/** All parameters of all methods, those included that are not in the document: each with each text and each JSON value. */
export function* nastyRequests(): Generator<NastyRequest> {
  for (const { name, verbs, params } of v2Endpoints) {
    const { properties, required = [] } = params as TObject;
    for (const field of Object.keys(properties)) {
      const others = Object.fromEntries(
        Object.entries(RIGHT).filter(([other]) => other !== field && required.includes(other)),
      );
      for (const text of NASTY_TEXTS) {
        if (verbs.includes('GET')) yield get(name, others, `${field}=${encodeURIComponent(text)}`);
        if (verbs.includes('POST')) yield post(name, others, `${JSON.stringify(field)}:${JSON.stringify(text)}`);
        yield rpc(name, others, `${JSON.stringify(field)}:${JSON.stringify(text)}`);
      }
      for (const value of NASTY_JSON) {
        if (verbs.includes('POST')) yield post(name, others, `${JSON.stringify(field)}:${value}`);
        yield rpc(name, others, `${JSON.stringify(field)}:${value}`);
      }
      const right = RIGHT[field] ?? '1';
      const given = JSON.stringify(right);
      if (verbs.includes('GET')) {
        const text = encodeURIComponent(String(right));
        yield get(name, others, `${field}=${text}&${field}=${text}`);
        yield get(name, others, `${field}[]=${text}`);
        yield get(name, others, `${field}=%`);
        yield get(name, others, `${field}=%FF%FE`);
        yield get(name, others, field);
        yield get(name, others, `${`${field}=1&`.repeat(300)}`);
      }
      yield post(name, others, `"${field}":${given},"${field}":${given}`);
      yield post(name, others, `"${field}":${given},"\\u0000":1`);
    }
    for (const text of NASTY_TEXTS) {
      yield get(name, {}, `${encodeURIComponent(text)}=1`);
      yield post(name, {}, `${JSON.stringify(text)}:1`);
    }
    for (const body of NASTY_BODIES) yield { method: 'POST', path: name, body };
  }
  for (const body of NASTY_BODIES) yield { method: 'POST', path: 'jsonRPC', body };
  for (const text of [...NASTY_TEXTS.map((each) => JSON.stringify(each)), ...NASTY_JSON]) {
    for (const member of ['method', 'id', 'params', 'jsonrpc', '@extra']) {
      const rest = member === 'method' ? '' : '"method":"getMasterchainInfo",';
      yield { method: 'POST', path: 'jsonRPC', body: `{${rest}"${member}":${text}}` };
    }
  }
  for (const text of NASTY_TEXTS) {
    if (text !== '') yield { method: 'GET', path: encodeURIComponent(text) };
  }
}

function get(name: string, others: Readonly<Record<string, unknown>>, query: string): NastyRequest {
  const right = Object.entries(others).map(([field, value]) => `${field}=${encodeURIComponent(String(value))}&`);
  return { method: 'GET', path: `${name}?${right.join('')}${query}` };
}

function post(name: string, others: Readonly<Record<string, unknown>>, member: string): NastyRequest {
  return { method: 'POST', path: name, body: objectOf(others, member) };
}

function rpc(name: string, others: Readonly<Record<string, unknown>>, member: string): NastyRequest {
  return { method: 'POST', path: 'jsonRPC', body: `{"id":1,"method":"${name}","params":${objectOf(others, member)}}` };
}

function objectOf(others: Readonly<Record<string, unknown>>, member: string): string {
  const right = Object.entries(others).map(([field, value]) => `"${field}":${JSON.stringify(value)},`);
  return `{${right.join('')}${member}}`;
}

/** Statuses that a request may end with, whatever it is. */
const PROPER = new Set([200, 404, 405, 409, 413, 414, 422]);

const REFUSAL = 'LITE_SERVER_UNKNOWN: cannot apply external message to current state';

/** After this long a request counts as one that never ends. */
const MOST_ANSWER_MS = 60_000;

/**
 * Sends a request.
 *
 * @param api URL of the API, without a slash at the end
 * @returns what is wrong with the answer; null: nothing
 */
export async function judge(api: string, { method, path, body }: NastyRequest): Promise<string | null> {
  const startedAt = performance.now();
  const init = { method, signal: AbortSignal.timeout(MOST_ANSWER_MS), ...(body === undefined ? {} : { body }) };
  let text = '';
  let status = 0;
  try {
    const response = await fetch(`${api}/${path}`, init);
    status = response.status;
    text = await response.text();
    if (response.headers.get('x-request-id') === null) return 'there is no X-Request-Id';
    const answer = JSON.parse(text);
    if (status === 200) return answer.ok === true && 'result' in answer ? null : `200: ${text.slice(0, 300)}`;
    const { ok, code, error } = answer;
    if (ok !== false || code !== status || typeof error !== 'string' || error === '') {
      return `${status}: ${text.slice(0, 300)}`;
    }
    const isReasoned = (status === 503 || status === 504) && error.length > 20;
    // A message in order that a contract does not want: documented to be 500, with the text of the node.
    const isRefusal = status === 500 && error.startsWith(REFUSAL);
    return PROPER.has(status) || isReasoned || isRefusal ? null : `${status}: ${text.slice(0, 300)}`;
  } catch (error) {
    return `${status} after ${Math.round(performance.now() - startedAt)} ms: ${error} ${text.slice(0, 200)}`;
  }
}

/** What a campaign came to. */
export interface NastyReport {
  readonly requests: number;
  readonly failures: readonly string[];
  /** The longest time an answer took, in milliseconds, and to what. */
  readonly slowestMs: number;
  readonly slowest: string;
}

/** Sends requests, several at once; stops before the end when there are too many failures. */
export async function sendAll(api: string, requests: Iterable<NastyRequest>, concurrency = 4): Promise<NastyReport> {
  const queue = requests[Symbol.iterator]();
  const failures: string[] = [];
  let [sent, slowestMs, slowest] = [0, 0, ''];
  const work = async () => {
    for (let next = queue.next(); next.done !== true && failures.length < 50; next = queue.next()) {
      const request = next.value;
      const startedAt = performance.now();
      const problem = await judge(api, request);
      const elapsed = performance.now() - startedAt;
      sent++;
      const label = `${request.method} ${request.path.slice(0, 300)} ${String(request.body ?? '').slice(0, 500)}`;
      if (elapsed > slowestMs) [slowestMs, slowest] = [elapsed, label];
      if (problem !== null) failures.push(`${label} -> ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { requests: sent, failures, slowestMs, slowest };
}
