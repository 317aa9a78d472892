import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeMethods } from '#domain/contracts/code-methods.js';
import type { ContractInterface } from '#domain/contracts/contract-interface.js';
import { type ContractView, isContractError, type ViewedContract } from '#domain/contracts/contract-view.js';
import { dnsRootOf } from '#domain/contracts/dns-domain.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import { CandidateInterfaces, CONTRACT_INTERFACES } from '#domain/contracts/interface-registry.js';
import { dnsItemInterface } from '#domain/contracts/interfaces/dns-item.js';
import { nftItemInterface } from '#domain/contracts/interfaces/nft-item.js';
import type { NativeAccount } from '#domain/contracts/native-code.js';
import { WALLET_CODES } from '#domain/contracts/wallet.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address, parseAddress } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { Cell } from '#formats/cells/cell.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { ContractsAtBlock, nativeAccountOf } from '#services/emulation/contract-data.js';
import type { ContractService } from '#services/emulation/contract-service.js';
import { readCsv } from '#test/support/csv.js';
import { type ReplayedContracts, replayedContracts } from '#test/support/replayed-contracts.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const candidates = new CandidateInterfaces(CONTRACT_INTERFACES);

const network = vectorPath('collection/recorded-net');

/** The newest block of the reference index. */
const HEAD = 1060;

const KINDS = [
  ...['jetton_master', 'jetton_wallet', 'nft_collection', 'nft_item', 'dns_item', 'nft_sale', 'nft_auction'],
  ...['telemint_item', 'multisig', 'multisig_order', 'vesting', 'nominator_pool', 'dex_pool'],
];

/** Named as what they are not, and why they are none. */
const REFUSED: Readonly<Record<string, string>> = {
  '0:5037ddca2ffbf9e5b66ec2a4522916bf962731c09cf27c79e5d8844edfaebaca': 'contract-data/content-prefix',
  '0:42bb6815b42277fa1daccb4b40282a80a0de136b9a5b91f71af8ab1aa7eafffd': 'contract-data/not-verified',
};

/**
 * What the reference index lacks: it has no table of pools; and the collection of the item says that it is its own, and it is
 * there at the end of the chain.
 */
const NOT_IN_REFERENCE = [
  'nominator_pool -1:178c04064ccf9e9541783dad576a9e32c5427039226e6e5d69bfedc795991b9a',
  'nft_item 0:d96083e28a9c813d3dabc2648757d7afd48de071a8e9e5680357cf4f5102b401',
];

/** Rows that the reference index read from an older state: it does not read an item again once its auction is over. */
const OLD_IN_REFERENCE = [
  'telemint_item 0:8a8bc49615c9414445213c8f774c683141c8e9be1061a9c9f2ca36c5e2c71b11',
  'telemint_item 0:9a386093e100c968161dafca4f585b79c49b853dbd8650fe7679dcd8f8cb7f89',
];

/** What the accounts of the activity are, by what it calls their code; all others are of no kind. */
const EXPECTED: readonly (readonly [code: RegExp, kind: string])[] = [
  [/^jetton_master_|^tston_minter$|^(stonfi_pool_v1|dedust_pool|coffee_pool)$/, 'jetton_master'],
  [/^jetton_wallet_|_lp_wallet(_v1)?$|^tston_wallet$/, 'jetton_wallet'],
  [/^nft_collection_|^(dns_collection|dictcol)$|^telemint_collection_|^tonco_pool$/, 'nft_collection'],
  [/^nft_item_|^sbt_single$|^dns_item$|^telemint_item_/, 'nft_item'],
  // The first version has no magic, and nothing else by which to know it.
  [/^getgems_sale_v[234]/, 'nft_sale'],
  [/^getgems_auction_/, 'nft_auction'],
  [/^telemint_item_/, 'telemint_item'],
  [/^multisig_v2$/, 'multisig'],
  [/^multisig_order_v2$/, 'multisig_order'],
  [/^wallet_vesting$/, 'vesting'],
  [/^nominator_pool$/, 'nominator_pool'],
];

