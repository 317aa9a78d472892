import type { AnyEndpoint } from '#api/http/endpoint.js';
import { localnetBlockEndpoints } from '#api/localnet/blocks.js';
import type { LocalnetContext } from '#api/localnet/context.js';
import { snapshotEndpoints } from '#api/localnet/snapshots.js';
import { faucetEndpoints, stateEndpoints } from '#api/localnet/state.js';
import { stateOverrideEndpoints } from '#api/localnet/state-overrides.js';

/** All methods of the control API. */
export const localnetEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [
  ...stateEndpoints,
  ...faucetEndpoints,
  ...localnetBlockEndpoints,
  ...stateOverrideEndpoints,
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

/** Of this API. */
const DOCUMENT_VERSION = '1.0.0';

const DESCRIPTION = `Control of a local TON network: coins, blocks, time, accounts, configuration, snapshots.

It is there when Tern runs a network of its own (\`npm start\`), and only then. Methods that change something take POST with a
JSON object, and answer when the change is in a block that API v2 knows; the index of API v3 has it a moment later, and says in
\`X-Tern-Mc-Seqno\` how far it is. Amounts are nanotons.
Unknown parameters and values out of range are refused (422) with the name of the parameter; what the network refuses, too,
with the reason. A snapshot that there is not is 404.

Everybody who can connect may call it, as the keys of its wallets are no secrets either; Tern listens on this machine alone
unless it is told otherwise. Scripts of pages that a browser got from elsewhere are refused (403); pages of this machine, such
as \`http://localhost:3000\`, may call it.`;

/** The control API as its document describes it. */
export const localnetDescription = {
  prefix: '/localnet',
  title: 'Tern local network',
  version: DOCUMENT_VERSION,
  description: DESCRIPTION,
  style: 'plain',
  apiVersion: DOCUMENT_VERSION,
  pages: 'local',
  tags: localnetTags,
  endpoints: localnetEndpoints,
} as const;
