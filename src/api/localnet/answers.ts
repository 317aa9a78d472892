import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox';
import type { Address } from '#formats/address/address.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import type {
  MinedIn,
  MinedMessage,
  NodeStatus,
  RecentState,
  Seeded,
  SeededKind,
  SnapshotInfo,
  WrittenStates,
} from '#localnet/node/local-node.js';

const hash = (description: string) => Type.String({ description: `${description} 32 bytes in base64.` });
const hex = (description: string) => Type.String({ description: `${description} 32 bytes in hexadecimal.` });

/** An object of the document, by its name there. */
function named<Fields extends TProperties>($id: string, fields: Fields, description: string): TObject<Fields> {
  return Type.Object(fields, { $id, description, additionalProperties: false });
}

const BlockReference = named(
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
    source: Type.String({ description: 'The forked network, which account states are imported from.' }),
    block: BlockReference,
  },
  'The block at which the chain was forked.',
);

export const StatusAnswer = named(
  'Status',
  {
    chain: Type.String({ description: 'Id of the chain, which changes with a reset or the load of a snapshot.' }),
    head: BlockReference,
    gen_utime: Type.Integer({ description: 'Time of the head, in Unix seconds.' }),
    now: Type.Integer({ description: 'The time that the next block will have, in Unix seconds.' }),
    time_offset: Type.Integer({ description: 'Seconds by which the network is ahead of the clock of the machine.' }),
    clock_speed: Type.Number({
      description:
        'Seconds that pass in the network per second of the machine: 1, or less after `time` with `speed` until the machine has caught up.',
    }),
    block_time: Type.Integer({ description: 'Milliseconds between blocks when they are produced steadily.' }),
    mining: Type.Union([Type.Literal('auto'), Type.Literal('steady')], {
      description:
        '`steady`: a block per block time. `auto`: a block as soon as a message waits, otherwise one every few seconds.',
    }),
    paused: Type.Boolean({ description: 'Whether blocks are made only when something asks for one.' }),
    waiting_messages: Type.Integer({ description: 'External-in messages that wait for a block.' }),
    shards: Type.Array(BlockReference, { description: 'The newest block of each shard of the basechain.' }),
    fork: Type.Union([ForkAnswer, Type.Null()], {
      description: 'The forked network; null when this is not a fork.',
    }),
  },
  'Status of the network.',
);

const WalletAnswer = named(
  'FundedWallet',
  {
    version: Type.String({ description: '`v3r2`, `v4r2`, `v5r1` or `highload-v3`.' }),
    address: Type.String({ description: 'Raw form, hexadecimal digits in upper case.' }),
    user_friendly: Type.String({ description: 'The address as wallets show it, not bounceable.' }),
    mnemonic: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'Mnemonic of 24 words; null for the faucet.',
    }),
    public_key: hex('Ed25519.'),
    seed: hex('Ed25519 seed.'),
    wallet_id: Type.Integer({ description: '`wallet_id` of v5, `subwallet_id` of the others.' }),
    balance: Type.String({ description: 'Nanotons, as a decimal number.' }),
  },
  'A wallet that is funded from the start. Its key is public: every local network has the same.',
);

export const WalletsAnswer = named('WalletsResponse', { wallets: Type.Array(WalletAnswer) }, 'The funded wallets.');

export const MinedAnswer = named('MinedResponse', { block: BlockReference }, 'The masterchain block of the change.');

export const RecentAnswer = named(
  'RecentStateResponse',
  { id: Type.String({ description: 'Id of the state, for `revert`.' }), block: BlockReference },
  'A state that was remembered: that after this masterchain block.',
);

export const SentAnswer = named(
  'SentResponse',
  {
    message_hash: hash('Hash of the message: `msg_hash` of `/api/v3/traces` finds what followed from it.'),
    block: BlockReference,
  },
  'A message that was put into a block.',
);

