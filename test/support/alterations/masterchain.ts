import { Lazy } from '#formats/tlb/codec/codec.js';
import type { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { addCurrency } from '#formats/tlb/currency.js';
import {
  type ShardDescr,
  ShardDescrFees,
  ShardHashes,
  ShardTree,
  shardDescrFees,
  shardDescrs,
} from '#formats/tlb/shard-hashes.js';
import {
  type Alteration,
  aLibrary,
  BUSY,
  inEntry,
  inMasterchain,
  inShard,
  more,
} from '#test/support/altered-bundle.js';

export const masterchainAlterations: readonly Alteration[] = [
  [
    'value-flow',
    'a sum before',
    BUSY,
    inShard(({ balances }) => {
      balances.from_prev_blk = addCurrency(balances.from_prev_blk, more);
    }),
  ],
  [
    'value-flow',
    'a sum after',
    BUSY,
    inShard(({ balances }) => {
      balances.to_next_blk = addCurrency(balances.to_next_blk, more);
    }),
  ],
  [
    'value-flow',
    'imported',
    BUSY,
    inShard(({ balances }) => {
      balances.imported = addCurrency(balances.imported, more);
    }),
  ],
  [
    'value-flow',
    'exported',
    BUSY,
    inShard(({ balances }) => {
      balances.exported = addCurrency(balances.exported, more);
    }),
  ],
  [
    'value-flow',
    'fees',
    BUSY,
    inShard(({ flow }) => {
      flow.fees_collected = addCurrency(flow.fees_collected, more);
    }),
  ],
  [
    'value-flow',
    'fees of shards',
    BUSY,
    inMasterchain(({ fees }) => {
      fees.fees_imported = addCurrency(fees.fees_imported, more);
    }),
  ],
  [
    'value-flow',
    'created',
    BUSY,
    inShard(({ fees }) => {
      fees.created = addCurrency(fees.created, more);
    }),
  ],
  [
    'value-flow',
    'minted',
    BUSY,
    inMasterchain(({ fees }) => {
      fees.minted = addCurrency(fees.minted, more);
    }),
  ],
  [
    'value-flow',
    'recovered in a shard',
    BUSY,
    inShard(({ fees }) => {
      fees.recovered = addCurrency(fees.recovered, more);
    }),
  ],
  [
    'value-flow',
    'recovered more',
    BUSY,
    inMasterchain(({ fees }) => {
      fees.recovered = addCurrency(fees.recovered, more);
    }),
  ],
  [
    'total-balance',
    'another balance',
    BUSY,
    inShard(({ totals }) => {
      totals.total_balance = addCurrency(totals.total_balance, more);
    }),
  ],
  [
    'validator-fees',
    'other fees',
    BUSY,
    inShard(({ totals }) => {
      totals.total_validator_fees = addCurrency(totals.total_validator_fees, more);
    }),
  ],
  [
    'state-header',
    'another seqno',
    BUSY,
    inShard(({ state }) => {
      state.seq_no++;
    }),
  ],
  [
    'state-header',
    'another time',
    BUSY,
    inShard(({ state }) => {
      state.gen_utime++;
    }),
  ],
  [
    'state-header',
    'another lt',
    BUSY,
    inShard(({ state }) => {
      state.gen_lt++;
    }),
  ],
  [
    'load-history',
    'another history',
    BUSY,
    inShard(({ totals }) => {
      totals.overload_history ^= 4n;
    }),
  ],
  [
    'libraries',
    'libraries of a shard',
    BUSY,
    inShard(({ totals }) => {
      totals.libraries = aLibrary(totals.libraries);
    }),
  ],
  [
    'message-pair',
    'the fees are not sent',
    BUSY,
    inMasterchain((parts) => {
      parts.messages!.recover_create_msg = null;
    }),
  ],
  [
    'special-message',
    'a message with nothing new',
    BUSY,
    inMasterchain((parts) => {
      parts.messages!.mint_msg = parts.messages!.recover_create_msg;
    }),
  ],
  [
    'shard-list',
    'another list in the state',
    BUSY,
    inMasterchain((parts) => {
      const [entry] = [...shardDescrs(parts.mc!.shard_hashes)];
      const leaf = { ...entry!.descr, want_merge: !entry!.descr.want_merge };
      parts.mc = {
        ...parts.mc!,
        shard_hashes: ShardHashes.of([[0, Lazy.ofValue(ShardTree, { kind: 'bt_leaf', leaf })]]),
      };
    }),
  ],
  ['shard-entry', 'another wish', BUSY, inEntry((descr) => ({ ...descr, want_merge: !descr.want_merge }))],
  ['shard-entry', 'another lt', BUSY, inEntry((descr) => ({ ...descr, start_lt: descr.start_lt + 1n }))],
  [
    'shard-entry',
    'another seqno of the registration',
    BUSY,
    inEntry((descr) => ({ ...descr, reg_mc_seqno: descr.reg_mc_seqno - 1 })),
  ],
  ['shard-chain', 'a block that is not there', BUSY, (bundle) => ({ ...bundle, shards: [] })],
  [
    'shard-fees',
    'other fees of the shard',
    BUSY,
    inEntry((descr) => {
      const fees = shardDescrFees(descr);
      const fees_collected = addCurrency(fees.fees_collected, more);
      return {
        ...descr,
        kind: 'shard_descr_new',
        fees: Lazy.ofValue(ShardDescrFees, { ...fees, fees_collected }),
      } as ShardDescr;
    }),
  ],
  [
    'shard-fees',
    'the fees of the shard are not taken over',
    BUSY,
    inMasterchain((parts) => {
      for (const [shard, value] of parts.mc!.shard_fees)
        parts.mc = {
          ...parts.mc!,
          shard_fees: parts.mc!.shard_fees.delete(shard).set({ ...shard, shard: 1n << 62n }, value),
        };
    }),
  ],
  [
    'split-merge-plan',
    'a split that nobody wants',
    BUSY,
    inEntry((descr) => ({
      ...descr,
      split_merge_at: { kind: 'fsm_split', split_utime: descr.gen_utime + 100, interval: 100 },
    })),
  ],
  [
    'split-merge-plan',
    'a plan in the past',
    BUSY,
    inEntry((descr) => ({ ...descr, split_merge_at: { kind: 'fsm_split', split_utime: 1, interval: 100 } })),
  ],
  ['split-merge-plan', 'a merge alone', BUSY, inEntry((descr) => ({ ...descr, before_merge: true }))],
  [
    'shard-catchain',
    'a new session without need',
    BUSY,
    inEntry((descr) => ({ ...descr, next_catchain_seqno: descr.next_catchain_seqno + 1 })),
  ],
  [
    'validator-info',
    'a new session of the masterchain without need',
    BUSY,
    inMasterchain(({ mcInfo }) => {
      const { validator_info } = mcInfo!;
      mcInfo!.validator_info = { ...validator_info, catchain_seqno: validator_info.catchain_seqno + 1 };
    }),
  ],
  [
    'validator-info',
    'other next validators',
    BUSY,
    inMasterchain(({ mcInfo }) => {
      const { validator_info } = mcInfo!;
      mcInfo!.validator_info = {
        ...validator_info,
        validator_list_hash_short: (validator_info.validator_list_hash_short ^ 1) >>> 0,
      };
    }),
  ],
  [
    'prev-blocks',
    'a forgotten block',
    BUSY,
    inMasterchain(({ mcInfo }) => {
      mcInfo!.prev_blocks = mcInfo!.prev_blocks.delete(7);
    }),
  ],
  [
    'last-key-block',
    'a key block out of nowhere',
    BUSY,
    inMasterchain(({ mcInfo }) => {
      mcInfo!.last_key_block = mcInfo!.prev_blocks.get(7)!.blk_ref;
    }),
  ],
  [
    'key-block',
    'a state after a key block that was none',
    BUSY,
    inMasterchain(({ mcInfo }) => {
      mcInfo!.after_key_block = true;
    }),
  ],
  [
    'global-balance',
    'another global balance',
    BUSY,
    inMasterchain(({ mcState }) => {
      mcState!.global_balance = addCurrency(mcState!.global_balance, more);
    }),
  ],
  [
    'block-create-stats',
    'a block more',
    BUSY,
    inMasterchain(({ mcInfo }) => {
      const stats = mcInfo!.block_create_stats as {
        kind: 'block_create_stats';
        counters: Dictionary<Uint8Array, { mc_blocks: { total: bigint }; shard_blocks: { total: bigint } }>;
      };
      const [[key, own]] = [...stats.counters] as [
        [Uint8Array, { mc_blocks: { total: bigint }; shard_blocks: { total: bigint } }],
      ];
      const mc_blocks = { ...own.mc_blocks, total: own.mc_blocks.total + 1n };
      mcInfo!.block_create_stats = {
        ...stats,
        counters: stats.counters.set(key, { ...own, mc_blocks }),
      } as NonNullable<typeof mcInfo>['block_create_stats'];
    }),
  ],
  [
    'key-block',
    'a parameter changes without a key block',
    BUSY,
    inMasterchain(({ mcState }) => {
      const { config } = mcState!;
      mcState!.config = { ...config, config: config.config.delete(-999).delete(71) };
    }),
  ],
  [
    'master-extra',
    'no extra of the masterchain',
    BUSY,
    inMasterchain((parts) => {
      parts.mc = null;
    }),
  ],
  [
    'signatures',
    'another signature',
    BUSY,
    (bundle) => {
      const [first, ...others] = bundle.signatures.signatures;
      const changed = { ...first!, signature: first!.signature.map((byte, i) => (i === 40 ? byte ^ 1 : byte)) };
      return { ...bundle, signatures: { ...bundle.signatures, signatures: [changed, ...others] } };
    },
  ],
  [
    'signatures',
    'no signature',
    BUSY,
    (bundle) => ({ ...bundle, signatures: { ...bundle.signatures, signatures: [] } }),
  ],
];
