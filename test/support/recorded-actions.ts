import type { ContractFacts, TraceFacts } from '#domain/actions/trace-facts.js';
import type { TracedMessage, TracedTransaction, TraceInput } from '#domain/actions/trace-input.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { readCsv } from '#test/support/csv.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/* Traces of the recorded network as the reference answered them, with the actions that it found. */

const NET = vectorPath('collection/recorded-net');

/** A message in an answer of API v3. */
interface JsonMessage {
  readonly hash: string;
  readonly source: string | null;
  readonly destination: string | null;
  readonly value: string | null;
  readonly value_extra_currencies: Readonly<Record<string, string>> | null;
  readonly bounce: boolean | null;
  readonly bounced: boolean | null;
  readonly created_lt: string | null;
  readonly created_at: string | null;
  readonly message_content: { readonly body: string } | null;
  readonly init_state: { readonly body: string } | null;
}

/** A transaction in an answer of API v3. */
interface JsonTransaction {
  readonly account: string;
  readonly hash: string;
  readonly lt: string;
  readonly now: number;
  readonly mc_block_seqno: number;
  readonly orig_status: TracedTransaction['orig_status'];
  readonly end_status: TracedTransaction['end_status'];
  readonly description: {
    readonly type: string;
    readonly aborted?: boolean;
    readonly compute_ph?: {
      readonly skipped?: boolean;
      readonly reason?: TracedTransaction['skipped'];
      readonly exit_code?: number;
    };
  };
  readonly in_msg: JsonMessage | null;
  readonly out_msgs: readonly JsonMessage[];
}

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
  readonly transactions: Readonly<Record<string, JsonTransaction>>;
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

export function traceOfJson({ trace_id, transactions }: RecordedTrace): TraceInput {
  return { trace_id: base64(trace_id), transactions: Object.values(transactions).map(transactionOfJson) };
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

function transactionOfJson(json: JsonTransaction): TracedTransaction {
  const { type, aborted, compute_ph: compute } = json.description;
  return {
    hash: base64(json.hash),
    account: addressOfJson(json.account)!,
    lt: BigInt(json.lt),
    utime: json.now,
    mc_seqno: json.mc_block_seqno,
    kind: type === 'ord' ? 'ordinary' : type === 'tick_tock' ? 'tick_tock' : 'other',
    aborted: aborted ?? false,
    exit_code: compute?.exit_code ?? null,
    skipped: compute?.skipped === true ? (compute.reason ?? null) : null,
    orig_status: json.orig_status,
    end_status: json.end_status,
    in_msg: json.in_msg === null ? null : messageOfJson(json.in_msg),
    out_msgs: json.out_msgs.map(messageOfJson),
  };
}

function messageOfJson(json: JsonMessage): TracedMessage {
  const currencies = Object.entries(json.value_extra_currencies ?? {});
  return {
    hash: base64(json.hash),
    source: addressOfJson(json.source),
    destination: addressOfJson(json.destination),
    value: json.value === null ? null : BigInt(json.value),
    currencies: new Map(currencies.map(([id, amount]) => [Number(id), BigInt(amount)])),
    bounce: json.bounce ?? false,
    bounced: json.bounced ?? false,
    created_lt: json.created_lt === null ? null : BigInt(json.created_lt),
    created_at: json.created_at === null ? null : Number(json.created_at),
    body: json.message_content === null ? EMPTY_CELL : cellOfBase64(json.message_content.body),
    init: json.init_state === null ? null : cellOfBase64(json.init_state.body),
  };
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