/** Collections of domains of the recorded network, besides that of .ton. */
const ROOTS = [
  { collection: '0:20e1afb61885a58dc99001206714869cecc3835a6990d05b4dcfeb5d264fb42f', zone: 't.me' },
  { collection: '0:47414a9dd26a6bb2420ab848d547e2244c71568eb5aeb4dfe82a4807cd35be2f', zone: 'dict' },
].map(({ collection, zone }) => ({ collection: parseAddress(collection).address, zone }));

/** Their domains, and which records these have. */
const DOMAINS: Readonly<Record<string, readonly string[]>> = {
  'auctioned.dict': ['dns_wallet'],
  'destroyed.dict': [],
  'forgotten.dict': [],
  'owned.dict': ['dns_wallet', 'dns_site_adnl', 'dns_storage_bag_id'],
  'user0001.t.me': ['dns_wallet'],
  'user0002.t.me': [],
};

type Row = Readonly<Record<string, unknown>>;

/** Asks everything by running it. */
class RunningView implements ContractView {
  readonly #contracts: ContractView;
  readonly #service: ContractService;

  constructor(contracts: ContractView, service: ContractService) {
    this.#contracts = contracts;
    this.#service = service;
  }

  contract(address: Address): Promise<ViewedContract> {
    return this.#contracts.contract(address);
  }

  async runGetMethod<Arguments extends readonly unknown[], Result>(
    { address }: ViewedContract,
    method: GetMethod<Arguments, Result>,
    ...given: Arguments
  ): Promise<Result> {
    const read = await this.#service.runGetMethod(address, method.name, method.stack(...given), { at: HEAD });
    const { exit_code } = read;
    if (exit_code === 0 || exit_code === 1) return method.parse(read.stack);
    throw contractDataErrors['method-failed']({ address: address.toRaw(), method: method.name, exit_code });
  }
}

/** The row of a contract; the code of the error that says why there is none. */
async function rowOf(kind: ContractInterface, view: ContractView, contract: ViewedContract): Promise<Row | string> {
  try {
    return kind.row(await kind.read(view, contract));
  } catch (error) {
    if (isTernError(error) && isContractError(error)) return error.code;
    throw error;
  }
}

/** A row as the reference index has it, by its columns. */
const COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  jetton_master: {
    total_supply: 'total_supply',
    mintable: 'mintable',
    admin: 'admin_address',
    content: 'jetton_content',
    jetton_wallet_code_hash: 'jetton_wallet_code_hash',
  },
  jetton_wallet: { balance: 'balance', owner: 'owner', jetton: 'jetton', mintless_is_claimed: 'mintless_is_claimed' },
  nft_collection: { next_item_index: 'next_item_index', owner: 'owner_address', content: 'collection_content' },
  nft_item: {
    init: 'init',
    index: 'index',
    collection: 'collection_address',
    owner: 'owner_address',
    content: 'content',
  },
  dns_item: {
    owner: 'nft_item_owner',
    domain: 'domain',
    dns_next_resolver: 'dns_next_resolver',
    dns_wallet: 'dns_wallet',
    dns_site_adnl: 'dns_site_adnl',
    dns_storage_bag_id: 'dns_storage_bag_id',
  },
  nft_sale: {
    is_complete: 'is_complete',
    created_at: 'created_at',
    marketplace: 'marketplace_address',
    nft: 'nft_address',
    nft_owner: 'nft_owner_address',
    full_price: 'full_price',
    marketplace_fee_address: 'marketplace_fee_address',
    marketplace_fee: 'marketplace_fee',
    royalty_address: 'royalty_address',
    royalty_amount: 'royalty_amount',
    sold_at: 'sold_at',
    sold_query_id: 'sold_query_id',
    jetton_prices: 'jetton_price_dict',
  },
  nft_auction: {
    ...same('end_flag', 'end_time', 'nft_owner', 'last_bid', 'last_member', 'min_step', 'mp_fee_factor', 'mp_fee_base'),
    ...same('royalty_fee_factor', 'royalty_fee_base', 'max_bid', 'min_bid', 'created_at', 'last_bid_at', 'is_canceled'),
    ...same(
      'activated',
      'step_time',
      'last_query_id',
      'jetton_wallet',
      'jetton_master',
      'is_broken_state',
      'public_key',
    ),
    marketplace: 'mp_addr',
    nft: 'nft_addr',
    mp_fee_address: 'mp_fee_addr',
    royalty_fee_address: 'royalty_fee_addr',
  },
  telemint_item: {
    ...same('token_name', 'bidder_address', 'bid', 'bid_ts', 'min_bid', 'end_time', 'beneficiary_address', 'duration'),
    ...same(
      'initial_min_bid',
      'max_bid',
      'min_bid_step',
      'min_extend_time',
      'royalty_numerator',
      'royalty_denominator',
    ),
    ...same('royalty_destination'),
  },
  multisig: same('next_order_seqno', 'threshold', 'signers', 'proposers'),
  multisig_order: {
    ...same('order_seqno', 'threshold', 'sent_for_execution', 'approvals_mask', 'approvals_num', 'expiration_date'),
    ...same('order_boc', 'signers'),
    multisig: 'multisig_address',
  },
  vesting: {
    start_time: 'vesting_start_time',
    total_duration: 'vesting_total_duration',
    unlock_period: 'unlock_period',
    cliff_duration: 'cliff_duration',
    total_amount: 'vesting_total_amount',
    sender: 'vesting_sender_address',
    owner: 'owner_address',
  },
};

