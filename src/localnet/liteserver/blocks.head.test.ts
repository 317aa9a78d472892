import { describe, expect, it } from 'vitest';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { headHandlers } from '#localnet/liteserver/blocks.js';
import { blockAt, contextOf, genesisLedger, NOW, refusal } from '#test/support/genesis-ledger.js';

describe('the head', () => {
  const ledger = genesisLedger(7);
  const context = contextOf(ledger);
  const head = blockAt(ledger, 7);

  it('is reported with the hash of its state and the zerostate', () => {
    const { workchain, root_hash, file_hash } = ledger.zerostate;
    const info = {
      last: blockIdToTl(head.id),
      state_root_hash: ledger.state(head).hash(),
      init: { workchain, root_hash, file_hash },
    };
    expect(headHandlers['liteServer.getMasterchainInfo']({}, context)).toEqual(info);
    for (const mode of [0, 1]) {
      const ext = headHandlers['liteServer.getMasterchainInfoExt']({ mode }, context);
      expect(ext).toMatchObject({ ...info, mode, version: 0x101, last_utime: head.gen_utime, now: NOW });
    }
  });

  it('is refused in unknown modes, and while there is none', () => {
    expect(refusal(() => headHandlers['liteServer.getMasterchainInfoExt']({ mode: 2 }, context))).toMatch(/^-400 /);
    const nothing = contextOf(genesisLedger(0));
    expect(refusal(() => headHandlers['liteServer.getMasterchainInfo']({}, nothing))).toMatch(/^651 /);
  });

  it('stands beside time and version', () => {
    expect(headHandlers['liteServer.getTime']({}, context)).toEqual({ now: NOW });
    // Without bit 4: get methods are not run.
    expect(headHandlers['liteServer.getVersion']({}, context)).toEqual({
      mode: 0,
      version: 0x101,
      capabilities: 11n,
      now: NOW,
    });
    const runGetMethod = () => Promise.reject(new RangeError('not to be run'));
    const { capabilities } = headHandlers['liteServer.getVersion']({}, { ...context, runGetMethod });
    expect(capabilities).toBe(15n);
  });
});
