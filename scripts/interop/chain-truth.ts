import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, isMasterchain } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type McStateExtra, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { type BlockFacts, chainFacts } from '#test/support/chain-facts.js';
import { statesOfChain, type Zerostates } from '#test/support/states-of-chain.js';

/** The state of a chain after a block. */
interface StateTruth {
  readonly id: BlockId;
  readonly root: Cell;
  readonly state: ShardStateUnsplit;
}

/** What a chain holds, decoded from its files by no more than the formats, up to its head. */
export interface ChainTruth {
  readonly zerostateRootHash: Uint8Array;
  readonly head: BlockFacts;
  /** By rising seqno. */
  readonly masterchain: readonly BlockFacts[];
  readonly shards: readonly BlockFacts[];
  /** After the head: the state of the masterchain first, then those of the shards. */
  readonly states: readonly StateTruth[];
  readonly extra: McStateExtra;
}

/** What the files in a folder say. */
export function chainTruth(folder: string, zerostates: Zerostates): ChainTruth {
  const facts = chainFacts(folder);
  const masterchain = facts.masterchain.slice(1);
  const head = masterchain.at(-1)!;
  const wanted = new Map([head.id, ...head.tops].map((id) => [toHex(id.root_hash), id]));
  const states: StateTruth[] = [];
  let zerostateRootHash: Uint8Array | null = null;
  for (const { link, root } of statesOfChain(folder, zerostates)) {
    const id = wanted.get(link.id.rootHash);
    if (id !== undefined) states.push({ id, root, state: decodeCell(ShardStateUnsplit, root) });
    if (link.id.workchain === -1 && link.id.seqno === 1) {
      zerostateRootHash = Uint8Array.from(Buffer.from(link.previous[0]!, 'hex'));
    }
  }
  states.sort((a, b) => a.id.workchain - b.id.workchain);
  const extra = states.find(({ id }) => isMasterchain(id))!.state.custom!.value;
  return { zerostateRootHash: zerostateRootHash!, head, masterchain, shards: facts.shards, states, extra };
}

/** About `count` items, evenly spread, the first and the last among them. */
export function spreadOver<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, (_, i) => items[Math.round((i * (items.length - 1)) / (count - 1))]!);
}
