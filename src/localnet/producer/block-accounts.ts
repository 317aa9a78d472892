import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildAugmentedDictionary } from '#formats/cells/dict-build.js';
import { lookup } from '#formats/cells/dict-lookup.js';
import { Account } from '#formats/tlb/account.js';
import { AccountBlock, ShardAccountBlocks } from '#formats/tlb/account-block.js';
import { hashmapAug } from '#formats/tlb/codec/augmented-dictionary.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { bigUintKey } from '#formats/tlb/codec/dictionary-key.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { addCurrency, CurrencyCollection, currencySum, NO_CURRENCY } from '#formats/tlb/currency.js';
import { HASH_UPDATE } from '#formats/tlb/hash-update.js';
import { DepthBalanceInfo, ShardAccount, type ShardAccounts } from '#formats/tlb/shard-account.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** `account_none$0` */
const NO_ACCOUNT = new Builder().storeBit(false).endCell();

/** The `ShardAccount` of an account that there is not. */
export const NO_SHARD_ACCOUNT = new Builder().storeRef(NO_ACCOUNT).storeBytes(new Uint8Array(40)).endCell();

const KEY_BITS = 256;

/** As in {@link AccountBlock}. */
const TRANSACTIONS = hashmapAug(
  bigUintKey(64),
  ref(Transaction),
  CurrencyCollection,
  currencySum((transaction) => transaction.value.total_fees),
);

/** A transaction of a block, and what of it is needed over and over. */
export interface BlockTransaction {
  readonly cell: Cell;
  readonly value: Transaction;
}

/** An account that a block looks at or changes. */
export class BlockAccount {
  readonly address: Address;
  /** `ShardAccount` before the block; of an account that comes with it, as it came. */
  before: Cell;
  /** Whether the shard has no such account in the state before. */
  readonly isNew: boolean;
  /** `ShardAccount` as it now is. */
  current: Cell;
  readonly transactions: BlockTransaction[] = [];

  constructor(address: Address, before: Cell | null) {
    this.address = address;
    this.before = before ?? NO_SHARD_ACCOUNT;
    this.current = this.before;
    this.isNew = before === null;
  }

  /** Takes over the state of an account that the chain does not have, as if it had always been there. */
  import(shardAccount: Cell): void {
    this.before = shardAccount;
    this.current = shardAccount;
  }

  get account(): Account {
    return decodeCell(Account, this.current.ref(0));
  }
}

/** What a block did to the accounts of its shard. */
export interface AccountsAfter {
  readonly accounts: ShardAccounts;
  readonly blocks: ShardAccountBlocks;
  /** Of all transactions. */
  readonly total_fees: CurrencyCollection;
}

/** The accounts of a shard while a block is made: each is read once, and all changes are written at the end. */
export class BlockAccounts {
  readonly #before: ShardAccounts;
  readonly #workchain: number;
  readonly #opened = new Map<string, BlockAccount>();

  constructor(before: ShardAccounts, workchain: number) {
    this.#before = before;
    this.#workchain = workchain;
  }

  /** @param id 32 bytes */
  get(id: Uint8Array): BlockAccount {
    const key = toHex(id);
    const known = this.#opened.get(key);
    if (known !== undefined) return known;
    const account = new BlockAccount(Address.ofParts(this.#workchain, id), this.#read(id));
    this.#opened.set(key, account);
    return account;
  }

  /** The accounts that were opened, in the order of their ids. */
  opened(): BlockAccount[] {
    return [...this.#opened].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, account]) => account);
  }

  finish(): AccountsAfter {
    let accounts = this.#before;
    const blocks: [Uint8Array, Builder][] = [];
    let total_fees = NO_CURRENCY;
    for (const account of this.opened()) {
      const { before, current, transactions, address, isNew } = account;
      if (isNew ? current !== NO_SHARD_ACCOUNT : current !== before) {
        const after = decodeCell(ShardAccount, current);
        if (after.account.value.kind !== 'account_none') accounts = accounts.set(address.hash, after);
        else if (!isNew) accounts = accounts.delete(address.hash);
      }
      if (transactions.length === 0) continue;
      for (const { value } of transactions) total_fees = addCurrency(total_fees, value.total_fees);
      blocks.push([address.hash, accountBlock(account)]);
    }
    const { root, extra } = buildAugmentedDictionary(KEY_BITS, blocks, ShardAccountBlocks.dictionaryType.augmentation);
    const flag = new Builder().storeBit(root !== null);
    if (root !== null) flag.storeRef(root);
    return { accounts, blocks: decodeCell(ShardAccountBlocks, flag.storeBuilder(extra).endCell()), total_fees };
  }

  #read(id: Uint8Array): Cell | null {
    const slice = lookup(this.#before.root, KEY_BITS, id);
    if (slice === null) return null;
    DepthBalanceInfo.load(slice);
    return new Builder().storeSlice(slice).endCell();
  }
}

function accountBlock({ address, before, current, transactions }: BlockAccount): Builder {
  const builder = new Builder();
  AccountBlock.store(
    {
      account_addr: address.hash,
      transactions: TRANSACTIONS.of(transactions.map(({ cell, value }) => [value.lt, Lazy.ofCell(Transaction, cell)])),
      state_update: Lazy.ofValue(HASH_UPDATE, { old_hash: before.ref(0).hash(), new_hash: current.ref(0).hash() }),
    },
    builder,
  );
  return builder;
}
