import type { McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import type { BatchReport, ZerostateFile } from '#services/indexer/write/batch-writer.js';

/** What a write thread is started with. */
export interface ThreadStart {
  /** Of the database. */
  readonly url: string;
  readonly partition_rounds: number;
  /** Keys of the accounts that are indexed; null: all. */
  readonly accounts: BigInt64Array | null;
}

/** The two sides of a write thread: see `WorkerContract`. */
export interface WriteThreadContract {
  readonly start: ThreadStart;
  readonly host: {
    /** Called when most of the batch is written: resolves when the batches before it are committed. */
    awaitPrevious(): Promise<void>;
    /** Version of the rules that a key block set. */
    globalVersion(key_block: number): Promise<number>;
  };
  readonly methods: {
    /** Writes a batch, or nothing of it. @throws as `BatchWriter.write` */
    write(batch: PackedBatch): Promise<BatchReport>;
  };
  readonly ready: undefined;
}

/** A batch, packed for the way to a write thread. */
export interface PackedBatch {
  readonly packed: PackedBundles;
  readonly zerostates: readonly ZerostateFile[] | null;
  /** As in `BatchOrder`. */
  readonly exclusive: boolean;
}

/** A block in the bytes of a batch: root hash, file hash and file, one after the other. */
interface PackedBlock {
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  readonly at: number;
  readonly length: number;
}

/** Rounds as they go to another thread: one buffer, which is handed over and not copied. */
export interface PackedBundles {
  readonly rounds: readonly { readonly mc_seqno: number; readonly blocks: readonly PackedBlock[] }[];
  readonly bytes: ArrayBuffer;
}

const HASHES_BYTES = 64;

/** Files are views of the answers that they came in, so they are copied once. */
export function packBundles(rounds: readonly McBlockBundle[]): PackedBundles {
  let size = 0;
  for (const { blocks } of rounds) for (const { data } of blocks) size += HASHES_BYTES + data.length;
  const bytes = new Uint8Array(size);
  let at = 0;
  const packed = rounds.map(({ mc_seqno, blocks }) => ({
    mc_seqno,
    blocks: blocks.map(({ id: { workchain, shard, seqno, root_hash, file_hash }, data }) => {
      const block = { workchain, shard, seqno, at, length: data.length };
      bytes.set(root_hash, at);
      bytes.set(file_hash, at + 32);
      bytes.set(data, at + HASHES_BYTES);
      at += HASHES_BYTES + data.length;
      return block;
    }),
  }));
  return { rounds: packed, bytes: bytes.buffer };
}

/** The rounds again; all bytes are views of the buffer. */
export function unpackBundles({ rounds, bytes }: PackedBundles): McBlockBundle[] {
  return rounds.map(({ mc_seqno, blocks }) => ({
    mc_seqno,
    blocks: blocks.map(({ at, length, ...position }) => ({
      id: {
        ...position,
        root_hash: new Uint8Array(bytes, at, 32),
        file_hash: new Uint8Array(bytes, at + 32, 32),
      },
      data: new Uint8Array(bytes, at + HASHES_BYTES, length),
    })),
  }));
}
