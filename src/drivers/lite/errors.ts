import { defineErrors } from '#kernel/tern-error.js';

const LOOK_AT_STATUS =
  'Run tern lite status to see how the servers are; if they are all like this, use others or look at the network.';

/** Errors of lite servers and of the pool of them. `server` is `host:port`. */
export const liteErrors = defineErrors('lite', {
  'bad-config': {
    class: 'caller',
    message: (d: { file: string; field: string; found: string; allowed: string }) =>
      `${d.file}: ${d.field} is ${d.found}; allowed is ${d.allowed}`,
    remedy: 'Correct the network config, or fetch it anew: it is the JSON file that nodes and lite clients use.',
  },
  'bad-option': {
    class: 'caller',
    message: (d: { option: string; found: string; accepted: string }) =>
      `the option ${d.option} is ${d.found}; accepted is ${d.accepted}`,
    remedy: 'Correct the option.',
  },
  'answer-error': {
    class: 'caller',
    message: (d: { server: string; function: string; code: number; text: string }) =>
      `${d.server} refuses ${d.function}: error ${d.code}: ${d.text}`,
    remedy: 'Correct the request: another server would refuse it, too.',
  },
  'not-available': {
    class: 'not-found',
    message: (d: { function: string; tried: string }) => `no server has what ${d.function} asks for: ${d.tried}`,
    remedy: 'It does not exist, or is too old for these servers: name one that keeps an archive.',
  },
  unsupported: {
    class: 'upstream',
    message: (d: { function: string; tried: string }) => `no server knows ${d.function}; asked were ${d.tried}`,
    remedy: 'Use servers with newer software.',
  },
  unanswered: {
    class: 'upstream',
    message: (d: { function: string; afterMs: number; tried: string }) =>
      `no server answered ${d.function} in ${d.afterMs} ms: ${d.tried}`,
    remedy: LOOK_AT_STATUS,
  },
  overloaded: {
    class: 'overloaded',
    message: (d: { inFlight: number; waiting: number }) =>
      `${d.inFlight} requests are under way and ${d.waiting} wait already`,
    remedy: 'Ask again later, ask for less at a time, or add servers and raise maxInFlight.',
  },
  aborted: {
    class: 'caller',
    message: (d: { function: string }) => `${d.function} was called off`,
    remedy: 'None is needed: the caller gave the signal.',
  },
  closed: {
    class: 'shutting-down',
    message: (d: { function: string }) => `${d.function} is not asked: the pool of lite servers is closed`,
    remedy: 'None is needed: the program is ending.',
  },
  'not-connected': {
    class: 'upstream',
    message: (d: { server: string; problem: string }) => `${d.server} is not connected: ${d.problem}`,
    remedy: LOOK_AT_STATUS,
  },
  busy: {
    class: 'overloaded',
    message: (d: { server: string; afterMs: number }) => `${d.server} had no turn free within ${d.afterMs} ms`,
    remedy: 'Ask for less at a time, add servers, or raise maxInFlightPerServer.',
  },
  'bad-answer': {
    class: 'upstream',
    message: (d: { server: string; function: string; problem: string }) =>
      `the answer of ${d.server} to ${d.function} cannot be read: ${d.problem}`,
    remedy: LOOK_AT_STATUS,
  },
});
