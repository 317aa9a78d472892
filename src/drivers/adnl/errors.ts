import { defineErrors } from '#kernel/tern-error.js';

const ASK_ANOTHER = 'Query another server; if all servers fail, check the network.';
const LEAVE_PEER =
  'No action on this side is needed: the peer violated the protocol and was disconnected. Use another peer if it happens again.';

/** Whether the peer may have received the query. */
const sentence = (d: { sent: boolean }) => (d.sent ? 'the query may have been sent' : 'the query was not sent');

/** Errors of ADNL over TCP. `peer` is `host:port`; `sent` of a query is true if the peer may have received it. */
export const adnlErrors = defineErrors('adnl', {
  'bad-option': {
    class: 'caller',
    message: (d: { option: string; found: string; accepted: string }) =>
      `the option ${d.option} is ${d.found}; accepted: ${d.accepted}`,
    remedy: 'Correct the option.',
  },
  'server-key': {
    class: 'caller',
    message: (d: { key: string }) => `${d.key} is not a valid server public key: not a usable curve point`,
    remedy: 'Use the key of the network config: 32 bytes, in base64 at liteservers[].id.key.',
  },
  'listen-failed': {
    class: 'caller',
    message: (d: { peer: string; problem: string }) => `cannot listen on ${d.peer}: ${d.problem}`,
    remedy: 'Choose another address or port, or stop the process that uses it.',
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
    message: (d: { peer: string }) => `connecting to ${d.peer} was aborted`,
    remedy: 'No action is needed: the caller aborted the operation.',
  },
  'handshake-refused': {
    class: 'upstream',
    message: (d: { peer: string; problem: string }) =>
      `${d.peer} ended the connection during the handshake: ${d.problem}`,
    remedy: 'Check that the public key belongs to this server; if it does, query another server.',
  },
  'handshake-timeout': {
    class: 'upstream',
    message: (d: { peer: string; timeoutMs: number }) => `${d.peer} did not finish the handshake in ${d.timeoutMs} ms`,
    remedy: ASK_ANOTHER,
  },
  'handshake-other-server': {
    class: 'upstream',
    message: (d: { wanted: string }) =>
      `a client addressed the server with short id ${d.wanted}, which is not this server`,
    remedy: 'Configure the client with the public key of this server.',
  },
  'handshake-client-key': {
    class: 'upstream',
    message: (d: { key: string }) => `the client's key ${d.key} is not a usable curve point`,
    remedy: LEAVE_PEER,
  },
  'handshake-digest': {
    class: 'upstream',
    message: (_: Record<string, never>) => 'the handshake does not match its hash',
    remedy: LEAVE_PEER,
  },
  'packet-length': {
    class: 'upstream',
    message: (d: { length: number; least: number; most: number }) =>
      `a packet has length ${d.length}; allowed: ${d.least} to ${d.most}`,
    remedy: LEAVE_PEER,
  },
  'packet-hash': {
    class: 'upstream',
    message: (d: { length: number }) => `a packet of ${d.length} bytes does not match its hash`,
    remedy: LEAVE_PEER,
  },
  'bad-message': {
    class: 'upstream',
    message: (d: { length: number; problem: string }) =>
      `a message of ${d.length} bytes cannot be decoded: ${d.problem}`,
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
      `${d.peer} does not read its data: ${d.queued} bytes are queued, ${d.problem}`,
    remedy: LEAVE_PEER,
  },
  'connection-lost': {
    class: 'upstream',
    message: (d: { peer: string; problem: string }) => `the connection to ${d.peer} was lost: ${d.problem}`,
    remedy: ASK_ANOTHER,
  },
  closed: {
    class: 'shutting-down',
    message: (d: { peer: string }) => `the connection to ${d.peer} was closed on this side`,
    remedy: 'Open a new connection.',
  },
  'query-lost': {
    class: 'upstream',
    message: (d: { peer: string; code: string; problem: string; sent: boolean }) =>
      `the connection ended during a query; ${sentence(d)}; ${d.problem}`,
    remedy:
      'Repeat the query, preferably on another server. A query with side effects may have been executed if it was sent.',
  },
  'query-closed': {
    class: 'shutting-down',
    message: (d: { peer: string; sent: boolean }) =>
      `the connection to ${d.peer} was closed on this side before the answer arrived; ${sentence(d)}`,
    remedy: 'Open a new connection and repeat the query.',
  },
  'query-timeout': {
    class: 'upstream',
    message: (d: { peer: string; timeoutMs: number; sent: boolean }) =>
      `${d.peer} did not answer a query in ${d.timeoutMs} ms; ${sentence(d)}`,
    remedy: ASK_ANOTHER,
  },
  'query-aborted': {
    class: 'caller',
    message: (d: { peer: string; sent: boolean }) => `a query to ${d.peer} was aborted; ${sentence(d)}`,
    remedy: 'No action is needed: the caller aborted the operation.',
  },
  'query-too-large': {
    class: 'caller',
    message: (d: { size: number; most: number }) => `a query has ${d.size} bytes; at most ${d.most} fit into a packet`,
    remedy: 'Request less data per query.',
  },
  'answer-missing': {
    class: 'internal',
    message: (d: { found: string }) => `the query handler returned ${d.found} instead of bytes`,
    remedy: 'Report this as a bug of the handler.',
  },
  'answer-too-large': {
    class: 'internal',
    message: (d: { size: number; most: number }) =>
      `an answer of ${d.size} bytes is not sent; at most ${d.most} fit into a packet`,
    remedy: 'Split the answer, or refuse the query.',
  },
  'too-many-queries': {
    class: 'overloaded',
    message: (d: { peer: string; waiting: number }) => `${d.waiting} queries are already queued for ${d.peer}`,
    remedy: 'Repeat the query when some are answered, or query another server.',
  },
});
