import { defineErrors } from '#kernel/tern-error.js';

const ASK_ANOTHER = 'Ask another server; if it happens to all of them, look at the network.';
const LEAVE_PEER =
  'Nothing here is wrong: the peer broke the protocol and was cut off. Use another one if it does so again.';

/** How far a query got: "no" means that the peer cannot have seen it. */
const sentence = (d: { sent: boolean }) => (d.sent ? 'it may have been sent' : 'it was not sent');

/** Errors of ADNL over TCP. `peer` is `host:port`; a query's `sent` tells whether the peer may have seen it. */
export const adnlErrors = defineErrors('adnl', {
  'bad-option': {
    class: 'caller',
    message: (d: { option: string; found: string; accepted: string }) =>
      `the option ${d.option} is ${d.found}; accepted is ${d.accepted}`,
    remedy: 'Correct the option.',
  },
  'server-key': {
    class: 'caller',
    message: (d: { key: string }) => `${d.key} is not the public key of a server: no usable point of the curve`,
    remedy: 'Take the key from the network config: 32 bytes, in base64 at liteservers[].id.key.',
  },
  'listen-failed': {
    class: 'caller',
    message: (d: { peer: string; problem: string }) => `cannot listen on ${d.peer}: ${d.problem}`,
    remedy: 'Choose another address or port, or end the process that holds it.',
  },
  'connect-failed': {
    class: 'upstream',
    message: (d: { peer: string; problem: string }) => `cannot connect to ${d.peer}: ${d.problem}`,
    remedy: ASK_ANOTHER,
  },
  'connect-timeout': {
    class: 'upstream',
    message: (d: { peer: string; timeoutMs: number }) => `${d.peer} did not accept the connection in ${d.timeoutMs} ms`,
    remedy: ASK_ANOTHER,
  },
  'connect-aborted': {
    class: 'caller',
    message: (d: { peer: string }) => `connecting to ${d.peer} was called off`,
    remedy: 'None is needed: the caller gave the signal.',
  },
  'handshake-refused': {
    class: 'upstream',
    message: (d: { peer: string; problem: string }) =>
      `${d.peer} ended the connection during the handshake: ${d.problem}`,
    remedy: 'Check that the public key is the one of this server; if it is, ask another server.',
  },
  'handshake-timeout': {
    class: 'upstream',
    message: (d: { peer: string; timeoutMs: number }) => `${d.peer} did not finish the handshake in ${d.timeoutMs} ms`,
    remedy: ASK_ANOTHER,
  },
  'handshake-other-server': {
    class: 'upstream',
    message: (d: { wanted: string }) =>
      `a client wants to speak to the server with short id ${d.wanted}, which is not this one`,
    remedy: 'Give the client the public key of this server.',
  },
  'handshake-client-key': {
    class: 'upstream',
    message: (d: { key: string }) => `the client's key ${d.key} is no usable point of the curve`,
    remedy: LEAVE_PEER,
  },
  'handshake-digest': {
    class: 'upstream',
    message: (_: Record<string, never>) => 'the handshake does not have the hash that it states',
    remedy: LEAVE_PEER,
  },
  'packet-length': {
    class: 'upstream',
    message: (d: { length: number; least: number; most: number }) =>
      `a packet states a length of ${d.length}; from ${d.least} to ${d.most} is allowed`,
    remedy: LEAVE_PEER,
  },
  'packet-hash': {
    class: 'upstream',
    message: (d: { length: number }) => `a packet of ${d.length} bytes does not have the hash that it states`,
    remedy: LEAVE_PEER,
  },
  'bad-message': {
    class: 'upstream',
    message: (d: { length: number; problem: string }) => `a message of ${d.length} bytes cannot be read: ${d.problem}`,
    remedy: LEAVE_PEER,
  },
  'slow-packet': {
    class: 'upstream',
    message: (d: { peer: string; timeoutMs: number }) => `${d.peer} took more than ${d.timeoutMs} ms for one packet`,
    remedy: ASK_ANOTHER,
  },
  silent: {
    class: 'upstream',
    message: (d: { peer: string; timeoutMs: number }) => `${d.peer} sent nothing for ${d.timeoutMs} ms`,
    remedy: ASK_ANOTHER,
  },
  'not-reading': {
    class: 'upstream',
    message: (d: { peer: string; queued: number; problem: string }) =>
      `${d.peer} does not read what is sent to it: ${d.queued} bytes wait, ${d.problem}`,
    remedy: LEAVE_PEER,
  },
  'connection-lost': {
    class: 'upstream',
    message: (d: { peer: string; problem: string }) => `the connection to ${d.peer} was lost: ${d.problem}`,
    remedy: ASK_ANOTHER,
  },
  closed: {
    class: 'shutting-down',
    message: (d: { peer: string }) => `the connection to ${d.peer} has been closed on this side`,
    remedy: 'Make a new connection.',
  },
  'query-lost': {
    class: 'upstream',
    message: (d: { peer: string; code: string; problem: string; sent: boolean }) =>
      `a query ended with its connection; ${sentence(d)}; ${d.problem}`,
    remedy: 'Ask again, best another server. A query that changes something may have done so when it was sent.',
  },
  'query-closed': {
    class: 'shutting-down',
    message: (d: { peer: string; sent: boolean }) =>
      `the connection to ${d.peer} was closed on this side before the answer came; ${sentence(d)}`,
    remedy: 'Make a new connection and ask again.',
  },
  'query-timeout': {
    class: 'upstream',
    message: (d: { peer: string; timeoutMs: number; sent: boolean }) =>
      `${d.peer} did not answer a query in ${d.timeoutMs} ms; ${sentence(d)}`,
    remedy: ASK_ANOTHER,
  },
  'query-aborted': {
    class: 'caller',
    message: (d: { peer: string; sent: boolean }) => `a query to ${d.peer} was called off; ${sentence(d)}`,
    remedy: 'None is needed: the caller gave the signal.',
  },
  'query-too-large': {
    class: 'caller',
    message: (d: { size: number; most: number }) => `a query has ${d.size} bytes; at most ${d.most} fit into a packet`,
    remedy: 'Ask for less at a time.',
  },
  'answer-missing': {
    class: 'internal',
    message: (d: { found: string }) => `the handler of queries gave ${d.found} instead of bytes`,
    remedy: 'Report it: the handler is wrong.',
  },
  'answer-too-large': {
    class: 'internal',
    message: (d: { size: number; most: number }) =>
      `an answer of ${d.size} bytes is not sent; at most ${d.most} fit into a packet`,
    remedy: 'Give the answer in parts, or refuse the query.',
  },
  'too-many-queries': {
    class: 'overloaded',
    message: (d: { peer: string; waiting: number }) => `${d.waiting} queries wait already to be sent to ${d.peer}`,
    remedy: 'Ask again when some have been answered, or ask another server.',
  },
});
