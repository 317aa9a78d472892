import type { HttpApi } from '#api/http/http-api.js';
import type { LocalnetContext } from '#api/localnet/context.js';
import { localnetDescription } from '#api/localnet/description.js';
import type { OpenNetwork } from '#app/service/open-network.js';
import type { LocalNode } from '#localnet/node/local-node.js';

/** The control API of a local network. @param network reads of the same chain */
export function localnetApi(node: LocalNode, network: OpenNetwork): HttpApi<LocalnetContext> {
  return {
    ...localnetDescription,
    context: ({ group, read }) => {
      const { chain } = network.poolOf(group).v2;
      return {
        node,
        balanceOf: async (address) => {
          const { head } = await node.status();
          const { block } = await chain.waitForHead(head.seqno, read);
          const { account } = await chain.account(address, { ...read, at: block, pruned: true });
          return account?.kind === 'account' ? account.storage.balance.grams : 0n;
        },
        untilKnown: async ({ seqno }) => void (await chain.waitForHead(seqno, read)),
      };
    },
  };
}
