import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { known, type LocalnetContext, localnetEndpoint } from '#api/localnet/context.js';
import { localnetApiErrors } from '#api/localnet/errors.js';
import { addressParameter, nanotonsParameter, paramsOf } from '#api/localnet/parameters.js';
import { Sent } from '#api/localnet/schemas.js';
import { sentJson } from '#api/localnet/serialize.js';

/** Of a comment, in characters. */
const LONGEST_COMMENT = 1_000;

const faucet = localnetEndpoint({
  name: 'faucet',
  verbs: ['POST'],
  tag: 'Faucet',
  summary: 'Coins for an account',
  description:
    'Sends coins from the faucet to any account, whether or not there is anything yet, and answers when they have left in a ' +
    'block; they arrive in that one or the next. The message does not bounce. More than the faucet has is refused (422).',
  params: paramsOf({
    address: addressParameter('Who is to get the coins'),
    amount: nanotonsParameter('How much.', 1n),
    comment: Type.Optional(
      Type.String({
        description: `A text to go with the coins, up to ${LONGEST_COMMENT} characters.`,
        maxLength: LONGEST_COMMENT,
      }),
    ),
  }),
  result: Sent,
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
    return sentJson(await known(node.fund(address, amount, comment ?? null), context));
  },
});

export const faucetEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [faucet];
