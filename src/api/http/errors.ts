import { defineErrors } from '#kernel/tern-error.js';

/** Errors of requests as such; what a method finds wrong is an error of the module below it. */
export const httpErrors = defineErrors('http', {
  'bad-option': {
    class: 'caller',
    message: (d: { option: string; found: string; accepted: string }) =>
      `the option ${d.option} is ${d.found}; accepted is ${d.accepted}`,
    remedy: 'Correct the option.',
  },
  'cannot-listen': {
    class: 'caller',
    message: (d: { host: string; port: number; problem: string }) =>
      `cannot listen on ${d.host}:${d.port}: ${d.problem}`,
    remedy: 'Choose another host or port, or end the program that holds it.',
  },
  'bad-endpoint': {
    class: 'internal',
    message: (d: { endpoint: string; problem: string }) => `the endpoint ${d.endpoint} cannot be served: ${d.problem}`,
    remedy: 'Correct the declaration of the endpoint.',
  },
  'bad-parameter': {
    class: 'caller',
    message: (d: { parameter: string; problem: string }) => `parameter ${d.parameter}: ${d.problem}`,
    remedy: 'Correct the parameter; the API reference says what it may be.',
  },
  'missing-parameter': {
    class: 'caller',
    message: (d: { parameter: string }) => `parameter ${d.parameter}: it is required`,
    remedy: 'Add the parameter; the API reference says what it may be.',
  },
  'unknown-parameter': {
    class: 'caller',
    message: (d: { parameter: string; known: string }) =>
      `unknown parameter ${d.parameter}; this method knows ${d.known}`,
    remedy: 'Leave it out, or correct its name; the API reference says what the method knows.',
  },
  'bad-query': {
    class: 'caller',
    message: (d: { problem: string }) => `the query of the URL cannot be read: ${d.problem}`,
    remedy: 'Write names and values as UTF-8, percent-encoded.',
  },
  'bad-json': {
    class: 'caller',
    message: (d: { problem: string }) => `the body is no JSON that can be read: ${d.problem}`,
    remedy: 'Send one JSON object in UTF-8.',
  },
  'bad-rpc': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Send one JSON object with method and params, which is an object.',
  },
  'body-too-large': {
    class: 'caller',
    message: (d: { maxBytes: number }) => `the body has more than ${d.maxBytes} bytes`,
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
  'method-not-allowed': {
    class: 'caller',
    message: (d: { method: string; allowed: string }) => `method ${d.method} is not supported; use ${d.allowed}`,
    remedy: 'Use a method that the Allow header of the answer names.',
  },
  'upgrade-required': {
    class: 'caller',
    message: () => 'this path takes WebSocket connections only',
    remedy: 'Connect with a WebSocket client.',
  },
  'unknown-key': {
    class: 'caller',
    message: () => 'API key does not exist',
    remedy: 'Check the key for typing errors, or create another one.',
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
    remedy: 'Ask again after the seconds that the Retry-After header names, or use a key with a larger plan.',
  },
  overloaded: {
    class: 'overloaded',
    message: (d: { limit: string }) => `the server is busy: ${d.limit}`,
    remedy: 'Ask again after the seconds that the Retry-After header names.',
  },
  deadline: {
    class: 'upstream',
    message: (d: { ms: number }) => `no answer within ${d.ms} ms`,
    remedy: 'Ask again later, or for less at a time.',
  },
  'client-left': {
    class: 'caller',
    message: () => 'the client closed the connection before the answer',
    remedy: 'None is needed: nobody waits for the answer.',
  },
  'shutting-down': {
    class: 'shutting-down',
    message: () => 'the server is shutting down',
    remedy: 'Ask again: another instance, or this one when it has started anew.',
  },
  internal: {
    class: 'internal',
    message: (d: { requestId: string }) => `internal error; request ${d.requestId}`,
    remedy: 'Report it with the request id: the log of the server has the details under it.',
  },
});
