import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Block, BlockInfo, ValueFlow, ValueFlowFees, valueFlowSums } from '#formats/tlb/block.js';
import { previousBlocks, shardHex, shardOf } from '#formats/tlb/block-id.js';
import { BlockProof, BlockSignatures } from '#formats/tlb/block-proof.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { CurrencyCollection, onlyGrams } from '#formats/tlb/currency.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { McStateExtra, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { itRefuses, roundTrip } from '#test/support/codec-harness.js';
import { chainFiles } from '#test/support/corpus.js';
import { parseChainName, readBytes, readChain, vectorPath } from '#test/support/vector-files.js';

const example = (name: string): Cell => parseBocRoot(readBytes(vectorPath(`examples/${name}`)));
const block = decodeCell(Block, example('masterchain-block.boc'));

describe('a masterchain block', () => {
  it('has a header', () => {
    const info = roundTrip(BlockInfo, block.info.cell);
    expect([block.global_id, info.shard.workchain_id, info.seq_no, info.key_block]).toEqual([
      -239,
      -1,
      17734191,
      false,
    ]);
    expect([info.gen_utime, info.start_lt, info.end_lt]).toEqual([1642757054, 24836995000000n, 24836995000004n]);
    expect([info.master_ref, info.prev_vert_ref]).toEqual([null, null]);
    expect(previousBlocks(info.prev_ref.value).map((prev) => prev.seq_no)).toEqual([17734190]);
    expect(shardHex(shardOf(info.shard))).toBe('8000000000000000');
  });

  it('knows the shards', () => {
    const shards = [...shardDescrs(block.extra.value.custom!.value.shard_hashes)];
    expect(shards.every(({ workchain, descr }) => workchain === 0 && descr.seq_no > 0)).toBe(true);
    expect(shards.reduce((space, { shard }) => space + ((shard & -shard) << 1n), 0n)).toBe(1n << 64n);
  });

  it('leads to a state that its update shows in part', () => {
    const update = block.state_update.value;
    expect(toHex(update.old_hash)).toBe(toHex(update.old.cell.hash(0)));
    expect(toHex(update.new_hash)).toBe(toHex(update.new.cell.hash(0)));
    const state = update.new.value;
    expect(state.kind === 'shard_state' && state.seq_no).toBe(17734191);
  });
});

describe('headers that are refused', () => {
  const bits = openBits(block.info.cell);
  const changed = (at: number, value: string): Cell =>
    rebuilt(block.info.cell, bits.slice(0, at) + value + bits.slice(at + value.length));
  itRefuses(BlockInfo, [
    { id: 'another tag', cell: changed(0, '0'), code: 'tlb/constructor-tag', path: '' },
    { id: 'another version', cell: changed(63, '1'), code: 'tlb/constraint', path: 'version' },
    { id: 'unknown flags', cell: changed(72, '1'), code: 'tlb/constraint', path: 'flags' },
    { id: 'number 0', cell: changed(80, '0'.repeat(32)), code: 'tlb/constraint', path: 'seq_no' },
    {
      id: 'a vertical step at height 0',
      cell: changed(71, `1${'0'.repeat(7)}0${bits.slice(80, 112)}${'0'.repeat(32)}`),
      code: 'tlb/constraint',
      path: 'vert_seq_no',
    },
    {
      id: 'a masterchain reference that is not there',
      cell: changed(64, '1'),
      code: 'cells/slice-no-reference',
      path: 'prev_ref',
    },
    { id: 'bits left over', cell: rebuilt(block.info.cell, `${bits}0`), code: 'cells/slice-not-empty', path: '' },
  ]);
});

function openBits(cell: Cell): string {
  let bits = '';
  for (let i = 0; i < cell.bits; i++) bits += (cell.bytes[cell.dataOffset + (i >> 3)]! >> (7 - (i & 7))) & 1;
  return bits;
}

function rebuilt(cell: Cell, bits: string): Cell {
  const builder = new Builder();
  for (const bit of bits) builder.storeBit(bit === '1');
  for (let i = 0; i < cell.refCount; i++) builder.storeRef(cell.ref(i));
  return builder.endCell();
}

