import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import {
  rawAddressText,
  SentAnswer,
  StatusAnswer,
  sentJson,
  statusJson,
  WalletsAnswer,
} from '#api/localnet/answers.js';
import { type LocalnetContext, localnetEndpoint, onceVisible } from '#api/localnet/context.js';
import { localnetApiErrors } from '#api/localnet/errors.js';
import { localAddressParameter, nanotonsParameter, paramsOf } from '#api/localnet/parameters.js';
import { keyPairFromSeed } from '#drivers/adnl/keys.js';
import { toHex } from '#kernel/bytes.js';

const TAG = 'State';
const GET = ['GET'] as const;

const status = localnetEndpoint({
  name: 'status',
  verbs: GET,
  tag: TAG,
  summary: 'Status of the network',
  description: 'The head, the shards, the time of the network, and its block production.',
  params: paramsOf({}),
  result: StatusAnswer,
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
    'Wallets of the usual versions with coins and public keys, and the faucet, with their current balances. The keys are the ' +
    'same in every local network: never use them for anything else.',
  params: paramsOf({}),
  result: WalletsAnswer,
  statuses: [504],
  freshness: 'none',
  handle: async (_, { node, balanceOf }) => {
    const all = (await node.wallets()).map(async ({ version, address, mnemonic, seed, walletId }) => ({
      version,
      address: rawAddressText(address),
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

/** Methods about the state of the network. */
export const stateEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [status, wallets];

/** Of a comment, in characters. */
const LONGEST_COMMENT = 1_000;

const faucet = localnetEndpoint({
  name: 'faucet',
  verbs: ['POST'],
  tag: 'Faucet',
  summary: 'Coins for an account',
  description:
    'Sends coins from the faucet to any account, existing or not, and responds when the message is in a block; it arrives in ' +
    'that one or the next. The message does not bounce. More than the balance of the faucet is refused (422).',
  params: paramsOf({
    address: localAddressParameter('Who is to get the coins'),
    amount: nanotonsParameter('How much.', 1n),
    comment: Type.Optional(
      Type.String({
        description: `A text to go with the coins, up to ${LONGEST_COMMENT} characters.`,
        maxLength: LONGEST_COMMENT,
      }),
    ),
  }),
  result: SentAnswer,
  statuses: [504],
  freshness: 'none',
  handle: async ({ address, amount, comment }, context) => {
    const { node, balanceOf } = context;
    const own = (await node.wallets()).find(({ mnemonic }) => mnemonic === null);
    if (own === undefined) throw localnetApiErrors['no-faucet']({});
    const balance = await balanceOf(own.address);
    if (amount > balance) {
      throw httpErrors['bad-parameter']({
        parameter: 'amount',
        problem: `${amount} nanotons are more than the faucet has: ${balance}`,
      });
    }
    return sentJson(await onceVisible(node.fund(address, amount, comment ?? null), context));
  },
});

export const faucetEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [faucet];
