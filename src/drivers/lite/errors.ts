import { defineErrors } from '#kernel/tern-error.js';

const LOOK_AT_STATUS =
  'Run tern lite status to see the state of the servers; if all fail, use other servers or check the network.';

/** Errors of liteservers and of the liteserver pool. `server` is `host:port`, which clients of a public service are not shown. */
export const liteErrors = defineErrors('lite', {
  'bad-config': {
    class: 'caller',
    message: (d: { file: string; field: string; found: string; allowed: string }) =>
      `${d.file}: ${d.field} is ${d.found}; allowed: ${d.allowed}`,
    remedy: 'Correct the network config, or download it again: it is the JSON file that nodes and lite clients use.',
  },
  'bad-option': {
    class: 'caller',
    message: (d: { option: string; found: string; accepted: string }) =>
      `the option ${d.option} is ${d.found}; accepted: ${d.accepted}`,
    remedy: 'Correct the option.',
  },
  'answer-error': {
    class: 'caller',
    message: (d: { server: string; function: string; code: number; text: string }) =>
      `${d.server} refuses ${d.function}: error ${d.code}: ${d.text}`,
    publicMessage: (d: { function: string; code: number; text: string }) =>
      `a liteserver refuses ${d.function}: error ${d.code}: ${d.text}`,
    remedy: 'Correct the request: other servers would refuse it, too.',
  },
  'not-available': {
    class: 'not-found',
    message: (d: { function: string; tried: string }) => `no server has the data for ${d.function}: ${d.tried}`,
    publicMessage: (d: { function: string }) => `no liteserver has the data for ${d.function}`,
    remedy: 'The data does not exist, or is too old for these servers: configure an archive liteserver.',
  },
  unsupported: {
    class: 'upstream',
    message: (d: { function: string; tried: string }) => `no server supports ${d.function}; queried: ${d.tried}`,
    publicMessage: (d: { function: string }) => `no liteserver supports ${d.function}`,
    remedy: 'Use servers with newer software.',
  },
  unanswered: {
    class: 'upstream',
    message: (d: { function: string; afterMs: number; tried: string }) =>
      `no server answered ${d.function} in ${d.afterMs} ms: ${d.tried}`,
    publicMessage: (d: { function: string; afterMs: number }) =>
      `no liteserver answered ${d.function} in ${d.afterMs} ms`,
    remedy: LOOK_AT_STATUS,
  },
  overloaded: {
    class: 'overloaded',
    message: (d: { inFlight: number; waiting: number }) =>
      `${d.inFlight} requests are in flight and ${d.waiting} are queued`,
    remedy: 'Retry later, send fewer requests at once, or add servers and raise maxInFlight.',
  },
  aborted: {
    class: 'caller',
    message: (d: { function: string }) => `${d.function} was aborted`,
    remedy: 'No action is needed: the caller aborted the request.',
  },
  closed: {
    class: 'shutting-down',
    message: (d: { function: string }) => `${d.function} is not sent: the liteserver pool is closed`,
    remedy: 'No action is needed: the program is shutting down.',
  },
  'not-connected': {
    class: 'upstream',
    message: (d: { server: string; problem: string }) => `${d.server} is not connected: ${d.problem}`,
    publicMessage: () => 'a liteserver is not connected',
    remedy: LOOK_AT_STATUS,
  },
  busy: {
    class: 'overloaded',
    message: (d: { server: string; afterMs: number }) => `${d.server} had no free slot within ${d.afterMs} ms`,
    publicMessage: (d: { afterMs: number }) => `a liteserver had no free slot within ${d.afterMs} ms`,
    remedy: 'Send fewer requests at once, add servers, or raise maxInFlightPerServer.',
  },
  'bad-answer': {
    class: 'upstream',
    message: (d: { server: string; function: string; problem: string }) =>
      `the answer of ${d.server} to ${d.function} cannot be decoded: ${d.problem}`,
    publicMessage: (d: { function: string; problem: string }) =>
      `the answer of a liteserver to ${d.function} cannot be decoded: ${d.problem}`,
    remedy: LOOK_AT_STATUS,
  },
});
