import { blockIdToTl } from '#formats/tl/block-id.js';
import { headOf, refused } from '#localnet/liteserver/find-block.js';
import type { LiteContext, LiteHandlers } from '#localnet/liteserver/lite-handler.js';

/** Which functions the server has: minor 1, major 1. */
const VERSION = 0x101;
/** 1 chains of block proofs, 2 getMasterchainInfoExt, 4 runSmcMethod, 8 mode 1 of getMasterchainInfoExt. */
const CAPABILITIES = 11n;
const CAN_RUN_METHODS = 4n;

/** What the server is, and how far its chain goes. */
export const headHandlers: LiteHandlers<
  'liteServer.getMasterchainInfo' | 'liteServer.getMasterchainInfoExt' | 'liteServer.getTime' | 'liteServer.getVersion'
> = {
  'liteServer.getMasterchainInfo': (_, context) => masterchainInfo(context),

  'liteServer.getMasterchainInfoExt': ({ mode }, context) => {
    if (mode > 1) throw refused('unsupported getMasterchainInfo mode');
    const last_utime = headOf(context.ledger).gen_utime;
    const own = { mode, version: VERSION, capabilities: capabilitiesOf(context), last_utime, now: context.unixTime() };
    return { ...own, ...masterchainInfo(context) };
  },

  'liteServer.getTime': (_, { unixTime }) => ({ now: unixTime() }),

  'liteServer.getVersion': (_, context) => ({
    mode: 0,
    version: VERSION,
    capabilities: capabilitiesOf(context),
    now: context.unixTime(),
  }),
};

function capabilitiesOf({ runGetMethod }: LiteContext): bigint {
  return runGetMethod === undefined ? CAPABILITIES : CAPABILITIES | CAN_RUN_METHODS;
}

function masterchainInfo({ ledger }: LiteContext) {
  const head = headOf(ledger);
  const { workchain, root_hash, file_hash } = ledger.zerostate;
  return {
    last: blockIdToTl(head.id),
    state_root_hash: ledger.state(head).hash(),
    init: { workchain, root_hash, file_hash },
  };
}
