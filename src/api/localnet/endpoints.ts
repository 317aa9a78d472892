import type { AnyEndpoint } from '#api/http/endpoint.js';
import type { LocalnetContext } from '#api/localnet/context.js';
import { blockEndpoints } from '#api/localnet/routes/blocks.js';
import { faucetEndpoints } from '#api/localnet/routes/faucet.js';
import { interventionEndpoints } from '#api/localnet/routes/interventions.js';
import { snapshotEndpoints } from '#api/localnet/routes/snapshots.js';
import { stateEndpoints } from '#api/localnet/routes/state.js';

/** All methods of the control API. */
export const localnetEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [
  ...stateEndpoints,
  ...faucetEndpoints,
  ...blockEndpoints,
  ...interventionEndpoints,
  ...snapshotEndpoints,
];

/** The groups of the API reference, in its order. */
export const localnetTags: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'State', description: 'How the network is doing, and who has coins' },
  { name: 'Faucet', description: 'Coins for anybody' },
  { name: 'Blocks and time', description: 'When blocks are made, at what time, in how many shards' },
  { name: 'Interventions', description: 'What no rule of a network brings about' },
  { name: 'Snapshots', description: 'Chains that are kept, gone back to, begun anew' },
];