function same(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

const TABLES: Readonly<Record<string, string>> = {
  jetton_master: 'jetton_masters',
  jetton_wallet: 'jetton_wallets',
  nft_collection: 'nft_collections',
  nft_item: 'nft_items',
  dns_item: 'dns_entries',
  nft_sale: 'getgems_nft_sales',
  nft_auction: 'getgems_nft_auctions',
  telemint_item: 'telemint_nft_items',
  multisig: 'multisig',
  multisig_order: 'multisig_orders',
  vesting: 'vesting_contracts',
};

function columnText(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return '';
  if (name === 'content') return JSON.parse(value as string);
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (value instanceof Uint8Array) return toBase64(value);
  if (value instanceof Cell) return toBase64(serializeBoc(value));
  if (Array.isArray(value)) return `{${value.map((part) => columnText(name, part)).join(',')}}`;
  return value instanceof Address ? value.toRaw().toUpperCase() : String(value);
}

function textsOf(row: Row | string): unknown {
  if (typeof row === 'string') return row;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, columnText(name, value)]));
}

function referenceText(name: string, value: string): unknown {
  return name === 'content' ? JSON.parse(value) : value;
}

/** Of the other kinds it has no table that was recorded. */
const referenceRows = (kind: string) =>
  TABLES[kind] === undefined ? [] : [...readCsv(readBytes(`${network}/v3-tables/${TABLES[kind]}.csv.br`))];

const addressOfRow = ({ address, nft_item_address }: Record<string, string>) => (address ?? nft_item_address) as string;

