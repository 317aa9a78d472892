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
