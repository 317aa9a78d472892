import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { MAX_SPLIT_BITS, splitStateHeader, statePartsOf } from '#formats/proofs/split-state.js';
import { shardHex, shardPrefixLength } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { fileProblem, makeFolder } from '#kernel/files.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';
import { replayErrors } from '#localnet/replay/errors.js';

/** State files that were written. */
export interface ExportedStates {
  readonly block: BlockId;
  /** Paths, the masterchain first. */
  readonly files: readonly string[];
  readonly bytes: number;
}

/**
 * Writes the states of all shards after a masterchain block as nodes write persistent states: bags of cells with index, checksum,
 * cache bits and stored hashes. A state of a shard with a prefix shorter than `splitDepth` is divided into a header and a part for
 * each prefix of that length; 0: none is.
 *
 * @param folder must not exist yet, or be empty
 * @throws replay/no-such-head, replay/export-folder, replay/unwritable
 */
export function exportStates(ledger: Ledger, seqno: number, folder: string, splitDepth: number): ExportedStates {
  const block = ledger.lookup({ ...MASTERCHAIN_SHARD, by: 'seqno', seqno });
  const last = ledger.head?.id.seqno ?? 0;
  if (block === null || block.id.seqno !== seqno) {
    throw replayErrors['no-such-head']({ option: 'the seqno of the state', wanted: seqno, last });
  }
  requireEmpty(folder);
  const masterchain = ledger.state(block);
  const { custom } = decodeCell(ShardStateUnsplit, masterchain);
  const states: { readonly id: BlockId; readonly state: Cell }[] = [{ id: block.id, state: masterchain }];
  for (const id of [...shardDescrs(custom!.value.shard_hashes)].map(blockOfShard)) {
    states.push({ id, state: stateAfter(ledger, id) });
  }
  const files: string[] = [];
  let bytes = 0;
  const write = (name: string, root: Cell): void => {
    const path = join(folder, name);
    const data = serializeBoc(root, BLOCK_FILE);
    files.push(path);
    bytes += data.length;
    try {
      writeFileSync(`${path}.draft`, data);
      renameSync(`${path}.draft`, path);
    } catch (error) {
      throw replayErrors.unwritable({ file: path, problem: fileProblem(error) }, error);
    }
  };
  try {
    for (const { id, state } of states) {
      const name = stateName(id);
      const bits = shardPrefixLength(id.shard);
      if (id.workchain === MASTERCHAIN_SHARD.workchain || bits >= splitDepth) {
        write(`${name}.boc`, state);
        continue;
      }
      const depth = Math.min(splitDepth, bits + MAX_SPLIT_BITS);
      write(`${name}.header.boc`, splitStateHeader(state, depth));
      for (const { shard, root } of statePartsOf(state, depth)) write(`${name}.${shardHex(shard)}.boc`, root);
    }
  } catch (error) {
    // Half a state would look like a damaged one.
    for (const file of files) for (const each of [file, `${file}.draft`]) rmSync(each, { force: true });
    throw error;
  }
  return { block: block.id, files, bytes };
}

/** `state_0_8000000000000000_123` */
function stateName({ workchain, shard, seqno }: BlockId): string {
  return `state_${workchain}_${shardHex(shard)}_${seqno}`;
}

/** The state after the newest block of a shard, or its zerostate. */
function stateAfter(ledger: Ledger, id: BlockId): Cell {
  if (id.seqno > 0) return ledger.state(ledger.block(id)!);
  return parseBocRoot(ledger.zerostateFile(id)!);
}

function requireEmpty(folder: string): void {
  makeFolder(folder);
  if (readdirSync(folder).length > 0) throw replayErrors['export-folder']({ folder });
}
