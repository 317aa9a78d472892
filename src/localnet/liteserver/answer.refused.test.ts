import { expect, it } from 'vitest';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { refusedHandlers } from '#localnet/liteserver/answer.js';
import { contextOf, genesisLedger, refusal } from '#test/support/genesis-ledger.js';

it('what the server does not do has a clear error each', () => {
  const context = contextOf(genesisLedger());
  const id = blockIdToTl(context.ledger.head!.id);
  const account = { workchain: -1, id: new Uint8Array(32) };
  const run = { mode: 4, id, account, method_id: 85143n, params: new Uint8Array() };
  expect([
    refusal(() => refusedHandlers['liteServer.sendMessage']({ body: new Uint8Array(8) }, context)),
    refusal(() => refusedHandlers['liteServer.runSmcMethod'](run, context)),
    refusal(() =>
      refusedHandlers['liteServer.nonfinal.getPendingShardBlocks']({ mode: 0, wc: null, shard: null }, context),
    ),
  ]).toEqual([
    expect.stringMatching(/^0 cannot apply external message .* a recorded chain, which no message can change$/),
    expect.stringMatching(/^-400 .* no virtual machine$/),
    '0 query is not allowed',
  ]);
});
