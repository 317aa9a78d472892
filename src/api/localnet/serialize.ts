import type { Static } from '@sinclair/typebox';
import type { BlockReference, Mined, Sent, Snapshot, Snapshots, Status } from '#api/localnet/schemas.js';
import type { Address } from '#formats/address/address.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { toBase64, toHex } from '#kernel/bytes/bytes.js';
import type { MinedIn, NodeStatus, SentMessage, SnapshotInfo } from '#localnet/node/local-node.js';

export function blockReference({
  workchain,
  shard,
  seqno,
  root_hash,
  file_hash,
}: BlockId): Static<typeof BlockReference> {
  const hashes = { root_hash: toBase64(root_hash), file_hash: toBase64(file_hash) };
  return { workchain, shard: BigInt.asIntN(64, shard).toString(), seqno, ...hashes };
}

export function rawAddress({ workchain, hash }: Address): string {
  return `${workchain}:${toHex(hash).toUpperCase()}`;
}

export function statusJson(status: NodeStatus): Static<typeof Status> {
  const { chain, head, gen_utime, now, time_offset, block_time, paused, waiting_messages, shards, fork } = status;
  return {
    chain,
    head: blockReference(head),
    ...{ gen_utime, now, time_offset, block_time, paused, waiting_messages },
    shards: shards.map(blockReference),
    fork: fork === null ? null : { source: fork.source, block: blockReference(fork.block) },
  };
}

export function minedJson({ block }: MinedIn): Static<typeof Mined> {
  return { block: blockReference(block) };
}

export function sentJson({ message_hash, block }: SentMessage): Static<typeof Sent> {
  return { message_hash: toBase64(message_hash), block: blockReference(block) };
}

export function snapshotJson({ name, head, saved_at }: SnapshotInfo): Static<typeof Snapshot> {
  return { name, head: blockReference(head), saved_at };
}

export function snapshotsJson(snapshots: readonly SnapshotInfo[]): Static<typeof Snapshots> {
  return { snapshots: snapshots.map(snapshotJson) };
}
