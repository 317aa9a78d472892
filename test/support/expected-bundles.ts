import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type BlockId, isMasterchain, printBlockId } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { Block } from '#formats/tlb/block.js';
import { previousBlocks } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { toHex } from '#kernel/bytes.js';
import { blockIdOfName } from '#test/support/block-proof-files.js';
import { parseChainName, readChain } from '#test/support/vector-files.js';

/** What is in a masterchain block, by the files alone. */
export interface ExpectedBundle {
  readonly mc_seqno: number;
  /** `(0,8000000000000000,12):ROOTHASH:FILEHASH`, and the file. */
  readonly blocks: readonly { readonly id: string; readonly data: Uint8Array }[];
  readonly afterSplit: number;
  readonly afterMerge: number;
}

interface FileOfBlock {
  readonly id: BlockId;
  readonly data: Uint8Array;
  readonly prev: readonly string[];
  readonly tops: readonly string[];
  readonly after_split: boolean;
  readonly after_merge: boolean;
}

/** All masterchain blocks of a folder, at index seqno: a masterchain block has what is behind its tops and in no masterchain block before. */
export function expectedBundles(folder: string): readonly ExpectedBundle[] {
  const files = new Map<string, FileOfBlock>();
  const masterchain: FileOfBlock[] = [];
  for (const { name, data } of readChain(folder)) {
    const named = parseChainName(name);
    if (named?.kind !== 'block') continue;
    const file = fileOfBlock(blockIdOfName(named), data);
    files.set(named.rootHash, file);
    if (isMasterchain(file.id)) masterchain[file.id.seqno] = file;
  }
  const committed = new Set<string>();
  return masterchain.map((top) => {
    const found: FileOfBlock[] = [];
    const pending = [...top.tops];
    for (let hash = pending.pop(); hash !== undefined; hash = pending.pop()) {
      const file = files.get(hash);
      if (file === undefined || committed.has(hash)) continue;
      committed.add(hash);
      found.push(file);
      pending.push(...file.prev);
    }
    found.sort(({ id: a }, { id: b }) => (place(a) < place(b) ? -1 : 1));
    return {
      mc_seqno: top.id.seqno,
      blocks: [top, ...found].map(({ id, data }) => ({ id: printBlockId(id), data })),
      afterSplit: found.filter(({ after_split }) => after_split).length,
      afterMerge: found.filter(({ after_merge }) => after_merge).length,
    };
  });
}

function fileOfBlock(id: BlockId, data: Uint8Array): FileOfBlock {
  const { info, extra } = decodeCell(Block, parseBocRoot(data));
  const { prev_ref, after_split, after_merge } = info.value;
  const { custom } = extra.value;
  return {
    id,
    data,
    prev: previousBlocks(prev_ref.value).map(({ root_hash }) => toHex(root_hash)),
    tops:
      custom === null ? [] : [...shardDescrs(custom.value.shard_hashes)].map((e) => toHex(blockOfShard(e).root_hash)),
    after_split,
    after_merge,
  };
}

/** Sorts as text in the order of workchain, shard and seqno; workchains are not negative here. */
function place({ workchain, shard, seqno }: BlockId): string {
  return [workchain, shard, seqno].map((part) => part.toString(16).padStart(16, '0')).join(' ');
}
