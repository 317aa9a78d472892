import type { BlockId } from '#formats/proofs/block-id.js';
import type { McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import type { BatchReport, ZerostateFile } from '#services/indexer/write/batch-writer.js';

/** What a write thread is started with. */
export interface ThreadStart {
  /** Connection URL of the database. */
  readonly url: string;
  readonly partition_rounds: number;
  /** Keys of the indexed accounts; null: all. */
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
    /** As `McBlockIdOf`. */
    mcBlockId(mc_seqno: number): Promise<BlockId | null>;
  };
  readonly methods: {
    /** Writes a batch, or nothing of it. @throws as `BatchWriter.write` */
    write(batch: PackedBatch): Promise<BatchReport>;
  };
  readonly ready: undefined;
}

/** A batch, packed for the way to a write thread. */
interface PackedBatch {
  readonly packed: PackedBundles;
  readonly zerostates: readonly ZerostateFile[] | null;
  /** As in `BatchOrder`. */
  readonly exclusive: boolean;
}

/** A block in the buffer of a batch: root hash, file hash and file, consecutively. */
interface PackedBlock {
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  readonly at: number;
  readonly length: number;
}

/** Bundles as sent to another thread: one buffer, transferred and not copied. */
export interface PackedBundles {
  readonly bundles: readonly { readonly mc_seqno: number; readonly blocks: readonly PackedBlock[] }[];
  readonly bytes: ArrayBuffer;
}

const HASHES_BYTES = 64;

/** Copies the files once: they are views into answers. */
export function packBundles(bundles: readonly McBlockBundle[]): PackedBundles {
  let size = 0;
  for (const { blocks } of bundles) for (const { data } of blocks) size += HASHES_BYTES + data.length;
  const bytes = new Uint8Array(size);
  let at = 0;
  const packed = bundles.map(({ mc_seqno, blocks }) => ({
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
  return { bundles: packed, bytes: bytes.buffer };
}

/** The bundles; all bytes are views of the buffer. */
export function unpackBundles({ bundles, bytes }: PackedBundles): McBlockBundle[] {
  return bundles.map(({ mc_seqno, blocks }) => ({
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
