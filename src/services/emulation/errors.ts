import { defineErrors } from '#kernel/tern-error.js';

/** Errors of running contracts on proven state. */
export const contractsErrors = defineErrors('contracts', {
  option: {
    class: 'caller',
    message: (d: { name: string; found: string; wanted: string }) =>
      `the option ${d.name} is ${d.found}, wanted is ${d.wanted}`,
    remedy: 'Correct the option.',
  },
  'no-workchain': {
    class: 'caller',
    message: (d: { workchain: number; block: string }) =>
      `there is no workchain ${d.workchain} at masterchain block ${d.block}`,
    remedy: 'Check the address: accounts are in the basechain (0) or in the masterchain (-1).',
  },
  'emulator-too-old': {
    class: 'upstream',
    message: (d: { network: number; emulator: number }) =>
      `the network has global version ${d.network}, and the emulator has the rules up to ${d.emulator} only`,
    remedy:
      'Set the mode of get methods to auto or node, so that a liteserver runs them; a newer release may have a newer emulator.',
  },
  'no-prices': {
    class: 'upstream',
    message: (d: { param: number }) =>
      `the configuration of the network has no parameter ${d.param}, which holds prices`,
    remedy: 'Fees cannot be estimated on this network; its configuration is not complete.',
  },
});
