import { defineErrors } from '#kernel/tern-error.js';

/** Errors of the control API; those of the network pass through. */
export const localnetApiErrors = defineErrors('localnet-api', {
  'parameter-value': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the parameter; the API reference lists its forms.',
  },
  'no-fork': {
    class: 'caller',
    message: () => 'this network is not a fork: there is no other network to import accounts from',
    remedy:
      'Start a fork with tern dev --fork NETWORK. On any local network, tern localnet account creates an account.',
  },
  'no-faucet': {
    class: 'internal',
    message: () => 'none of the wallets of the network is its faucet',
    remedy: 'Reset the network with tern localnet reset, and report it when that does not help.',
  },
});
