import { describe, expect, it } from 'vitest';
import { blockAt, genesisLedger, strangeId } from '#test/support/genesis-ledger.js';

describe('a ledger whose head moves', () => {
  it('shows what the head commits, and nothing that comes later', () => {
    const ledger = genesisLedger(0);
    expect(ledger.head).toBeNull();
    const whole = genesisLedger();
    for (let head = 1; head <= 9; head++) {
      ledger.advanceTo(head);
      expect(ledger.head!.id.seqno).toBe(head);
      for (const workchain of [-1, 0]) {
        for (let seqno = 1; seqno <= 9; seqno++) {
          const { id, mc_seqno, end_lt, gen_utime } = blockAt(whole, seqno, workchain);
          const expected = mc_seqno <= head ? id : undefined;
          expect(ledger.block(id)?.id).toEqual(expected);
          const shard = { workchain, shard: id.shard };
          expect(ledger.lookup({ ...shard, by: 'seqno', seqno })?.id).toEqual(expected);
          expect(ledger.lookup({ ...shard, by: 'lt', lt: end_lt })?.id).toEqual(expected);
          if (expected === undefined)
            expect(ledger.lookup({ ...shard, by: 'utime', utime: gen_utime + 1000 })).toBeNull();
        }
      }
    }
  });

  it('notifies its listeners, once for each move, until they stop', () => {
    const ledger = genesisLedger(2);
    const heads: number[] = [];
    const stop = ledger.onHead(() => heads.push(ledger.head!.id.seqno));
    ledger.advanceTo(2);
    ledger.advanceTo(1);
    ledger.advanceTo(5);
    ledger.advanceTo(100);
    stop();
    expect(heads).toEqual([5, 9]);
    expect([ledger.lastSeqno, ledger.head!.id.seqno]).toEqual([9, 9]);
  });
});

describe('what a ledger knows', () => {
  const ledger = genesisLedger();

  it('are states, zerostates, signatures and previous blocks', () => {
    const block = blockAt(ledger, 1);
    expect(ledger.previous(block)).toEqual([ledger.zerostate]);
    expect(ledger.zerostateFile(ledger.zerostate)!.length).toBe(8529);
    expect(ledger.zerostateFile(strangeId(ledger.zerostate))).toBeNull();
    expect(ledger.signatures(block)!.signatures.length).toBe(4);
    expect(ledger.signatures(blockAt(ledger, 1, 0))).toBeNull();
    expect(ledger.state(block).hash()).not.toEqual(ledger.state(blockAt(ledger, 2)).hash());
  });

  it('are no key blocks but the zerostate so far', () => {
    expect(ledger.keyBlockUpTo(9)).toEqual(ledger.zerostate);
    expect(ledger.keyBlockFrom(1)).toBeNull();
  });
});
