import { defineErrors } from '#kernel/tern-error.js';

/** Errors of the control API itself; those of the network pass through as they are. */
export const localnetApiErrors = defineErrors('localnet-api', {
  'parameter-value': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the parameter; the API reference lists the forms that it may have.',
  },
  'no-faucet': {
    class: 'internal',
    message: () => 'none of the wallets of the network is its faucet',
    remedy: 'Reset the network with tern localnet reset, and report it when that does not help.',
  },
});
