import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { readArchivePack } from '#test/support/archive-pack.js';

/**
 * Path of a file or folder of the test vectors of this repository. `collection/` holds the real data: recorded networks,
 * mainnet blocks and proofs, accounts and contract codes.
 */
export function vectorPath(path: string): string {
  return join(import.meta.dirname, '..', '..', 'vectors', path);
}

/** Bytes of a file; one that ends in `.gz` or `.br` is decompressed. */
export function readBytes(path: string): Uint8Array {
  const bytes = readFileSync(path);
  const plain = path.endsWith('.gz') ? gunzipSync(bytes) : path.endsWith('.br') ? brotliDecompressSync(bytes) : bytes;
  return new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength);
}

/** One file of a chain: a block, or the proof of one. */
export interface ChainEntry {
  /** File name of the pack it stands in. */
  readonly pack: string;
  readonly name: string;
  readonly data: Uint8Array;
}

/** All entries of all archive packs (`*.pack`, `*.pack.gz`, `*.pack.br`) in a folder, packs in the order of their names. */
export function* readChain(directory: string): Generator<ChainEntry> {
  for (const pack of readdirSync(directory).sort()) {
    if (!/\.pack(\.gz|\.br)?$/.test(pack)) continue;
    for (const { name, data } of readArchivePack(readBytes(join(directory, pack)))) yield { pack, name, data };
  }
}

/** What stands in the name of a block or proof: `block_(workchain,shard,seqno):ROOTHASH:FILEHASH`. */
export interface ChainName {
  readonly kind: 'block' | 'proof' | 'prooflink';
  readonly workchain: number;
  /** 16 hex digits. */
  readonly shard: string;
  readonly seqno: number;
  /** Lower case hex. */
  readonly rootHash: string;
  readonly fileHash: string;
}

/** Reads the name of an entry; `null` when it is of another kind. */
export function parseChainName(name: string): ChainName | null {
  const match =
    /^(block|proof|prooflink)_\((-?\d+),([0-9a-fA-F]{16}),(\d+)\):([0-9a-fA-F]{64}):([0-9a-fA-F]{64})$/.exec(name);
  if (match === null) return null;
  const [, kind, workchain, shard, seqno, rootHash, fileHash] = match as unknown as [
    string,
    ChainName['kind'],
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    kind,
    workchain: Number(workchain),
    shard: shard.toLowerCase(),
    seqno: Number(seqno),
    rootHash: rootHash.toLowerCase(),
    fileHash: fileHash.toLowerCase(),
  };
}
