import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { Block, merkleProof } from '#formats/tlb/block.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import { ShardState } from '#formats/tlb/shard-state.js';
import { FULL } from '#test/support/full-depth.js';
import { parseChainName, readBytes, readChain } from '#test/support/vector-files.js';

/** What a file of the collection holds. */
export type CorpusKind = 'block' | 'block proof' | 'state' | 'state proof' | 'header proof';

/** One bag of cells of the collection. */
export interface CorpusFile {
  readonly name: string;
  readonly kind: CorpusKind;
  readonly root: Cell;
}

/** The type of the root cell. */
export const CORPUS_TYPES: { readonly [K in CorpusKind]: Codec<unknown> } = {
  block: Block,
  'block proof': BlockProof,
  state: ShardState,
  'state proof': merkleProof(ShardState),
  'header proof': merkleProof(Block),
};

/** Blocks, proofs and zerostates of a folder with archive packs. */
export function* chainFiles(directory: string): Generator<CorpusFile> {
  for (const name of readdirSync(directory).sort()) {
    if (name.startsWith('zerostate') && name.endsWith('.boc'))
      yield { name, kind: 'state', root: parseBocRoot(readBytes(join(directory, name))) };
  }
  for (const { pack, name, data } of readChain(directory)) {
    const kind = parseChainName(name)?.kind === 'block' ? 'block' : 'block proof';
    yield { name: `${pack}/${name}`, kind, root: parseBocRoot(data) };
  }
}

/** Every `stride`-th of some files from the first on; all with TERN_FULL=1. */
export function* someFiles(files: Iterable<CorpusFile>, stride: number): Generator<CorpusFile> {
  let i = 0;
  for (const file of files) if (i++ % stride === 0 || FULL) yield file;
}

/** Single blocks and proofs of blocks: folders `mainnet-blocks` and `mainnet-proofs`. */
export function* blockFiles(directory: string): Generator<CorpusFile> {
  for (const name of readdirSync(directory).sort()) {
    if (name.endsWith('.json')) continue;
    const kind = name.includes('proof') ? 'block proof' : 'block';
    yield { name, kind, root: parseBocRoot(readBytes(join(directory, name))) };
  }
}

/**
 * The folder `configs`: proofs of masterchain states, and the answer of a liteserver that holds a proof of a block's header
 * and one of its state: `liteServer.configInfo#ae7b272f mode:# id:tonNode.blockIdExt state_proof:bytes config_proof:bytes`.
 */
export function* configFiles(directory: string): Generator<CorpusFile> {
  for (const name of readdirSync(directory).sort()) {
    const bytes = name.endsWith('.json') ? new Uint8Array() : readBytes(join(directory, name));
    if (name.endsWith('.boc')) yield { name, kind: 'state proof', root: parseBocRoot(bytes) };
    if (!name.endsWith('.bin') || Buffer.from(bytes.subarray(0, 4)).toString('hex') !== '2f277bae') continue;
    const stateProof = tlBytes(bytes, 4 + 4 + 80);
    const configProof = tlBytes(bytes, stateProof.next);
    yield { name: `${name}: state_proof`, kind: 'header proof', root: parseBocRoot(stateProof.value) };
    yield { name: `${name}: config_proof`, kind: 'state proof', root: parseBocRoot(configProof.value) };
  }
}

/** TL `bytes`: one byte of length, or fe and three; padded to a multiple of four. */
function tlBytes(from: Uint8Array, at: number): { readonly value: Uint8Array; readonly next: number } {
  const short = from[at] as number;
  const [head, length] =
    short < 254 ? [1, short] : [4, new DataView(from.buffer, from.byteOffset).getUint32(at, true) >>> 8];
  const value = from.subarray(at + head, at + head + length);
  return { value, next: at + ((head + length + 3) & ~3) };
}
