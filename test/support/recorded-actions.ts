import type { ContractFacts, TraceFacts } from '#domain/actions/trace-facts.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { readCsv } from '#test/support/csv.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/* Traces of the recorded network as the reference answered them, with the actions that it found. */

const NET = vectorPath('collection/recorded-net');

/** An action in an answer of API v3. */
export interface JsonAction {
  readonly action_id: string;
  readonly type: string;
  readonly success: boolean;
  readonly start_lt: string;
  readonly end_lt: string;
  readonly start_utime: number;
  readonly end_utime: number;
  readonly transactions: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
}

export interface RecordedTrace {
  readonly trace_id: string;
  readonly transactions: Readonly<Record<string, unknown>>;
  readonly actions: readonly JsonAction[];
}

export function* recordedTraces(): Generator<RecordedTrace> {
  const lines = Buffer.from(readBytes(`${NET}/v3-traces.jsonl.br`))
    .toString()
    .trimEnd()
    .split('\n');
  for (const line of lines) yield JSON.parse(line) as RecordedTrace;
}

/** Rows of a table of the reference index. */
export function recordedTable(name: string): Generator<Record<string, string>> {
  return readCsv(readBytes(`${NET}/v3-tables/${name}.csv.br`));
}

export function base64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}

const addresses = new Map<string, Address>();

export function addressOfJson(raw: string | null): Address | null {
  if (raw === null || raw === '') return null;
  const known = addresses.get(raw) ?? parseAddress(raw).address;
  addresses.set(raw, known);
  return known;
}

export function cellOfBase64(text: string): Cell {
  return parseBocRoot(base64(text));
}

/** Facts that are all known: other contracts are none of the interfaces. */
export class KnownFacts implements TraceFacts {
  readonly contracts = new Map<string, ContractFacts>();
  readonly datas = new Map<string, Cell>();

  contract(address: Address): ContractFacts | null {
    return this.contracts.get(address.toRaw()) ?? null;
  }

  data(address: Address): Cell | null {
    return this.datas.get(address.toRaw()) ?? null;
  }

  /** @param raw address in any case */
  add(raw: string, facts: Partial<ContractFacts>): void {
    const key = raw.toLowerCase();
    this.contracts.set(key, { code_hash: null, ...this.contracts.get(key), ...facts });
  }
}

const NOMINATOR_POOL = 'mj7BS8CY9rRAZMMFIiyuooAPF92oXuaoGYpwle3hDc8=';

/** What the reference index knows about the contracts of the network. */
export function recordedFacts(): KnownFacts {
  const facts = new KnownFacts();
  const at = (text: string | undefined) => addressOfJson(text ?? null);
  for (const row of recordedTable('latest_account_states')) {
    const code_hash = row.code_hash === '' ? null : base64(row.code_hash!);
    facts.add(row.account!, { code_hash, ...(row.code_hash === NOMINATOR_POOL ? { nominator_pool: true } : {}) });
    if (row.data_boc !== '') facts.datas.set(row.account!.toLowerCase(), cellOfBase64(row.data_boc!));
  }
  for (const row of recordedTable('jetton_wallets')) {
    facts.add(row.address!, { jetton_wallet: { owner: at(row.owner)!, jetton: at(row.jetton)! } });
  }
  for (const row of recordedTable('nft_items')) {
    const { uri = null } = JSON.parse(row.content === '' ? '{}' : row.content!) as { readonly uri?: string };
    const nft_item = {
      index: BigInt(row.index!),
      collection: at(row.collection_address),
      owner: at(row.owner_address),
      content_uri: uri,
    };
    facts.add(row.address!, { nft_item });
  }
  for (const row of recordedTable('getgems_nft_sales')) {
    const nft_sale = {
      nft: at(row.nft_address)!,
      nft_owner: at(row.nft_owner_address),
      marketplace: at(row.marketplace_address),
      full_price: BigInt(row.full_price!),
    };
    facts.add(row.address!, { nft_sale });
  }
  for (const row of recordedTable('getgems_nft_auctions')) {
    const nft_auction = {
      nft: at(row.nft_addr)!,
      nft_owner: at(row.nft_owner),
      marketplace: at(row.mp_addr),
      last_bid: row.last_bid === '' ? null : BigInt(row.last_bid!),
    };
    facts.add(row.address!, { nft_auction });
  }
  for (const row of recordedTable('multisig_orders')) {
    const signers = row
      .signers!.slice(1, -1)
      .split(',')
      .map((one) => at(one)!);
    facts.add(row.address!, { multisig_order: { multisig: at(row.multisig_address)!, signers } });
  }
  return facts;
}
