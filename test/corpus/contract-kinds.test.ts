import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAboutContract } from '#domain/contracts/answered.js';
import { codeMethods } from '#domain/contracts/code-methods.js';
import type { AskedContract, ContractView } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import type { ContractKind } from '#domain/contracts/kinds/contract-kind.js';
import { candidateKinds } from '#domain/contracts/kinds/contract-kinds.js';
import type { NativeAccount } from '#domain/contracts/native-code.js';
import { NO_TOKEN_CODES } from '#domain/contracts/wallet-codes.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { parseAddress } from '#formats/address/parse-address.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { toBase64, toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { ContractService } from '#services/contracts/contracts-service.js';
import { ContractsAt, nativeAccountOf } from '#services/contracts/token-reads.js';
import { readCsv } from '#test/support/csv.js';
import { type ReplayedContracts, replayedContracts } from '#test/support/replayed-contracts.js';
import { readBytes, sharedData } from '#test/support/shared-data.js';
import { startTvm } from '#test/support/tvm-pool.js';

const network = sharedData('recorded-net');

/** The newest block of the reference index. */
const HEAD = 1060;

const TOKENS = ['jetton_master', 'jetton_wallet', 'nft_collection', 'nft_item', 'dns_item'];

/** Named as what they are not, and why they are none. */
const REFUSED: Readonly<Record<string, string>> = {
  '0:5037ddca2ffbf9e5b66ec2a4522916bf962731c09cf27c79e5d8844edfaebaca': 'contract-data/content-prefix',
  '0:42bb6815b42277fa1daccb4b40282a80a0de136b9a5b91f71af8ab1aa7eafffd': 'contract-data/not-verified',
};

/** What the reference index lacks: its collection says that it is its item, and it is there at the end of the chain. */
const NOT_IN_REFERENCE = ['nft_item 0:d96083e28a9c813d3dabc2648757d7afd48de071a8e9e5680357cf4f5102b401'];

/** What the accounts of the activity are, by what it calls their code; all others are no tokens. */
const EXPECTED: readonly (readonly [code: RegExp, kind: string])[] = [
  [/^jetton_master_|^tston_minter$|^(stonfi_pool_v1|dedust_pool|coffee_pool)$/, 'jetton_master'],
  [/^jetton_wallet_|_lp_wallet(_v1)?$|^tston_wallet$/, 'jetton_wallet'],
  [/^nft_collection_|^(dns_collection|dictcol)$|^telemint_collection_|^tonco_pool$/, 'nft_collection'],
  [/^nft_item_|^sbt_single$|^dns_item$|^telemint_item_/, 'nft_item'],
];

type Row = Readonly<Record<string, unknown>>;

/** Asks everything by running it. */
class RunningView implements ContractView {
  readonly #contracts: ContractView;
  readonly #service: ContractService;

  constructor(contracts: ContractView, service: ContractService) {
    this.#contracts = contracts;
    this.#service = service;
  }

  contract(address: Address): Promise<AskedContract> {
    return this.#contracts.contract(address);
  }

  async ask<Arguments extends readonly unknown[], Result>(
    { address }: AskedContract,
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
async function rowOf(kind: ContractKind, view: ContractView, contract: AskedContract): Promise<Row | string> {
  try {
    return kind.row(await kind.read(view, contract));
  } catch (error) {
    if (isTernError(error) && isAboutContract(error)) return error.code;
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
};

const TABLES: Readonly<Record<string, string>> = {
  jetton_master: 'jetton_masters',
  jetton_wallet: 'jetton_wallets',
  nft_collection: 'nft_collections',
  nft_item: 'nft_items',
  dns_item: 'dns_entries',
};

function columnText(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return '';
  if (name === 'content') return JSON.parse(value as string);
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (value instanceof Uint8Array) return toBase64(value);
  return value instanceof Address ? value.toRaw().toUpperCase() : String(value);
}

function referenceText(name: string, value: string): unknown {
  return name === 'content' ? JSON.parse(value) : value;
}

const referenceRows = (kind: string) => [...readCsv(readBytes(`${network}/v3-tables/${TABLES[kind]}.csv.gz`))];

const addressOfRow = ({ address, nft_item_address }: Record<string, string>) => (address ?? nft_item_address) as string;

describe.skipIf(network === null)('tokens of the recorded network', { timeout: 240_000 }, () => {
  let tvm: TvmPool;
  let contracts: ReplayedContracts;
  let service: ContractService;
  let accounts: { readonly account: NativeAccount; readonly code: string | null }[];
  let view: ContractView;
  const runs: string[] = [];
  /** By kind and address. */
  const rows = new Map<string, Row>();

  beforeAll(async () => {
    tvm = await startTvm();
    contracts = replayedContracts(`${network}/chain`, tvm, HEAD);
    service = contracts.serviceOver();
    const { chain } = contracts;
    view = new ContractsAt(
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
    const named = JSON.parse(Buffer.from(readBytes(`${network}/addresses.json.gz`)).toString()) as {
      readonly address: string;
      readonly kind: string;
    }[];
    accounts = [];
    const known = new Set(named.map(({ address }) => address));
    const more = TOKENS.flatMap(referenceRows)
      .map(addressOfRow)
      .filter((address) => !known.has(address));
    for (const { address: text, kind } of [
      ...named,
      ...[...new Set(more)].map((address) => ({ address, kind: null })),
    ]) {
      const { address } = parseAddress(text);
      const account = nativeAccountOf(address, await chain.account(address, { at: HEAD }));
      // Wallets are not asked: nobody looks for tokens there.
      if (account !== null && !NO_TOKEN_CODES.has(toHex(account.code.hash()))) accounts.push({ account, code: kind });
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
      for (const kind of candidateKinds(toHex(account.code.hash()), codeMethods(account.code))) {
        if (!TOKENS.includes(kind.kind)) continue;
        const row = await rowOf(kind, view, { address, account });
        const name = `${code} ${address} ${kind.kind}`;
        expect({ [name]: row }).toEqual({ [name]: await rowOf(kind, running, { address, account }) });
        if (typeof row === 'string') {
          why = row;
          continue;
        }
        found.push(kind.kind);
        rows.set(`${kind.kind} ${address.toRaw()}`, row);
      }
      if (code === null) continue;
      const expected = EXPECTED.filter(([pattern]) => pattern.test(code)).map(([, kind]) => kind);
      const name = `${code} ${address}`;
      if (address.toRaw() in REFUSED) refused[address.toRaw()] = why;
      else expect({ [name]: found.filter((kind) => kind !== 'dns_item') }).toEqual({ [name]: expected });
    }
    expect(refused).toEqual(REFUSED);
    // Of codes that are not known.
    expect(runs.length).toBeLessThan(120);
    expect(rows.size).toBeGreaterThan(430);
  });

  it('have the rows of the reference index', () => {
    const more = new Set(rows.keys());
    for (const kind of TOKENS) {
      for (const reference of referenceRows(kind)) {
        const key = `${kind} ${addressOfRow(reference).toLowerCase()}`;
        const row = rows.get(key) ?? {};
        const columns = Object.entries(COLUMNS[kind]!);
        const ours = Object.fromEntries(columns.map(([name]) => [name, columnText(name, row[name])]));
        const theirs = columns.map(([name, column]) => [name, referenceText(name, reference[column]!)]);
        expect({ key, ...ours }).toEqual({ key, ...Object.fromEntries(theirs) });
        more.delete(key);
      }
    }
    expect([...more]).toEqual(NOT_IN_REFERENCE);
  });
});
