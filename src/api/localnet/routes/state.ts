import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type LocalnetContext, localnetEndpoint } from '#api/localnet/context.js';
import { paramsOf } from '#api/localnet/parameters.js';
import { Status, Wallets } from '#api/localnet/schemas.js';
import { rawAddress, statusJson } from '#api/localnet/serialize.js';
import { keyPairFromSeed } from '#drivers/adnl/keys.js';
import { toHex } from '#kernel/bytes/bytes.js';

const TAG = 'State';
const GET = ['GET'] as const;

const status = localnetEndpoint({
  name: 'status',
  verbs: GET,
  tag: TAG,
  summary: 'How the network is doing',
  description: 'The head, the shards, the time of the network and how its blocks are made.',
  params: paramsOf({}),
  result: Status,
  statuses: [],
  freshness: 'none',
  handle: async (_, { node }) => statusJson(await node.status()),
});

const wallets = localnetEndpoint({
  name: 'wallets',
  verbs: GET,
  tag: TAG,
  summary: 'The funded wallets',
  description:
    'Wallets of the usual versions with coins and known keys, and the faucet, with what each of them has now. The keys are ' +
    'the same in every local network: never use them for anything else.',
  params: paramsOf({}),
  result: Wallets,
  statuses: [504],
  freshness: 'none',
  handle: async (_, { node, balanceOf }) => {
    const all = (await node.wallets()).map(async ({ version, address, mnemonic, seed, walletId }) => ({
      version,
      address: rawAddress(address),
      user_friendly: address.toFriendly({ bounceable: false }),
      mnemonic: mnemonic === null ? null : [...mnemonic],
      public_key: toHex(keyPairFromSeed(seed).publicKey),
      seed: toHex(seed),
      wallet_id: walletId,
      balance: String(await balanceOf(address)),
    }));
    return { wallets: await Promise.all(all) };
  },
});

/** What the network is and has. */
export const stateEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [status, wallets];
