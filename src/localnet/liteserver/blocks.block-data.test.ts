import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { sha256 } from '#formats/cells/digests.js';
import { openMerkleProof } from '#formats/cells/merkle-proof.js';
import { stateHash, verifyBlockHeader } from '#formats/proofs/block-header.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { blockDataHandlers } from '#localnet/liteserver/blocks.js';
import { errorCode } from '#test/support/error-code.js';
import { blockAt, contextOf, genesisLedger, refusal, strangeId } from '#test/support/genesis-ledger.js';

const ledger = genesisLedger();
const context = contextOf(ledger);
const block = blockAt(ledger, 3);
const id = blockIdToTl(block.id);
const { 'liteServer.getBlock': getBlock, 'liteServer.getState': getState } = blockDataHandlers;
const getHeader = blockDataHandlers['liteServer.getBlockHeader'];

describe('blocks and states', () => {
  it('are given as the files that they are', () => {
    expect(sha256(getBlock({ id }, context).data)).toEqual(block.id.file_hash);
    const state = getState({ id }, context);
    expect(parseBocRoot(state.data).hash()).toEqual(ledger.state(block).hash());
    expect(sha256(state.data)).toEqual(state.file_hash);
    const zerostate = blockIdToTl(ledger.zerostate);
    expect(sha256(getState({ id: zerostate }, context).data)).toEqual(ledger.zerostate.file_hash);
  });

  it('are refused for ids that are unknown, impossible, or too late', () => {
    expect(refusal(() => getBlock({ id: blockIdToTl(strangeId(block.id)) }, context))).toBe(
      '651 block handle not in db',
    );
    expect(refusal(() => getBlock({ id: { ...id, shard: 0n } }, context))).toBe('-400 invalid BlockIdExt');
    expect(refusal(() => getBlock({ id: blockIdToTl(ledger.zerostate) }, context))).toBe('651 not in db');
    expect(refusal(() => getState({ id: { ...id, seqno: 1001 } }, context))).toMatch(
      /^-400 cannot request total state/,
    );
    const other = { ...blockIdToTl(ledger.zerostate), file_hash: id.file_hash };
    expect(refusal(() => getState({ id: other }, context))).toMatch(/^651 /);
  });
});

describe('header proofs', () => {
  const shown = (mode: number) => {
    const { header_proof } = getHeader({ id, mode }, context);
    return {
      header: verifyBlockHeader(header_proof, block.id),
      block: decodeCell(Block, openMerkleProof(parseBocRoot(header_proof))),
      size: header_proof.length,
    };
  };

  it('show the header alone in mode 0', () => {
    const { header, block: opened } = shown(0);
    expect(header.prev[0]).toMatchObject({ seqno: 2 });
    for (const part of [() => stateHash(header), () => opened.value_flow.value, () => opened.extra.value]) {
      expect(errorCode(part)).toMatch(/^(cells\/pruned-branch|proofs\/incomplete)$/);
    }
  });

  it('show more as the mode says', () => {
    expect(stateHash(shown(1).header)).toEqual(ledger.state(block).hash(0));
    expect(shown(2).block.value_flow.value.kind).toBeDefined();
    expect([...shown(16 | 32).block.extra.value.custom!.value.shard_hashes]).toHaveLength(1);
    expect(errorCode(() => [...shown(16).block.extra.value.custom!.value.shard_hashes])).toBe('cells/pruned-branch');
    expect(shown(16 | 64).block.extra.value.custom!.value.messages.value).toBeDefined();
    expect(shown(0xff).size).toBeGreaterThan(shown(1).size);
  });
});