const SeededItemAnswer = named(
  'SeededItem',
  {
    kind: Type.Union(
      (
        [
          'dns_root',
          'dns_collection',
          'dns_domain',
          'library',
          'multisig',
          'multisig_order',
          'extra_currency',
        ] satisfies readonly SeededKind[]
      ).map((kind) => Type.Literal(kind)),
      { description: 'What it is.' },
    ),
    name: Type.String({ description: 'Its name: a domain, or the id of a currency.' }),
    address: Type.String({
      description: 'The contract, or the account that has it: raw form, hexadecimal digits in upper case.',
    }),
    user_friendly: Type.String({ description: 'The address as explorers show it, bounceable.' }),
    hash: Type.Union([Type.String(), Type.Null()], {
      description: 'Hash of a library: 64 lower-case hexadecimal digits; null for all others.',
    }),
    about: Type.String({ description: 'What it is good for.' }),
    created: Type.Boolean({ description: 'Whether this call made it; otherwise it existed.' }),
  },
  'Something that the network was seeded with.',
);

export const SeededAnswer = named(
  'SeededResponse',
  { block: BlockReference, items: Type.Array(SeededItemAnswer) },
  'What the network was seeded with, as of a masterchain block.',
);

export function seededJson({ block, items }: Seeded): Static<typeof SeededAnswer> {
  return {
    block: blockReferenceJson(block),
    items: items.map(({ kind, name, address, hash: digest, about, created }) => ({
      ...{ kind, name, about, created },
      address: rawAddressText(address),
      user_friendly: address.toFriendly(),
      hash: digest === null ? null : toHex(digest),
    })),
  };
}

export const TouchedAnswer = named(
  'TouchedResponse',
  {
    block: Type.Union([BlockReference, Type.Null()], {
      description:
        'A masterchain block as of which the account is imported; null when it does not exist in either network.',
    }),
  },
  'An imported account.',
);

export const SnapshotAnswer = named(
  'Snapshot',
  {
    name: Type.String({ description: 'Name of the snapshot.' }),
    head: BlockReference,
    saved_at: Type.Integer({ description: 'When it was saved, by the clock of the machine, in Unix seconds.' }),
  },
  'A snapshot of the network.',
);

export const SnapshotsAnswer = named('SnapshotsResponse', { snapshots: Type.Array(SnapshotAnswer) }, 'All snapshots.');

export const EndingAnswer = named(
  'EndingResponse',
  {
    chain: Type.Union([Type.String(), Type.Null()], {
      description: 'The chain that has ended; null when none was running.',
    }),
    new_chain: Type.String({ description: 'The chain that runs now.' }),
  },
  'The chain that ended with this call, and the new one.',
);

export const ExportedAnswer = named(
  'ExportedResponse',
  {
    folder: Type.String({ description: 'Path of the folder.' }),
    blocks: Type.Integer({ description: 'Number of blocks, of all shards.' }),
  },
  'An exported chain.',
);

export const ExportedStatesAnswer = named(
  'ExportedStatesResponse',
  {
    folder: Type.String({ description: 'Path of the folder.' }),
    block: BlockReference,
    files: Type.Array(Type.String(), { description: 'Paths of the files, the state of the masterchain first.' }),
    bytes: Type.Integer({ description: 'Size of all files.' }),
  },
  'Exported states.',
);

export function exportedStatesJson(folder: string, states: WrittenStates): Static<typeof ExportedStatesAnswer> {
  const { block, files, bytes } = states;
  return { folder, block: blockReferenceJson(block), files: [...files], bytes };
}

function blockReferenceJson({ workchain, shard, seqno, root_hash, file_hash }: BlockId): Static<typeof BlockReference> {
  const hashes = { root_hash: toBase64(root_hash), file_hash: toBase64(file_hash) };
  return { workchain, shard: BigInt.asIntN(64, shard).toString(), seqno, ...hashes };
}

export function rawAddressText({ workchain, hash }: Address): string {
  return `${workchain}:${toHex(hash).toUpperCase()}`;
}

export function statusJson(status: NodeStatus): Static<typeof StatusAnswer> {
  const {
    chain,
    head,
    gen_utime,
    now,
    time_offset,
    clock_speed,
    block_time,
    mining,
    paused,
    waiting_messages,
    shards,
    fork,
  } = status;
  return {
    chain,
    head: blockReferenceJson(head),
    ...{ gen_utime, now, time_offset, clock_speed, block_time, mining, paused, waiting_messages },
    shards: shards.map(blockReferenceJson),
    fork: fork === null ? null : { source: fork.source, block: blockReferenceJson(fork.block) },
  };
}

export function recentJson({ id, block }: RecentState): Static<typeof RecentAnswer> {
  return { id, ...minedJson({ block }) };
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
