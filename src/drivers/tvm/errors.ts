import { defineErrors } from '#kernel/tern-error.js';

/** Errors of running contracts. */
export const tvmErrors = defineErrors('tvm', {
  'bad-option': {
    class: 'caller',
    message: (d: { option: string; found: string; accepted: string }) =>
      `the option ${d.option} is ${d.found}; accepted: ${d.accepted}`,
    remedy: 'Correct the option.',
  },
  'bad-request': {
    class: 'caller',
    message: (d: { field: string; found: string; accepted: string }) =>
      `${d.field} is ${d.found}; accepted: ${d.accepted}`,
    remedy: 'Correct the field.',
  },
  'bad-config': {
    class: 'caller',
    message: (d: { problem: string }) => `the configuration of the network cannot be used: ${d.problem}`,
    remedy: 'Pass the root of the complete configuration dictionary, not a proof with pruned parts.',
  },
  'bad-library': {
    class: 'upstream',
    message: (d: { wanted: string; found: string }) => `library ${d.wanted} was requested, but ${d.found} was returned`,
    remedy: 'Query another server for the library.',
  },
  refused: {
    class: 'caller',
    message: (d: { problem: string }) => `the emulator cannot run this: ${d.problem}`,
    remedy: 'Check code, data, stack, account and message. Unmodified data of the network can always be run.',
  },
  'transaction-mismatch': {
    class: 'internal',
    message: (d: { account: string; problem: string }) =>
      `a transaction of ${d.account} does not match its request: ${d.problem}`,
    remedy: 'This should not happen; please report it with the state of the account and the message.',
  },
  timeout: {
    class: 'overloaded',
    message: (d: { afterMs: number }) => `the run took more than ${d.afterMs} ms and was stopped`,
    remedy: 'Retry later, when the computer has less to do, or raise timeoutMs.',
  },
  'cpu-time': {
    class: 'caller',
    message: (d: { limitMs: number }) => `the run used more than ${d.limitMs} ms of CPU time and was stopped`,
    remedy: 'The contract is too expensive to run. Ask for less by its arguments; an operator can raise tvmCpuTime.',
  },
  'ran-out-before': {
    class: 'caller',
    message: (d: { limit: string; cpuMs: number; agoMs: number; forgottenInMs: number; isExact: boolean }) =>
      `${d.isExact ? 'the same run' : 'this method of several contracts with the same code'} ran out of ${d.limit} ${seconds(d.agoMs)} ago, after ${d.cpuMs} ms of CPU time, and is not repeated for ${seconds(d.forgottenInMs)}`,
    remedy: 'Retry when the contract has changed, or after that time.',
  },
  'ended-too-often': {
    class: 'overloaded',
    message: (d: { limitMs: number; retryAfterSeconds: number }) =>
      `runs for this client that were stopped took more than ${d.limitMs} ms of CPU time in a minute: only methods that are known to be quick are run for it for the next ${d.retryAfterSeconds} s`,
    remedy:
      'Retry after that time, and do not call contracts that run out of gas or time; an operator can raise tvmEndedTime.',
  },
  'out-of-memory': {
    class: 'caller',
    message: (d: { limitBytes: number }) => `the run needed more than ${d.limitBytes} bytes of memory and was stopped`,
    remedy: 'The contract is too expensive to run. Ask for less by its arguments.',
  },
  overloaded: {
    class: 'overloaded',
    message: (d: { waiting: number; ofClient: boolean }) =>
      d.ofClient ? 'the client has too many runs in the queue' : `${d.waiting} runs are queued`,
    remedy: 'Retry later, run less at once, or raise workers or maxWaiting.',
  },
  'waited-too-long': {
    class: 'overloaded',
    message: (d: { afterMs: number }) => `no worker was free within ${d.afterMs} ms`,
    remedy: 'Retry later, run less at once, or raise workers or queueTimeoutMs.',
  },
  aborted: {
    class: 'caller',
    message: () => 'the run was aborted',
    remedy: 'No action is needed: the caller aborted the run.',
  },
  closed: {
    class: 'shutting-down',
    message: () => 'the run is refused: the TVM pool is closed',
    remedy: 'No action is needed: the program is shutting down.',
  },
  crashed: {
    class: 'internal',
    message: (d: { problem: string }) => `the emulator crashed: ${d.problem}`,
    remedy: 'Report this with code, data and method; the pool continues with a new emulator.',
  },
  'not-started': {
    class: 'internal',
    message: (d: { problem: string }) => `the emulator could not be started: ${d.problem}`,
    remedy: 'Check that node_modules/@ton/sandbox is installed in the version of package-lock.json (npm ci).',
  },
});

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