describe('value flows', () => {
  const sameSums = (root: Cell): boolean => {
    const sums = valueFlowSums(decodeCell(Block, root).value_flow.value);
    return (
      toHex(encodeCell(CurrencyCollection, sums.in).hash()) === toHex(encodeCell(CurrencyCollection, sums.out).hash())
    );
  };
  const checkAll = (directory: string): number => {
    let count = 0;
    for (const { name, kind, root } of chainFiles(directory)) {
      if (kind !== 'block') continue;
      expect(sameSums(root), name).toBe(true);
      count++;
    }
    return count;
  };

  it('bring as much in as out', () => {
    expect(sameSums(example('masterchain-block.boc'))).toBe(true);
    expect(sameSums(example('basechain-block.boc'))).toBe(true);
    expect(checkAll(vectorPath('mainnet-genesis'))).toBe(20);
    expect(checkAll(vectorPath('recorded-net'))).toBe(20);
  });

  const genesis = vectorPath('collection/mainnet-genesis');
  const recorded = vectorPath('collection/recorded-net/chain');
  it('in all of mainnet-genesis, too', () => {
    expect(checkAll(genesis)).toBe(805);
  });
  it('in all of recorded-net, too', () => {
    expect(checkAll(recorded)).toBe(2587);
  });

  it('count what is burned', () => {
    const flow = block.value_flow.value;
    const before = valueFlowSums(flow).out.grams;
    const burning: ValueFlow = { ...flow, kind: 'value_flow_v2', burned: onlyGrams(5n) };
    roundTrip(ValueFlow, encodeCell(ValueFlow, burning));
    expect(valueFlowSums(burning).out.grams).toBe(before + 5n);
    const minting: ValueFlow = {
      ...burning,
      fees: Lazy.ofValue(ValueFlowFees, { ...flow.fees.value, minted: onlyGrams(7n) }),
    };
    expect(valueFlowSums(minting).in.grams).toBe(valueFlowSums(flow).in.grams + 7n);
  });
});

describe('proofs of blocks', () => {
  const proofs = (set: string) =>
    [...readChain(vectorPath(set))]
      .filter(({ name }) => parseChainName(name)?.kind !== 'block')
      .map(({ name, data }) => ({ id: parseChainName(name)!, proof: roundTrip(BlockProof, parseBocRoot(data)) }));

  it('name the block and carry signatures in the masterchain only', () => {
    for (const { id, proof } of [...proofs('mainnet-genesis'), ...proofs('recorded-net')]) {
      expect([proof.proof_for.shard_id.workchain_id, proof.proof_for.seq_no]).toEqual([id.workchain, id.seqno]);
      expect(toHex(proof.proof_for.root_hash)).toBe(id.rootHash);
      expect(toHex(proof.proof_for.file_hash)).toBe(id.fileHash);
      expect(proof.signatures === null).toBe(id.kind === 'prooflink');
    }
  });

  it('have signatures of the present consensus, or of the one before', () => {
    const kinds = (set: string) =>
      proofs(set).flatMap(({ proof }) =>
        proof.signatures === null ? [] : [roundTrip(BlockSignatures, proof.signatures.cell).kind],
      );
    expect(new Set(kinds('mainnet-genesis'))).toEqual(new Set(['block_signatures_ordinary']));
    expect(new Set(kinds('recorded-net'))).toEqual(new Set(['block_signatures_simplex']));
  });
});

describe('the zerostate of the masterchain', () => {
  const state = decodeCell(ShardStateUnsplit, example('zerostate.boc'));

  it('has what only masterchain states have', () => {
    const extra = roundTrip(McStateExtra, state.custom!.cell);
    expect(extra.info.value.prev_blocks.isEmpty).toBe(true);
    expect(extra.config.config.has(34)).toBe(true);
    expect([state.seq_no, state.shard_id.workchain_id]).toEqual([0, -1]);
    expect(state.totals.value.libraries.count()).toBeGreaterThan(0);
  });
});
