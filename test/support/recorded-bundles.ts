import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, isMasterchain } from '#formats/proofs/block-id.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { configParam } from '#formats/tlb/config/config-params.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { ChainBlock } from '#localnet/replay/recorded-chain.js';
import type { McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import { keptRecording } from '#test/support/kept-replay.js';

/** A masterchain block of a recorded chain, and the whole state after each of its blocks. */
export interface RecordedBundle extends McBlockBundle {
  readonly states: readonly Cell[];
}

/** A recorded chain, cut into masterchain blocks. */
export interface RecordedBundles {
  /** From seqno 1 on. */
  readonly bundles: readonly RecordedBundle[];
  readonly zerostates: readonly { readonly id: BlockId; readonly root: Cell }[];
  /** The version of the rules that a key block set; 0: the zerostate. */
  globalVersion(key_block: number): number;
}

/** Reads a folder with a chain; all states are made from the updates in the blocks. */
export function recordedBundles(folder: string, to: number | null = null): RecordedBundles {
  const { masterchain, shards, zerostates } = keptRecording(folder, to).chain;
  const versions = new Map<number, number>([[0, versionOfState(zerostates.find(({ id }) => isMasterchain(id))!.root)]]);
  for (const { id, key_block, state } of masterchain) if (key_block) versions.set(id.seqno, versionOfState(state));
  const bundles = masterchain.map((top) => {
    const committed = shards.filter(({ mc_seqno }) => mc_seqno === top.mc_seqno).sort(byPlace);
    const blocks = [top, ...committed];
    return {
      mc_seqno: top.id.seqno,
      blocks: blocks.map(({ id, bytes }) => ({ id, data: bytes })),
      states: blocks.map(({ state }) => state),
    };
  });
  return { bundles: bundles, zerostates, globalVersion: (key_block) => versions.get(key_block)! };
}

function versionOfState(state: Cell): number {
  const { config } = decodeCell(ShardStateUnsplit, state).custom!.value;
  return configParam(config.config, 8)?.version ?? 0;
}

function byPlace({ id: a }: ChainBlock, { id: b }: ChainBlock): number {
  return a.workchain - b.workchain || Number(a.shard - b.shard) || a.seqno - b.seqno;
}

/** A block of a file as a masterchain block of its own. */
export function bundleOfFile(data: Uint8Array, mc_seqno: number): McBlockBundle {
  const { info } = decodeCell(Block, parseBocRoot(data));
  const { shard, seq_no } = info.value;
  const none = new Uint8Array(32);
  const prefix = shard.shard_prefix | (1n << BigInt(63 - shard.shard_pfx_bits));
  const id = { workchain: shard.workchain_id, shard: prefix, seqno: seq_no, root_hash: none, file_hash: none };
  return { mc_seqno, blocks: [{ id, data }] };
}
