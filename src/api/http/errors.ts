import { defineErrors, type TernError } from '#kernel/tern-error.js';

/** Errors of requests; those of methods belong to the modules below. */
export const httpErrors = defineErrors('http', {
  'bad-option': {
    class: 'caller',
    message: (d: { option: string; found: string; accepted: string }) =>
      `the option ${d.option} is ${d.found}; allowed is ${d.accepted}`,
    remedy: 'Correct the option.',
  },
  'cannot-listen': {
    class: 'caller',
    message: (d: { host: string; port: number; problem: string }) =>
      `cannot listen on ${d.host}:${d.port}: ${d.problem}`,
    remedy: 'Choose another port or host (--port, --host; of tern serve: --listen), or stop the program that uses it.',
  },
  'bad-endpoint': {
    class: 'internal',
    message: (d: { endpoint: string; problem: string }) => `the endpoint ${d.endpoint} cannot be served: ${d.problem}`,
    remedy: 'Correct the declaration of the endpoint.',
  },
  'bad-parameter': {
    class: 'caller',
    message: (d: { parameter: string; problem: string }) => `parameter ${d.parameter}: ${d.problem}`,
    remedy: 'Correct the parameter; the API reference lists its values.',
  },
  'missing-parameter': {
    class: 'caller',
    message: (d: { parameter: string }) => `parameter ${d.parameter}: it is required`,
    remedy: 'Add the parameter; the API reference lists its values.',
  },
  'unknown-parameter': {
    class: 'caller',
    message: (d: { parameter: string; known: string }) =>
      `unknown parameter ${d.parameter}; this method has ${d.known}`,
    remedy: 'Leave it out, or correct its name; the API reference lists the parameters of the method.',
  },
  'not-fresh': {
    class: 'overloaded',
    message: (d: { wanted: number; seqno: number; lagMs: number | null }) =>
      `the data reach masterchain block ${d.seqno}, ${d.wanted - d.seqno} before the wanted block ${d.wanted}` +
      (d.lagMs === null ? '' : `; they are ${d.lagMs} ms behind the chain`),
    remedy:
      'Retry, give the request more time, or ask for an older block. Check that the block belongs to this network.',
  },
  'bad-query': {
    class: 'caller',
    message: (d: { problem: string }) => `the query of the URL is invalid: ${d.problem}`,
    remedy: 'Write names and values as UTF-8, percent-encoded.',
  },
  'bad-json': {
    class: 'caller',
    message: (d: { problem: string }) => `the body is not valid JSON: ${d.problem}`,
    remedy: 'Send one JSON object in UTF-8.',
  },
  'bad-rpc': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Send one JSON object with method and params; params must be an object.',
  },
  'body-too-large': {
    class: 'caller',
    message: (d: { maxBytes: number }) => `the body has more than ${d.maxBytes} bytes`,
    remedy: 'Send less in one request.',
  },
  'body-in-pieces': {
    class: 'caller',
    message: (d: { pieces: number; bytes: number }) =>
      `the body comes in too small pieces: ${d.pieces} for ${d.bytes} bytes`,
    remedy: 'Send the body in chunks of at least 64 bytes.',
  },
  'request-timeout': {
    class: 'caller',
    message: () => 'the request did not come in time',
    remedy: 'Send the headers and the body without pauses.',
  },
  'not-http': {
    class: 'caller',
    message: () => 'this is not an HTTP request',
    remedy: 'Send requests of HTTP/1.1.',
  },
  'headers-too-large': {
    class: 'caller',
    message: () => 'the headers are too large',
    remedy: 'Send fewer or shorter headers.',
  },
  'bad-host': {
    class: 'caller',
    message: (d: { problem: string }) => `the host of the request is invalid: ${d.problem}`,
    remedy: 'Send one Host header, with the host of the URL.',
  },
  'body-too-complex': {
    class: 'caller',
    message: (d: { what: string; most: number }) => `the body has more than ${d.most} ${d.what}`,
    remedy: 'Send less in one request.',
  },
  'url-too-long': {
    class: 'caller',
    message: (d: { maxBytes: number }) => `the URL has more than ${d.maxBytes} bytes`,
    remedy: 'Send long parameters in the body of a POST request, or lists in parts.',
  },
  'not-found': {
    class: 'not-found',
    message: () => 'Not Found',
    remedy: 'Correct the path; the API reference has all of them.',
  },
  'rpc-path': {
    class: 'not-found',
    message: (d: { path: string }) => `there is nothing at this path; the endpoint of JSON-RPC is ${d.path}`,
    remedy: 'Give clients the whole URL of the endpoint: blueprint takes it as --custom, TonClient as endpoint.',
  },
  'method-not-allowed': {
    class: 'caller',
    message: (d: { method: string; allowed: string }) => `method ${d.method} is not supported; use ${d.allowed}`,
    remedy: 'Use a method of the Allow header of the response.',
  },
  'not-implemented': {
    class: 'not-found',
    message: (d: { path: string; instead: string }) => `${d.path} is not there yet; ${d.instead}`,
    remedy: 'Use what the message names; the README lists what is not there yet.',
  },
  'upgrade-required': {
    class: 'caller',
    message: () => 'this path takes WebSocket connections only',
    remedy: 'Connect with a WebSocket client.',
  },
  'unknown-key': {
    class: 'caller',
    message: () => 'API key does not exist',
    remedy: 'Check the key, or create another one.',
  },
  'keys-unavailable': {
    class: 'overloaded',
    message: () => 'API keys cannot be checked now: their database does not answer',
    remedy: 'Retry after the seconds in the Retry-After header.',
  },
  'not-admin': {
    class: 'caller',
    message: () => 'this API needs an admin key',
    remedy: 'Send an admin key in the header X-API-Key; tern keys create --admin makes one.',
  },
  'network-not-allowed': {
    class: 'caller',
    message: () => 'Network not allowed',
    remedy: 'Use a key of this network.',
  },
  'foreign-page': {
    class: 'caller',
    message: (d: { origin: string }) => `pages of ${d.origin} may not call this API`,
    remedy: 'Open the page from this machine, as http://localhost:3000, or call the API from a program.',
  },
  'rate-limit': {
    class: 'overloaded',
    message: (_: { limit: string; retryAfterSeconds: number }) => 'Ratelimit exceed',
    remedy: 'Retry after the seconds in the Retry-After header, or use a key with a larger plan.',
  },
  'work-limit': {
    class: 'overloaded',
    message: (d: { limit: string; retryAfterSeconds: number }) =>
      `the budget of ${d.limit} is used up; the request can be repeated in ${d.retryAfterSeconds} s`,
    remedy:
      'Retry after the seconds in the Retry-After header, request fewer rows at a time, or use a key with a larger plan.',
  },
  overloaded: {
    class: 'overloaded',
    message: (d: { limit: string }) => `the server is overloaded: ${d.limit}`,
    remedy: 'Retry after the seconds in the Retry-After header.',
  },
  deadline: {
    class: 'upstream',
    message: (d: { ms: number }) => `no answer within ${d.ms} ms`,
    remedy: 'Retry later, or request less at a time.',
  },
  'client-left': {
    class: 'caller',
    message: () => 'the client closed the connection before the response',
    remedy: 'No action needed: no client waits for the response.',
  },
  'shutting-down': {
    class: 'shutting-down',
    message: () => 'the server is shutting down',
    remedy: 'Retry with another instance, or when this one has restarted.',
  },
  internal: {
    class: 'internal',
    message: (d: { requestId: string }) => `internal error; request ${d.requestId}`,
    remedy: 'Report it with the request id; the log of the server has the details.',
  },
});

/** What codes of Node mean for somebody who wants to listen. */
const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

/** The error for what Node threw instead of listening. */
export function cannotListen(host: string, port: number, error: unknown): TernError {
  const { code = '', message } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
  return httpErrors['cannot-listen']({ host, port, problem: LISTEN_PROBLEMS[code] ?? message }, error);
}
