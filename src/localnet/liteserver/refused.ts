import { liteserverErrors } from '#localnet/liteserver/errors.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';

/** What this server does not do, and says so. */
export const refusedHandlers: LiteHandlers<
  'liteServer.sendMessage' | 'liteServer.runSmcMethod' | 'liteServer.nonfinal.getPendingShardBlocks'
> = {
  'liteServer.sendMessage': () => {
    throw liteserverErrors['read-only']({});
  },
  'liteServer.runSmcMethod': () => {
    throw liteserverErrors['no-virtual-machine']({});
  },
  'liteServer.nonfinal.getPendingShardBlocks': () => {
    throw liteserverErrors['not-allowed']({});
  },
};
