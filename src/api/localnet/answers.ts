import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox';
import type { Address } from '#formats/address/address.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import type { MinedIn, MinedMessage, NodeStatus, SnapshotInfo } from '#localnet/node/local-node.js';

const hash = (description: string) => Type.String({ description: `${description} 32 bytes in base64.` });
const hex = (description: string) => Type.String({ description: `${description} 32 bytes in hexadecimal.` });

/** An object of the document, by its name there. */
function named<Fields extends TProperties>($id: string, fields: Fields, description: string): TObject<Fields> {
  return Type.Object(fields, { $id, description, additionalProperties: false });
}

export const BlockReference = named(
  'BlockReference',
  {
    workchain: Type.Integer({ description: 'Workchain: -1 is the masterchain, 0 the basechain.' }),
    shard: Type.String({ description: 'Shard: a signed 64-bit decimal number as text.' }),
    seqno: Type.Integer({ description: 'Number of the block in its shard; 0 is a zerostate.' }),
    root_hash: hash('Hash of the root cell.'),
    file_hash: hash('SHA-256 of the file.'),
  },
  'A block.',
);

const ForkAnswer = named(
  'Fork',
  {
    source: Type.String({ description: 'The network that states are taken from.' }),
    block: BlockReference,
  },
  'Where the chain parts from another one.',
);

export const StatusAnswer = named(
  'Status',
  {
    chain: Type.String({ description: 'Tells chains apart: another one after a reset or the load of a snapshot.' }),
    head: BlockReference,
    gen_utime: Type.Integer({ description: 'Time of the head, in Unix seconds.' }),
    now: Type.Integer({ description: 'The time that the next block will have, in Unix seconds.' }),
    time_offset: Type.Integer({ description: 'Seconds by which the network is ahead of the clock of the machine.' }),
    block_time: Type.Integer({ description: 'Milliseconds between blocks.' }),
    paused: Type.Boolean({ description: 'Whether blocks are made only when something asks for one.' }),
    waiting_messages: Type.Integer({ description: 'Messages from outside that wait for a block.' }),
    shards: Type.Array(BlockReference, { description: 'The newest block of each shard of the basechain.' }),
    fork: Type.Union([ForkAnswer, Type.Null()], {
      description: 'What this chain is a fork of; null when it stands alone.',
    }),
  },
  'How the network is doing.',
);

const WalletAnswer = named(
  'FundedWallet',
  {
    version: Type.String({ description: '`v3r2`, `v4r2`, `v5r1` or `highload-v3`.' }),
    address: Type.String({ description: 'Raw form, hexadecimal digits in upper case.' }),
    user_friendly: Type.String({ description: 'The address as wallets show it, not bounceable.' }),
    mnemonic: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'The 24 words that wallet programs make the key from; null for the faucet.',
    }),
    public_key: hex('Ed25519.'),
    seed: hex('What the Ed25519 key is made from.'),
    wallet_id: Type.Integer({ description: '`wallet_id` of v5, `subwallet_id` of the others.' }),
    balance: Type.String({ description: 'Nanotons, as a decimal number.' }),
  },
  'A wallet that has had coins from the beginning. Its key is no secret: every local network has the same.',
);

export const WalletsAnswer = named('WalletsResponse', { wallets: Type.Array(WalletAnswer) }, 'The funded wallets.');

export const MinedAnswer = named('MinedResponse', { block: BlockReference }, 'The masterchain block in which it is.');

export const SentAnswer = named(
  'SentResponse',
  {
    message_hash: hash('Hash of the message: `msg_hash` of `/api/v3/traces` finds what followed from it.'),
    block: BlockReference,
  },
  'A message that was put into a block.',
);

export const TouchedAnswer = named(
  'TouchedResponse',
  {
    block: Type.Union([BlockReference, Type.Null()], {
      description: 'A masterchain block after which the account is here; null when it is neither here nor there.',
    }),
  },
  'Whether there is an account.',
);

export const SnapshotAnswer = named(
  'Snapshot',
  {
    name: Type.String({ description: 'What it is called.' }),
    head: BlockReference,
    saved_at: Type.Integer({ description: 'When it was saved by the clock of the machine, in Unix seconds.' }),
  },
  'A state of the network that can be gone back to.',
);

export const SnapshotsAnswer = named('SnapshotsResponse', { snapshots: Type.Array(SnapshotAnswer) }, 'All snapshots.');

export const EndingAnswer = named(
  'EndingResponse',
  {
    chain: Type.String({ description: 'The chain that ends. It has begun anew when the status names another one.' }),
  },
  'A chain that ends, so that another one can begin.',
);

export const ExportedAnswer = named(
  'ExportedResponse',
  {
    folder: Type.String({ description: 'Where it is.' }),
    blocks: Type.Integer({ description: 'How many blocks, of all shards.' }),
  },
  'A chain that was written into a folder.',
);

export function blockReferenceJson({
  workchain,
  shard,
  seqno,
  root_hash,
  file_hash,
}: BlockId): Static<typeof BlockReference> {
  const hashes = { root_hash: toBase64(root_hash), file_hash: toBase64(file_hash) };
  return { workchain, shard: BigInt.asIntN(64, shard).toString(), seqno, ...hashes };
}

export function rawAddressText({ workchain, hash }: Address): string {
  return `${workchain}:${toHex(hash).toUpperCase()}`;
}

export function statusJson(status: NodeStatus): Static<typeof StatusAnswer> {
  const { chain, head, gen_utime, now, time_offset, block_time, paused, waiting_messages, shards, fork } = status;
  return {
    chain,
    head: blockReferenceJson(head),
    ...{ gen_utime, now, time_offset, block_time, paused, waiting_messages },
    shards: shards.map(blockReferenceJson),
    fork: fork === null ? null : { source: fork.source, block: blockReferenceJson(fork.block) },
  };
}

export function minedJson({ block }: MinedIn): Static<typeof MinedAnswer> {
  return { block: blockReferenceJson(block) };
}

export function sentJson({ message_hash, block }: MinedMessage): Static<typeof SentAnswer> {
  return { message_hash: toBase64(message_hash), block: blockReferenceJson(block) };
}

export function snapshotJson({ name, head, saved_at }: SnapshotInfo): Static<typeof SnapshotAnswer> {
  return { name, head: blockReferenceJson(head), saved_at };
}

export function snapshotsJson(snapshots: readonly SnapshotInfo[]): Static<typeof SnapshotsAnswer> {
  return { snapshots: snapshots.map(snapshotJson) };
}
