import type pg from 'pg';
import { addressBytes } from '#drivers/store/keys.js';
import { parseAddress } from '#formats/address/address.js';
import { fromBase64 } from '#kernel/bytes.js';
import { readCsv } from '#test/support/csv.js';
import { insert } from '#test/support/indexed-chain.js';
import { readBytes } from '#test/support/vector-files.js';

type Row = Readonly<Record<string, string>>;
type Column = readonly [name: string, form: (text: string) => unknown];

const text = (value: string) => value;
const integer = BigInt;
const flag = (value: string) => value === 't';
const hash = (value: string) => fromBase64(value);
const json = (value: string) => JSON.parse(value) as unknown;
const address = (raw: string) => addressBytes(parseAddress(raw).address);

const STATE: Readonly<Record<string, Column>> = {
  id: ['id', integer],
  address: ['address', address],
  last_transaction_lt: ['last_trans_lt', integer],
  code_hash: ['code_hash', hash],
  data_hash: ['data_hash', hash],
};

/** Our table and its columns by table and column of the reference. */
const TABLES: Readonly<Record<string, readonly [table: string, columns: Readonly<Record<string, Column>>]>> = {
  jetton_masters: [
    'jetton_masters',
    {
      total_supply: ['total_supply', integer],
      mintable: ['mintable', flag],
      admin_address: ['admin', address],
      jetton_content: ['content', json],
      jetton_wallet_code_hash: ['jetton_wallet_code_hash', hash],
    },
  ],
  jetton_wallets: [
    'jetton_wallets',
    { balance: ['balance', integer], owner: ['owner', address], jetton: ['jetton', address] },
  ],
  nft_collections: [
    'nft_collections',
    {
      next_item_index: ['next_item_index', integer],
      owner_address: ['owner', address],
      collection_content: ['content', json],
    },
  ],
  nft_items: [
    'nft_items',
    {
      init: ['init', flag],
      index: ['index', integer],
      collection_address: ['collection', address],
      owner_address: ['owner', address],
      content: ['content', json],
      real_owner: ['real_owner', address],
    },
  ],
  getgems_nft_sales: [
    'nft_sales',
    {
      is_complete: ['is_complete', flag],
      created_at: ['created_at', integer],
      marketplace_address: ['marketplace', address],
      nft_address: ['nft', address],
      nft_owner_address: ['nft_owner', address],
      full_price: ['full_price', integer],
      marketplace_fee_address: ['marketplace_fee_address', address],
      marketplace_fee: ['marketplace_fee', integer],
      royalty_address: ['royalty_address', address],
      royalty_amount: ['royalty_amount', integer],
    },
  ],
  getgems_nft_auctions: [
    'nft_auctions',
    {
      end_flag: ['end_flag', flag],
      end_time: ['end_time', integer],
      mp_addr: ['marketplace', address],
      nft_addr: ['nft', address],
      nft_owner: ['nft_owner', address],
      last_bid: ['last_bid', integer],
      last_member: ['last_member', address],
      min_step: ['min_step', integer],
      mp_fee_addr: ['mp_fee_address', address],
      mp_fee_factor: ['mp_fee_factor', integer],
      mp_fee_base: ['mp_fee_base', integer],
      royalty_fee_addr: ['royalty_fee_address', address],
      royalty_fee_factor: ['royalty_fee_factor', integer],
      royalty_fee_base: ['royalty_fee_base', integer],
      max_bid: ['max_bid', integer],
      min_bid: ['min_bid', integer],
      created_at: ['created_at', integer],
      last_bid_at: ['last_bid_at', integer],
      is_canceled: ['is_canceled', flag],
    },
  ],
  telemint_nft_items: [
    'telemint_items',
    {
      token_name: ['token_name', text],
      bidder_address: ['bidder_address', address],
      bid: ['bid', integer],
      bid_ts: ['bid_ts', integer],
      min_bid: ['min_bid', integer],
      end_time: ['end_time', integer],
      beneficiary_address: ['beneficiary_address', address],
      initial_min_bid: ['initial_min_bid', integer],
      max_bid: ['max_bid', integer],
      min_bid_step: ['min_bid_step', integer],
      min_extend_time: ['min_extend_time', integer],
      duration: ['duration', integer],
      royalty_numerator: ['royalty_numerator', integer],
      royalty_denominator: ['royalty_denominator', integer],
      royalty_destination: ['royalty_destination', address],
    },
  ],
};

/** Fills the tables of tokens and sales with the rows of a reference index, ids included. @param folder of its tables */
export async function addReferenceTokens(client: pg.Client, folder: string): Promise<void> {
  for (const [file, [table, own]] of Object.entries(TABLES)) {
    const columns = { ...STATE, ...own };
    const rows = [...readCsv(readBytes(`${folder}/${file}.csv.br`))].map((row: Row) => {
      const values = Object.entries(columns).map(([theirs, [ours, form]]) => {
        const value = row[theirs]!;
        return [ours, value === '' ? null : form(value)];
      });
      return { mc_seqno: 1, ...Object.fromEntries(values) };
    });
    await insert(client, table, rows);
  }
}
