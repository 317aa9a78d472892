import { parseBoc, parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { signatureSetOf } from '#formats/proofs/block-proof.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import type { ChainState, ChainTip, NewBlock, NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import { readArchivePack } from '#test/support/archive-pack.js';
import { blockIdOfName } from '#test/support/block-proof-files.js';
import { parseChainName, readBytes, vectorPath } from '#test/support/vector-files.js';

/** A part of a recorded chain, with what its first masterchain block refers to. */
export interface MiddleOfChain {
  readonly tip: ChainTip;
  /** Masterchain states before the tip, oldest first. */
  readonly earlier: readonly ChainState[];
  readonly bundles: readonly NewBlockBundle[];
}

/**
 * Rounds 280 to 294 of the recorded network: messages of every kind, between a shard and the masterchain, too. The file of
 * states holds three of the masterchain, newest first, then that of the shard.
 */
export function recordedMiddle(): MiddleOfChain {
  const { roots } = parseBoc(readBytes(vectorPath('localnet/states-279.boc.gz')));
  const [newest, second, third, shardState] = roots as [Cell, Cell, Cell, Cell];
  const { prev_blocks } = decodeCell(ShardStateUnsplit, newest).custom!.value.info.value;
  const known = (seqno: number, state: Cell): ChainState => {
    const { root_hash, file_hash } = prev_blocks.get(seqno)!.blk_ref;
    return { id: { ...MASTERCHAIN_SHARD, seqno, root_hash, file_hash }, state };
  };
  const files = [...readArchivePack(readBytes(vectorPath('localnet/rounds-280-294.pack.gz')))].map(
    ({ name, data }) => ({
      named: parseChainName(name)!,
      data,
    }),
  );
  const firstTop = files.find(({ named }) => named.kind === 'block' && named.workchain === -1)!;
  const [before] = checkBlockHeader(parseBocRoot(firstTop.data), blockIdOfName(firstTop.named)).prev as [BlockId];
  const [listed] = [...shardDescrs(decodeCell(ShardStateUnsplit, newest).custom!.value.shard_hashes)].map(blockOfShard);
  const tip: ChainTip = { masterchain: { id: before, state: newest }, shards: [{ id: listed!, state: shardState }] };
  const earlier = [known(before.seqno - 2, third), known(before.seqno - 1, second)];

  const states = new Map<string, Cell>();
  for (const { id, state } of [tip.masterchain, ...tip.shards]) states.set(toHex(id.root_hash), state);
  const bundles: NewBlockBundle[] = [];
  let shards: NewBlock[] = [];
  for (const { named, data } of files) {
    if (named.kind !== 'block') continue;
    const block = newBlock(blockIdOfName(named), data, states);
    states.set(toHex(block.id.root_hash), block.state);
    if (!isMasterchain(block.id)) {
      shards.push(block);
      continue;
    }
    const proof = files.find((each) => each.named.kind === 'proof' && each.named.rootHash === named.rootHash)!;
    const { signatures } = decodeCell(BlockProof, parseBocRoot(proof.data));
    const { key_block } = checkBlockHeader(block.root, block.id).info;
    bundles.push({ shards, masterchain: { ...block, key_block }, signatures: signatureSetOf(signatures!.value) });
    shards = [];
  }
  return { tip, earlier, bundles };
}

function newBlock(id: BlockId, bytes: Uint8Array, states: ReadonlyMap<string, Cell>): NewBlock {
  const root = parseBocRoot(bytes);
  const { info, prev } = checkBlockHeader(root, id);
  const [first, second] = prev.map((each) => states.get(toHex(each.root_hash))!) as [Cell, Cell?];
  const before = second === undefined ? first : splitState(first, second);
  const state = applyMerkleUpdate(before, root.ref(2));
  return { id, bytes, root, state, prev, gen_utime: info.gen_utime, end_lt: info.end_lt };
}

/** `split_state#5f327da5 left:^ShardStateUnsplit right:^ShardStateUnsplit`. */
function splitState(left: Cell, right: Cell): Cell {
  return new Builder().storeUint(0x5f327da5, 32).storeRef(left).storeRef(right).endCell();
}
