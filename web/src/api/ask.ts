import { apiKey, noteStatus } from '../api/api-key.js';

/** Why an API could not answer. */
export type ProblemKind =
  /** No connection: the server does not run, or the machine is offline. */
  | 'unreachable'
  /** The request names something that cannot be. */
  | 'refused'
  | 'not-found'
  /** Nothing serves this path: the network has no index, or is not a local one. */
  | 'not-served'
  | 'busy'
  | 'failed';

/** An answer that is an error. */
export class ApiProblem extends Error {
  readonly kind: ProblemKind;
  /** 0: there was none. */
  readonly status: number;
  /** Seconds after which to ask again; null: the server does not say. */
  readonly retryAfter: number | null;
  /** `X-Tern-Coverage`: what the index has; null when it has everything, or there is none. */
  readonly coverage: string | null;

  constructor(kind: ProblemKind, status: number, sentence: string, headers: Headers | null, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.status = status;
    const wait = Number(headers?.get('Retry-After') ?? Number.NaN);
    this.retryAfter = Number.isFinite(wait) ? wait : null;
    this.coverage = headers?.get('X-Tern-Coverage') ?? null;
  }
}

/** An answer with what its headers say. */
export interface Answer<Value> {
  readonly value: Value;
  /** `X-Tern-Next`: the cursor of the next page; null on the last one. */
  readonly next: string | null;
  /** `X-Tern-Coverage`; null: nothing is missing. */
  readonly coverage: string | null;
  /** `X-Tern-Mc-Seqno`: the newest masterchain block that the answer can know. */
  readonly mcSeqno: number | null;
}

type QueryValue = string | number | boolean | null | undefined | readonly string[];
export type Query = Readonly<Record<string, QueryValue>>;

function searchOf(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value == null) continue;
    if (typeof value === 'object') for (const each of value) search.append(name, each);
    else search.append(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

interface Asking {
  readonly query?: Query;
  /** Sent as JSON with POST. */
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
}

/** Headers of a request with a body or without. */
export function requestHeaders(hasBody: boolean): Record<string, string> {
  const key = apiKey();
  return {
    // Whatever the default of the server is.
    'X-Tern-Profile': 'spec',
    ...(hasBody ? { 'Content-Type': 'application/json' } : {}),
    ...(key === null ? {} : { 'X-API-Key': key }),
  };
}

/**
 * Asks an API of this server.
 *
 * @param path `/api/v3/actions`
 * @throws ApiProblem
 */
export async function ask<Value>(path: string, { query = {}, body, signal }: Asking = {}): Promise<Answer<Value>> {
  const init: RequestInit = {
    headers: requestHeaders(body !== undefined),
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  };
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${path}${searchOf(query)}`, init);
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiProblem('unreachable', 0, 'The server does not answer.', null, error);
  }
  const { headers } = response;
  const value = parsed(text);
  if (response.ok && value !== undefined) {
    const seqno = Number(headers.get('X-Tern-Mc-Seqno') ?? Number.NaN);
    return {
      value: value as Value,
      next: headers.get('X-Tern-Next'),
      coverage: headers.get('X-Tern-Coverage'),
      mcSeqno: Number.isFinite(seqno) ? seqno : null,
    };
  }
  const { status } = response;
  if (path.startsWith('/api/')) noteStatus(status);
  const said = (value as { readonly error?: unknown } | undefined)?.error;
  const sentence = typeof said === 'string' ? said : `The server answered with status ${status}.`;
  throw new ApiProblem(kindOf(status, said), status, sentence, headers);
}

/** What the server says of a path that nothing is mounted at. */
const NO_SUCH_PATH = 'Not Found';

function kindOf(status: number, said: unknown): ProblemKind {
  if (status === 404) return said === NO_SUCH_PATH || said === undefined ? 'not-served' : 'not-found';
  if (status === 405) return 'not-served';
  if (status === 429 || status === 503 || status === 504) return 'busy';
  return status < 500 ? 'refused' : 'failed';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** API v2: the result of a method, without its envelope. @throws ApiProblem */
export async function askV2<Result>(method: string, query: Query, signal?: AbortSignal): Promise<Result> {
  const { value } = await ask<{ readonly result: Result }>(`/api/v2/${method}`, { query, signal });
  return value.result;
}

/** API v2 with a body. @throws ApiProblem */
export async function postV2<Result>(method: string, body: object, signal?: AbortSignal): Promise<Result> {
  const { value } = await ask<{ readonly result: Result }>(`/api/v2/${method}`, { body, signal });
  return value.result;
}

/** API v3. @throws ApiProblem */
export function askV3<Value>(method: string, query: Query, signal?: AbortSignal): Promise<Answer<Value>> {
  return ask<Value>(`/api/v3/${method}`, { query, signal });
}
