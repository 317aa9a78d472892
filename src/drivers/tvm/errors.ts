import { defineErrors } from '#kernel/tern-error.js';

/** Errors of running contracts. */
export const tvmErrors = defineErrors('tvm', {
  'bad-option': {
    class: 'caller',
    message: (d: { option: string; found: string; accepted: string }) =>
      `the option ${d.option} is ${d.found}; accepted is ${d.accepted}`,
    remedy: 'Correct the option.',
  },
  'bad-request': {
    class: 'caller',
    message: (d: { field: string; found: string; accepted: string }) =>
      `${d.field} is ${d.found}; accepted is ${d.accepted}`,
    remedy: 'Correct the field.',
  },
  'bad-config': {
    class: 'caller',
    message: (d: { problem: string }) => `the configuration of the network cannot be used: ${d.problem}`,
    remedy: 'Give the root of the dictionary of all configuration parameters, not a proof that leaves some out.',
  },
  'bad-library': {
    class: 'upstream',
    message: (d: { wanted: string; found: string }) => `the library ${d.wanted} was asked for, and ${d.found} came`,
    remedy: 'Ask another server for the library.',
  },
  refused: {
    class: 'caller',
    message: (d: { problem: string }) => `the emulator cannot run this: ${d.problem}`,
    remedy: 'Check code, data, stack, account and message; what comes from the network as it is can be run.',
  },
  timeout: {
    class: 'caller',
    message: (d: { afterMs: number }) => `the run took more than ${d.afterMs} ms and was stopped`,
    remedy: 'Give it less gas, or raise timeoutMs if the machine is slow.',
  },
  overloaded: {
    class: 'overloaded',
    message: (d: { workers: number; waiting: number }) =>
      `all ${d.workers} workers are busy and ${d.waiting} runs wait already`,
    remedy: 'Run again later, run less at a time, or raise workers or maxWaiting.',
  },
  'waited-too-long': {
    class: 'overloaded',
    message: (d: { afterMs: number }) => `no worker was free within ${d.afterMs} ms`,
    remedy: 'Run again later, run less at a time, or raise workers or queueTimeoutMs.',
  },
  aborted: {
    class: 'caller',
    message: () => 'the run was called off',
    remedy: 'None is needed: the caller gave the signal.',
  },
  closed: {
    class: 'shutting-down',
    message: () => 'nothing is run: the pool of workers is closed',
    remedy: 'None is needed: the program is ending.',
  },
  crashed: {
    class: 'internal',
    message: (d: { problem: string }) => `the emulator crashed: ${d.problem}`,
    remedy: 'Report it, with code, data and method; the pool goes on with a fresh emulator.',
  },
  'not-started': {
    class: 'internal',
    message: (d: { problem: string }) => `the emulator could not be started: ${d.problem}`,
    remedy: 'Check that node_modules/@ton/sandbox is installed as package-lock.json has it (npm ci).',
  },
});
