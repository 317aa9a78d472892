import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { type InMsg, MsgEnvelope, type OutMsg } from '#formats/tlb/block-messages.js';
import { type Codec, Lazy } from '#formats/tlb/codec/codec.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { type ShardDescr, ShardHashes, ShardTree, shardDescrs } from '#formats/tlb/shard-hashes.js';
import type { Transaction } from '#formats/tlb/transaction.js';
import type { NewBlock, NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import type { Rule } from '#localnet/validation/rules.js';
import { alterBlock, type BlockParts, replaceTransaction, transactionsOf } from '#test/support/altered-block.js';

/** 32 zeros, in place of a hash. */
export const NO_BYTES = new Uint8Array(32);

export const inShard =
  (change: (parts: BlockParts) => void) =>
  (bundle: NewBlockBundle, before: (block: NewBlock) => Cell): NewBlockBundle => {
    const [first, ...others] = bundle.shards;
    return { ...bundle, shards: [alterBlock(first!, before(first!), change), ...others] };
  };

export const inMasterchain =
  (change: (parts: BlockParts) => void) =>
  (bundle: NewBlockBundle, before: (block: NewBlock) => Cell): NewBlockBundle => ({
    ...bundle,
    masterchain: { ...bundle.masterchain, ...alterBlock(bundle.masterchain, before(bundle.masterchain), change) },
  });

/** Changes the only entry of the list of shards, in block and state. */
export const inEntry = (change: (descr: ShardDescr) => ShardDescr) =>
  inMasterchain((parts) => {
    const [entry] = [...shardDescrs(parts.mc!.shard_hashes)];
    const tree = Lazy.ofValue(ShardTree, { kind: 'bt_leaf', leaf: change(entry!.descr) });
    const shard_hashes = ShardHashes.of([[0, tree]]);
    parts.mc = { ...parts.mc!, shard_hashes };
    parts.mcState = { ...parts.mcState!, shard_hashes };
  });

/** Changes the first transaction for which it is possible. */
export const inTransaction = (change: (transaction: Transaction) => Transaction | null) =>
  inShard((parts) => {
    for (const [account, transaction] of transactionsOf(parts)) {
      const changed = change(transaction);
      if (changed === null) continue;
      replaceTransaction(parts, account, transaction.lt, () => changed);
      return;
    }
    throw new TypeError('no transaction can be changed so');
  });

export function changeIn<K extends InMsg['kind']>(
  parts: BlockParts,
  kind: K,
  change: (message: InMsg & { kind: K }) => InMsg | null,
): void {
  for (const [hash, message] of parts.in) {
    if (message.kind !== kind) continue;
    const changed = change(message as InMsg & { kind: K });
    parts.in = changed === null ? parts.in.delete(hash) : parts.in.set(hash, changed);
    return;
  }
  throw new TypeError(`no ${kind}`);
}

export function changeOut<K extends OutMsg['kind']>(
  parts: BlockParts,
  kind: K,
  change: (message: OutMsg & { kind: K }) => OutMsg | null,
): void {
  for (const [hash, message] of parts.out) {
    if (message.kind !== kind) continue;
    const changed = change(message as OutMsg & { kind: K });
    parts.out = changed === null ? parts.out.delete(hash) : parts.out.set(hash, changed);
    return;
  }
  throw new TypeError(`no ${kind}`);
}

export function envelope(lazy: Lazy<MsgEnvelope>, change: Partial<MsgEnvelope>): Lazy<MsgEnvelope> {
  return Lazy.ofValue(MsgEnvelope as Codec<MsgEnvelope>, { ...lazy.value, ...change } as MsgEnvelope);
}

export const none = (hash: Uint8Array): Uint8Array => hash.map((byte) => byte ^ 1);
export const more = onlyGrams(1n);
/** A masterchain block with messages that are received at once, and others that are put off. */
export const BUSY = 284;
/** The masterchain sends a message to the shard. */
export const SENDS = 280;
/** The shard receives it, the masterchain takes it out of its queue. */
export const RECEIVES = 282;
/** Messages that were put off are received. */
export const LATER = 285;

export type Alteration = readonly [
  rule: Rule,
  what: string,
  seqno: number,
  change: (bundle: NewBlockBundle, before: (block: NewBlock) => Cell) => NewBlockBundle,
];

/** The dictionary of received messages, its label written bit by bit. */
export function longLabel({ queue }: BlockParts): BlockParts['queue']['proc_info'] {
  const { type } = queue.proc_info;
  const [[key, value]] = [...queue.proc_info] as [
    [Parameters<typeof type.key.encode>[0], Parameters<typeof type.value.store>[0]],
  ];
  const builder = new Builder().storeBit(false);
  for (let i = 0; i < type.key.bits; i++) builder.storeBit(true);
  builder.storeBit(false).storeBytes(type.key.encode(key));
  type.value.store(value, builder);
  return new Dictionary(type, builder.endCell());
}

/** Gives the newest entry of the received messages another key, or another lt. */
export function moveProcessed(
  parts: BlockParts,
  move: (key: { shard: bigint; mc_seqno: number }) => { shard: bigint; mc_seqno: number },
  lt: bigint | null = null,
  sameHash = false,
): void {
  const { proc_info } = parts.queue;
  const [[key, value]] = [...proc_info] as [
    [{ shard: bigint; mc_seqno: number }, { last_msg_lt: bigint; last_msg_hash: Uint8Array }],
  ];
  const last_msg_hash = sameHash ? value.last_msg_hash.map(() => 255) : value.last_msg_hash;
  parts.queue.proc_info = proc_info.delete(key).set(move(key), { last_msg_lt: lt ?? value.last_msg_lt, last_msg_hash });
}

export function aLibrary(libraries: BlockParts['totals']['libraries']): BlockParts['totals']['libraries'] {
  const lib = new Builder().storeUint(7, 8).endCell();
  const { publishers } = {
    publishers: Dictionary.of({ key: libraries.type.key, value: PRESENT }, [[NO_BYTES, true as const]]),
  };
  return libraries.set(lib.hash(), { lib, publishers } as Parameters<typeof libraries.set>[1]);
}

const PRESENT: Codec<true> = { type: 'True', load: () => true, store: () => {} };
