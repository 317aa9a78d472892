import type { AnyEndpoint } from '#api/http/endpoint.js';
import { localnetBlockEndpoints } from '#api/localnet/blocks.js';
import type { LocalnetContext } from '#api/localnet/context.js';
import { snapshotEndpoints } from '#api/localnet/snapshots.js';
import { faucetEndpoints, stateEndpoints } from '#api/localnet/state.js';
import { stateOverrideEndpoints } from '#api/localnet/state-overrides.js';

/** All methods of the control API. */
const localnetEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [
  ...stateEndpoints,
  ...faucetEndpoints,
  ...localnetBlockEndpoints,
  ...stateOverrideEndpoints,
  ...snapshotEndpoints,
];

/** The groups of the API reference, in its order. */
const localnetTags: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'State', description: 'Status of the network, funded wallets' },
  { name: 'Faucet', description: 'Coins for any account' },
  { name: 'Blocks and time', description: 'Block production, time, shards' },
  { name: 'Interventions', description: 'State overrides: changes that the rules of a network do not allow' },
  { name: 'Snapshots', description: 'Saving, loading and resetting the chain' },
];

/** Of this API. */
const DOCUMENT_VERSION = '1.0.0';

const DESCRIPTION = `Control of a local TON network: coins, blocks, time, accounts, configuration, snapshots.

Available only when Tern runs a local network (\`npm start\`). Methods that change something take POST with a JSON object, and
respond when the change is in a block that API v2 serves; the index of API v3 has it a moment later, and reports its
progress in \`X-Tern-Mc-Seqno\`. Amounts are nanotons.
Unknown parameters and invalid values are refused (422) with the name of the parameter, as are changes that the network
refuses, with the reason. An unknown snapshot is 404.

Anybody who can connect may call it, and the keys of its wallets are public; by default Tern listens on this machine only.
Requests of browser pages from other origins are refused (403); pages of this machine, such as \`http://localhost:3000\`,
may call it.`;

/** The control API as its document describes it. */
export const localnetDescription = {
  prefix: '/localnet',
  title: 'Tern local network',
  version: DOCUMENT_VERSION,
  description: DESCRIPTION,
  style: 'plain',
  apiVersion: DOCUMENT_VERSION,
  pages: 'local',
  ignores: 'nothing',
  tags: localnetTags,
  endpoints: localnetEndpoints,
} as const;
