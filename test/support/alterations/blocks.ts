import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { sha256 } from '#formats/cells/digests.js';
import { BlkMasterInfo, PrevBlkInfo, type PrevBlksInfo } from '#formats/tlb/block-id.js';
import { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { Lazy } from '#formats/tlb/codec/codec.js';
import { addCurrency } from '#formats/tlb/currency.js';
import { HASH_UPDATE, TransactionDescr } from '#formats/tlb/transaction.js';
import { replaceTransaction, setAccountBlock, transactionsOf } from '#test/support/altered-block.js';
import {
  type Alteration,
  BUSY,
  inMasterchain,
  inShard,
  inTransaction,
  LATER,
  longLabel,
  more,
  NO_BYTES,
  none,
} from '#test/support/altered-bundle.js';

export const blocksAlterations: readonly Alteration[] = [
  [
    'file-hash',
    'another file hash',
    BUSY,
    (bundle) => ({
      ...bundle,
      masterchain: { ...bundle.masterchain, id: { ...bundle.masterchain.id, file_hash: NO_BYTES } },
    }),
  ],
  [
    'root-hash',
    'another root hash',
    BUSY,
    (bundle) => ({
      ...bundle,
      masterchain: { ...bundle.masterchain, id: { ...bundle.masterchain.id, root_hash: NO_BYTES } },
    }),
  ],
  [
    'file-form',
    'a file without an index',
    BUSY,
    (bundle) => {
      const bytes = serializeBoc(bundle.masterchain.root, { ...BLOCK_FILE, index: false, cacheBits: false });
      const id = { ...bundle.masterchain.id, file_hash: sha256(bytes) };
      return { ...bundle, masterchain: { ...bundle.masterchain, bytes, id } };
    },
  ],
  [
    'given-block',
    'another end lt beside the block',
    BUSY,
    (bundle) => ({ ...bundle, masterchain: { ...bundle.masterchain, end_lt: 1n } }),
  ],
  [
    'given-block',
    'a state beside the block',
    BUSY,
    (bundle) => ({ ...bundle, masterchain: { ...bundle.masterchain, state: bundle.masterchain.root } }),
  ],
  [
    'state-update',
    'an update of another state',
    BUSY,
    inShard((parts) => {
      parts.before = parts.before.ref(0);
    }),
  ],
  [
    'augmentation',
    'another sum of fees',
    BUSY,
    inShard((parts) => {
      const { type, root, extra } = parts.in;
      parts.in = new AugmentedDictionary(type, root, { ...extra, fees_collected: extra.fees_collected + 1n });
    }),
  ],
  [
    'augmentation',
    'another sum of values',
    BUSY,
    inShard((parts) => {
      parts.out = new AugmentedDictionary(parts.out.type, parts.out.root, addCurrency(parts.out.extra, more));
    }),
  ],
  [
    'dictionary-form',
    'a label in another form',
    BUSY,
    inShard((parts) => {
      parts.queue.proc_info = longLabel(parts);
    }),
  ],
  [
    'global-id',
    'another network',
    BUSY,
    inShard((parts) => {
      parts.block.global_id++;
    }),
  ],
  [
    'vert-seqno',
    'another vertical seqno',
    BUSY,
    inShard((parts) => {
      parts.info.vert_seq_no = 1;
    }),
  ],
  [
    'prev-ref',
    'another end lt of the block before',
    BUSY,
    inShard((parts) => {
      const { prev } = (parts.info.prev_ref as Lazy<Exclude<PrevBlkInfo | PrevBlksInfo, PrevBlksInfo>>).value;
      parts.info.prev_ref = Lazy.ofValue(PrevBlkInfo, {
        kind: 'prev_blk_info',
        prev: { ...prev, end_lt: prev.end_lt + 1n },
      }) as typeof parts.info.prev_ref;
    }),
  ],
  [
    'master-ref',
    'another end lt of the masterchain block',
    BUSY,
    inShard((parts) => {
      const { master } = parts.info.master_ref!.value;
      parts.info.master_ref = Lazy.ofValue(BlkMasterInfo, { master: { ...master, end_lt: master.end_lt + 1n } });
    }),
  ],
  [
    'split-merge-flags',
    'a split and a merge wanted',
    BUSY,
    inShard((parts) => {
      parts.info.want_merge = true;
      parts.info.want_split = true;
    }),
  ],
  [
    'key-block',
    'a key block of a shard',
    BUSY,
    inShard((parts) => {
      parts.info.key_block = true;
    }),
  ],
  [
    'gen-utime',
    'an earlier time',
    BUSY,
    inShard((parts) => {
      parts.info.gen_utime -= 60;
    }),
  ],
  [
    'start-lt',
    'a later start',
    BUSY,
    inShard((parts) => {
      parts.info.start_lt += 1_000_000n;
      parts.info.end_lt += 1_000_000n;
    }),
  ],
  [
    'end-lt',
    'a later end',
    BUSY,
    inShard((parts) => {
      parts.info.end_lt++;
      parts.state.gen_lt++;
    }),
  ],
  [
    'min-ref-mc-seqno',
    'an older needed block in the header',
    BUSY,
    inShard((parts) => {
      parts.info.min_ref_mc_seqno--;
    }),
  ],
  [
    'min-ref-mc-seqno',
    'an older needed block',
    BUSY,
    inShard((parts) => {
      parts.info.min_ref_mc_seqno--;
      parts.state.min_ref_mc_seqno--;
    }),
  ],
  [
    'prev-key-block',
    'another key block',
    BUSY,
    inShard((parts) => {
      parts.info.prev_key_block_seqno++;
    }),
  ],
  [
    'catchain-seqno',
    'another session',
    BUSY,
    inShard((parts) => {
      parts.info.gen_catchain_seqno++;
    }),
  ],
  [
    'validator-list-hash',
    'other validators',
    BUSY,
    inShard((parts) => {
      parts.info.gen_validator_list_hash_short = (parts.info.gen_validator_list_hash_short ^ 1) >>> 0;
    }),
  ],
  [
    'before-split',
    'a split without a plan',
    BUSY,
    inShard((parts) => {
      parts.info.before_split = true;
      parts.state.before_split = true;
    }),
  ],
  [
    'account-block',
    'transactions under another account',
    BUSY,
    inShard((parts) => {
      const [[account, block]] = [...parts.accountBlocks] as [[Uint8Array, Parameters<typeof setAccountBlock>[2]]];
      setAccountBlock(parts, account, { ...block, account_addr: none(account) });
    }),
  ],
  [
    'account-state-update',
    'another state of an account',
    BUSY,
    inShard((parts) => {
      const [[account, block]] = [...parts.accountBlocks] as [[Uint8Array, Parameters<typeof setAccountBlock>[2]]];
      const { old_hash, new_hash } = block.state_update.value;
      setAccountBlock(parts, account, {
        ...block,
        state_update: Lazy.ofValue(HASH_UPDATE, { old_hash, new_hash: none(new_hash) }),
      });
    }),
  ],
  [
    'account-unchanged',
    'an account without a transaction is gone',
    LATER,
    inShard((parts) => {
      const [idle] = [...parts.accounts].find(([account]) => !parts.accountBlocks.has(account))!;
      parts.accounts = parts.accounts.delete(idle);
    }),
  ],
  [
    'accounts-dictionary',
    'another sum of balances',
    BUSY,
    inShard((parts) => {
      const { type, root, extra } = parts.accounts;
      parts.accounts = new AugmentedDictionary(type, root, { ...extra, balance: addCurrency(extra.balance, more) });
    }),
  ],
  [
    'account-last-transaction',
    'another last transaction',
    BUSY,
    inShard((parts) => {
      const [[account]] = [...parts.accountBlocks] as [[Uint8Array, unknown]];
      const state = parts.accounts.get(account)!;
      parts.accounts = parts.accounts.set(account, { ...state, last_trans_lt: state.last_trans_lt + 1n });
    }),
  ],
  [
    'transaction-place',
    'a transaction of another account',
    BUSY,
    inTransaction((tx) => ({ ...tx, account_addr: none(tx.account_addr) })),
  ],
  [
    'transaction-chain',
    'another previous transaction',
    BUSY,
    inTransaction((tx) => ({ ...tx, prev_trans_lt: tx.prev_trans_lt + 1n })),
  ],
  [
    'transaction-chain',
    'another hash of the previous transaction',
    BUSY,
    inTransaction((tx) => ({ ...tx, prev_trans_hash: none(tx.prev_trans_hash) })),
  ],
  ['transaction-lt', 'a transaction before the block', BUSY, inTransaction((tx) => ({ ...tx, lt: tx.lt - 900_000n }))],
  ['transaction-time', 'another time', BUSY, inTransaction((tx) => ({ ...tx, now: tx.now + 1 }))],
  [
    'transaction-status',
    'another status before',
    BUSY,
    inTransaction((tx) => ({ ...tx, orig_status: 'acc_state_frozen' })),
  ],
  [
    'transaction-status',
    'another status after',
    BUSY,
    inTransaction((tx) => ({ ...tx, end_status: 'acc_state_frozen' })),
  ],
  [
    'transaction-state-update',
    'another state to start from',
    BUSY,
    inTransaction((tx) => {
      const { old_hash, new_hash } = tx.state_update.value;
      return { ...tx, state_update: Lazy.ofValue(HASH_UPDATE, { old_hash: none(old_hash), new_hash }) };
    }),
  ],
  [
    'out-messages',
    'a message more in the count',
    BUSY,
    inTransaction((tx) => (tx.outmsg_cnt > 1 ? { ...tx, outmsg_cnt: tx.outmsg_cnt - 1 } : null)),
  ],
  ['transaction-kind', 'no message', BUSY, inTransaction((tx) => ({ ...tx, in_msg: null }))],
  [
    'tick-tock',
    'a tick outside of the masterchain',
    BUSY,
    inTransaction((tx) => {
      const description = tx.description.value;
      if (description.kind !== 'trans_ord' || description.storage_ph === null) return null;
      const { storage_ph, compute_ph, action, aborted, destroyed } = description;
      const tick = {
        kind: 'trans_tick_tock',
        is_tock: false,
        storage_ph,
        compute_ph,
        action,
        aborted,
        destroyed,
      } as const;
      return { ...tx, in_msg: null, description: Lazy.ofValue(TransactionDescr, tick) };
    }),
  ],
  [
    'tick-tock',
    'a tick in place of a tock',
    BUSY,
    inMasterchain((parts) => {
      for (const [account, tx] of transactionsOf(parts)) {
        const description = tx.description.value;
        if (description.kind !== 'trans_tick_tock' || !description.is_tock) continue;
        const tick = Lazy.ofValue(TransactionDescr, { ...description, is_tock: false });
        replaceTransaction(parts, account, tx.lt, () => ({ ...tx, description: tick }));
      }
    }),
  ],
];
