import type { HttpApi } from '#api/http/http-api.js';
import type { LocalnetContext } from '#api/localnet/context.js';
import { localnetDescription } from '#api/localnet/description.js';
import type { OpenNetwork } from '#app/service/open-network.js';
import { pause } from '#kernel/async/pause.js';
import { systemClock } from '#kernel/clock/system-clock.js';
import type { LocalNode } from '#localnet/node/local-node.js';

/** How often the head is looked at that a liteserver tells. */
const EVERY_MS = 5;

/** The control API of a local network. @param network reads of the same chain */
export function localnetApi(node: LocalNode, network: OpenNetwork): HttpApi<LocalnetContext> {
  return {
    ...localnetDescription,
    context: ({ group, read }) => {
      const { v2, lite } = network.poolOf(group);
      const { chain } = v2;
      return {
        node,
        balanceOf: async (address) => {
          const { head } = await node.status();
          const { block } = await chain.waitForHead(head.seqno, read);
          const { account } = await chain.account(address, { ...read, at: block, pruned: true });
          return account?.kind === 'account' ? account.storage.balance.grams : 0n;
        },
        untilKnown: async ({ seqno }) => {
          await chain.waitForHead(seqno, read);
          // Answers that are kept hold to what the liteserver has told of its head.
          while (lite.headSeqno < seqno && !read.signal.aborted) await pause(EVERY_MS, systemClock, read.signal);
        },
      };
    },
  };
}