describe('contracts of the recorded network', () => {
  let tvm: TvmPool;
  let contracts: ReplayedContracts;
  let service: ContractService;
  let accounts: { readonly account: NativeAccount; readonly code: string | null }[];
  let view: ContractView;
  const runs: string[] = [];
  /** By kind and address. */
  const rows = new Map<string, Row>();
  const dataHashes = new Map<string, string>();

  beforeAll(async () => {
    tvm = await startTvm();
    contracts = replayedContracts(`${network}/chain`, tvm, HEAD);
    service = contracts.serviceOver();
    const { chain } = contracts;
    view = new ContractsAtBlock(
      {
        runGetMethod: (address, method, stack, options) => {
          runs.push(method);
          return service.runGetMethod(address, method, stack, options);
        },
        account: (address, options) => chain.account(address, options),
        // The network publishes those of all known codes.
        library: async () => EMPTY_CELL,
      },
      { at: HEAD },
    );
    const named = JSON.parse(Buffer.from(readBytes(`${network}/addresses.json.br`)).toString()) as {
      readonly address: string;
      readonly kind: string;
    }[];
    accounts = [];
    const known = new Set(named.map(({ address }) => address));
    const more = KINDS.flatMap(referenceRows)
      .map(addressOfRow)
      .filter((address) => !known.has(address));
    for (const { address: text, kind } of [
      ...named,
      ...[...new Set(more)].map((address) => ({ address, kind: null })),
    ]) {
      const { address } = parseAddress(text);
      const account = nativeAccountOf(address, await chain.account(address, { at: HEAD }));
      // Wallets are not asked: nobody looks for anything else there.
      if (account !== null && !WALLET_CODES.has(toHex(account.code.hash()))) accounts.push({ account, code: kind });
    }
  });
  afterAll(() => tvm?.close());

  it('are recognised, and read natively as by running them', async () => {
    const running = new RunningView(view, service);
    const refused: Record<string, string> = {};
    for (const { account, code } of accounts) {
      const { address } = account;
      const found: string[] = [];
      let why = '';
      for (const kind of candidates.of(toHex(account.code.hash()), codeMethods(account.code))) {
        const row = await rowOf(kind, view, { address, account });
        const name = `${code} ${address} ${kind.name}`;
        expect({ [name]: textsOf(row) }).toEqual({ [name]: textsOf(await rowOf(kind, running, { address, account })) });
        if (typeof row === 'string') {
          why = row;
          continue;
        }
        found.push(kind.name);
        const key = `${kind.name} ${address.toRaw()}`;
        rows.set(key, row);
        dataHashes.set(key, toBase64(account.data.hash()));
      }
      if (code === null) continue;
      const expected = EXPECTED.filter(([pattern]) => pattern.test(code)).map(([, kind]) => kind);
      const name = `${code} ${address}`;
      if (address.toRaw() in REFUSED) refused[address.toRaw()] = why;
      else expect({ [name]: found.filter((kind) => kind !== 'dns_item') }).toEqual({ [name]: expected });
    }
    expect(refused).toEqual(REFUSED);
    // Of codes that are not known.
    expect(runs.length).toBeLessThan(170);
    expect(rows.size).toBeGreaterThan(430);
  });

  it('are domains where their collection is a root', async () => {
    const running = new RunningView(view, service);
    const kind = dnsItemInterface(ROOTS);
    const items = nftItemInterface(ROOTS);
    const found: Record<string, readonly string[]> = {};
    for (const { account, code } of accounts) {
      const { address } = account;
      const item = rows.get(`nft_item ${address.toRaw()}`);
      const root = dnsRootOf((item?.collection ?? null) as Address | null, ROOTS);
      if (root === null || code === null) continue;
      const row = await rowOf(kind, view, { address, account });
      expect(row).toEqual(await rowOf(kind, running, { address, account }));
      if (typeof row === 'string') throw new TypeError(`${address} is refused: ${row}`);
      const { content } = (await rowOf(items, view, { address, account })) as Row;
      expect(JSON.parse(content as string)).toMatchObject({ domain: row.domain });
      found[row.domain as string] = Object.keys(row).filter((name) => name.startsWith('dns_') && row[name] !== null);
    }
    expect(found).toEqual(DOMAINS);
  });

  it('have the rows of the reference index', () => {
    const more = new Set(rows.keys());
    const old: string[] = [];
    for (const kind of KINDS) {
      for (const reference of referenceRows(kind)) {
        const key = `${kind} ${addressOfRow(reference).toLowerCase()}`;
        more.delete(key);
        if (reference.data_hash !== undefined && reference.data_hash !== dataHashes.get(key)) {
          old.push(key);
          continue;
        }
        const row = rows.get(key) ?? {};
        const columns = Object.entries(COLUMNS[kind]!);
        const ours = Object.fromEntries(columns.map(([name]) => [name, columnText(name, row[name])]));
        const theirs = columns.map(([name, column]) => [name, referenceText(name, reference[column]!)]);
        expect({ key, ...ours }).toEqual({ key, ...Object.fromEntries(theirs) });
      }
    }
    expect(old).toEqual(OLD_IN_REFERENCE);
    expect([...more]).toEqual(NOT_IN_REFERENCE);
  });
});
