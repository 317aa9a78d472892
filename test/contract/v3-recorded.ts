import type { RawParameters } from '#api/http/endpoint.js';
import { foldingGrammar, parseQuery } from '#api/http/parameters.js';
import type { Answer, RecordedCall, Recording } from '#test/contract/recorded-calls.js';

/** Methods whose data come with another part of the index. */
const LATER = /^\/(pending\w+|balanceChanges|staking\/.*|validators\/.*)$/;

/** Whether the data of a method come with another part of the index. */
export function comesLater(name: string): boolean {
  return LATER.test(`/${name}`);
}

/** The call of a method that a recording is; null for methods that are not there, and where actions are told. */
export function v3Call(recording: Recording): RecordedCall | null {
  return LATER.test(recording.path) || asksForActions(recording) ? null : callOf(recording);
}

/** Whether an answer has actions: they are compared apart, in v3-actions.long.test.ts. */
export function asksForActions({ path, query }: Recording): boolean {
  return /^\/(actions|events)$/.test(path) || (path === '/traces' && /include_actions=(true|1)/.test(query ?? ''));
}

/** The call of a method that a recording is. */
export function callOf(recording: Recording): RecordedCall {
  const { path, query, body } = recording;
  const name = path.slice(1);
  if (recording.method === 'GET')
    return { recording, name, source: 'query', params: parseQuery(query ?? '', foldingGrammar) };
  return { recording, name, source: 'body', params: parametersOf(body) };
}

/** Of a body; one that is no JSON object counts as a parameter without a name. */
function parametersOf(body: unknown): RawParameters {
  if (body === '' || body === null) return {};
  try {
    const value: unknown = typeof body === 'string' ? JSON.parse(body) : body;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // As any other text.
  }
  return { '': body };
}

/** Sends a request as it was to the mount of the live dialect. */
export async function askV3(url: string, { method, path, query, body }: Recording): Promise<Answer> {
  const target = `${url}/toncenter/api/v3${path}${query ? `?${query}` : ''}`;
  const init: RequestInit = { method };
  if (body !== null && body !== undefined) {
    init.headers = { 'content-type': 'application/json' };
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  const answer = await fetch(target, init);
  const text = await answer.text();
  return { status: answer.status, response: text === '' ? '' : JSON.parse(text) };
}
