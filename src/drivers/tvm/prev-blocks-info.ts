import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { VmStackValue } from '#formats/tlb/vm-stack.js';
import { VM_NULL, vmInt, vmTuple } from '#formats/tlb/vm-value.js';
import { toBase64, toHex } from '#kernel/bytes/bytes.js';

/** A block by its full name. */
export interface BlockName {
  readonly workchain: number;
  /** uint64 */
  readonly shard: bigint;
  readonly seqno: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}

/** What contracts may know of blocks before: `PREVMCBLOCKS`, `PREVKEYBLOCK`, `PREVMCBLOCKS_100`. */
export interface PrevBlocksInfo {
  /** The last 16 blocks of the masterchain, newest first. */
  readonly last_mc_blocks: readonly BlockName[];
  readonly prev_key_block: BlockName;
  /** The last 16 of those with a seqno divisible by 100, newest first; contracts see them from global version 9 on. */
  readonly last_mc_blocks_100: readonly BlockName[];
}

/** The tuple of the info: two items, from global version 9 on three. Null stands for none. */
export function prevBlocksTuple(info: PrevBlocksInfo | null, globalVersion: number): VmStackValue {
  if (info === null) return VM_NULL;
  const lists = [vmTuple(info.last_mc_blocks.map(blockTuple)), blockTuple(info.prev_key_block)];
  if (globalVersion >= 9) lists.push(vmTuple(info.last_mc_blocks_100.map(blockTuple)));
  return vmTuple(lists);
}

/** The texts made last: an info is the same object for many runs. */
const texts = new WeakMap<PrevBlocksInfo, { readonly globalVersion: number; readonly text: string }>();

/** The tuple as the emulator takes it. */
export function prevBlocksText(info: PrevBlocksInfo, globalVersion: number): string {
  const known = texts.get(info);
  if (known?.globalVersion === globalVersion) return known.text;
  const text = toBase64(serializeBoc(encodeCell(VmStackValue, prevBlocksTuple(info, globalVersion))));
  texts.set(info, { globalVersion, text });
  return text;
}

/** `[wc:Integer shard:Integer seqno:Integer root_hash:Integer file_hash:Integer]` */
function blockTuple({ workchain, shard, seqno, root_hash, file_hash }: BlockName): VmStackValue {
  return vmTuple([vmInt(workchain), vmInt(shard), vmInt(seqno), hashInt(root_hash), hashInt(file_hash)]);
}

function hashInt(hash: Uint8Array): VmStackValue {
  return vmInt(BigInt(`0x${toHex(hash)}`));
}
