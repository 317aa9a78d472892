import { defineErrors } from '#kernel/tern-error.js';

/** Errors of running contracts on proven state. */
export const contractsErrors = defineErrors('contracts', {
  option: {
    class: 'caller',
    message: (d: { name: string; found: string; wanted: string }) =>
      `the option ${d.name} is ${d.found}; expected: ${d.wanted}`,
    remedy: 'Correct the option.',
  },
  'no-workchain': {
    class: 'caller',
    message: (d: { workchain: number; block: string }) =>
      `workchain ${d.workchain} does not exist at masterchain block ${d.block}`,
    remedy: 'Check the address: the basechain is workchain 0, the masterchain is -1.',
  },
  'emulator-too-old': {
    class: 'upstream',
    message: (d: { network: number; emulator: number }) =>
      `the network has global version ${d.network}, but the emulator only supports versions up to ${d.emulator}`,
    remedy:
      'Set --get-methods to auto or node, so that a liteserver runs them; a newer release may have a newer emulator.',
  },
  'node-overloaded': {
    class: 'overloaded',
    message: (d: { waiting: number }) => `${d.waiting} get methods wait for liteservers`,
    remedy: 'Retry later, or run less at once.',
  },
  'no-prices': {
    class: 'upstream',
    message: (d: { param: number }) => `the network configuration has no parameter ${d.param}, which contains prices`,
    remedy: 'Fees cannot be estimated on this network: its configuration is incomplete.',
  },
});

/** Errors of emulated traces. */
export const emulationErrors = defineErrors('emulation', {
  'not-accepted': {
    class: 'caller',
    message: (d: { account: string; exit_code: number }) =>
      `${d.account} does not accept the message: exit code ${d.exit_code}`,
    remedy: 'Look the exit code up in the source of the contract; for wallets: sign again, with the current seqno.',
  },
  'no-account': {
    class: 'caller',
    message: (d: { account: string; problem: string }) =>
      `the message cannot run on account ${d.account}: it does not exist, or has no coins, or the message does not contain its state`,
    remedy: 'Check the address. To deploy the account, fund it and send its state (StateInit) with the message.',
  },
  'no-shard': {
    class: 'caller',
    message: (d: { workchain: number }) => `no shard of workchain ${d.workchain} exists at this block`,
    remedy:
      'Check the address: the basechain is workchain 0, the masterchain is -1. The first blocks have no shards yet.',
  },
  'no-destination': {
    class: 'caller',
    message: (d: { problem: string }) => `the message has no account as its destination: ${d.problem}`,
    remedy: 'Give an external-in message, or an internal one.',
  },
  'no-wallet': {
    class: 'caller',
    message: (d: {
      wallet: string;
      problem: string;
      why: 'missing' | 'undeployed' | 'unknown' | 'unsupported';
      wallet_type: string;
    }) => `${d.wallet} cannot send the messages: ${d.problem}`,
    remedy: 'Give a deployed wallet of version 3, 4 or 5, or emulate the signed message of another wallet.',
  },
  'too-new': {
    class: 'caller',
    message: (d: { mc_seqno: number; newest: number }) =>
      `masterchain block ${d.mc_seqno} does not exist yet: the newest one is ${d.newest}`,
    remedy: 'Give an earlier block, or none for the newest one.',
  },
  'no-state': {
    class: 'caller',
    message: (d: { mc_seqno: number }) =>
      `masterchain block ${d.mc_seqno} is the zerostate: no transaction follows from it`,
    remedy: 'Give a block from 1, or none for the newest one.',
  },
  'too-large': {
    class: 'caller',
    message: (d: { limit: number }) => `the states of the trace take more than ${d.limit} bytes`,
    remedy: 'Emulate a message that reaches fewer or smaller contracts.',
  },
  'not-received': {
    class: 'internal',
    message: (d: { account: string; problem: string }) =>
      `an internal message to ${d.account} was not executed: ${d.problem}`,
    remedy: 'This should not happen; please report it with the message and the block.',
  },
  overloaded: {
    class: 'overloaded',
    message: (d: { waiting: number }) => `${d.waiting} emulations wait`,
    remedy: 'Retry later, or emulate less at once.',
  },
});
