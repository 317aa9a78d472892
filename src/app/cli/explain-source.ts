import { existsSync, readFileSync } from 'node:fs';
import { cliErrors } from '#app/cli/errors.js';
import type { ContractFacts, FactRequest, TraceFacts } from '#domain/actions/trace-facts.js';
import type { TracedMessage, TracedTransaction, TraceInput } from '#domain/actions/trace-input.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { fromBase64, fromHex, toBase64 } from '#kernel/bytes.js';

/*
 * Traces and contracts as API v3 answers them, of Tern or of another service. Members without a value are null or left out,
 * depending on the service.
 */

// biome-ignore lint/suspicious/noExplicitAny: answers of all methods
type Json = any;

/** Reads an API v3. */
export class ApiSource {
  readonly #url: string;

  /** @param url of the service, without `/api/v3` */
  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '').replace(/\/api\/v3$/, '');
  }

  /** @throws cli/explain-source */
  async get(method: string, query: readonly (readonly [string, string])[]): Promise<Json> {
    const parameters = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value]));
    const url = `${this.#url}/api/v3/${method}?${parameters}`;
    let problem: string;
    try {
      const response = await fetch(url);
      if (response.status === 200) return await response.json();
      problem = `HTTP status ${response.status}`;
    } catch (error) {
      problem =
        error instanceof Error ? `${error.message} ${String((error.cause as Json)?.code ?? '')}`.trim() : String(error);
    }
    throw cliErrors['explain-source']({ url, problem });
  }

  /** The trace with this id, or else the trace of this transaction or message. @throws cli/explain-source, cli/input */
  async trace(hash: Uint8Array): Promise<Json> {
    const text = toBase64(hash);
    for (const parameter of ['trace_id', 'tx_hash', 'msg_hash']) {
      const { traces } = await this.get('traces', [[parameter, text]]);
      if (traces?.[0] !== undefined) return traces[0];
    }
    throw cliErrors.input({ argument: text, problem: 'is no trace, transaction or message that the service knows' });
  }
}

/** A trace in a file: an answer of `traces`, or one of its items. @throws cli/input */
export function traceFile(path: string): Json | null {
  if (!existsSync(path)) return null;
  try {
    const json = JSON.parse(readFileSync(path, 'utf8'));
    const trace = json.traces?.[0] ?? json.events?.[0] ?? json;
    if (typeof trace.transactions === 'object' && trace.transactions !== null) return trace;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw cliErrors.input({ argument: path, problem: 'holds no trace as API v3 answers it (method traces)' });
}

/** A hash in hexadecimal or base64; null when it is neither. */
export function hashOf(text: string): Uint8Array | null {
  const bytes = fromHex(text) ?? fromBase64(text);
  return bytes?.length === 32 ? bytes : null;
}

/** A trace of API v3 as classification reads it. */
export function traceOfAnswer(json: Json): TraceInput {
  const transactions: Json[] = Object.values(json.transactions);
  return { trace_id: bytesOf(json.trace_id), transactions: transactions.map(transactionOf) };
}

function bytesOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

function addressOf(raw: string | null | undefined): Address | null {
  return raw === null || raw === undefined || raw === '' ? null : parseAddress(raw).address;
}

function cellOf(base64: string | null | undefined): Cell | null {
  return base64 === null || base64 === undefined ? null : parseBocRoot(bytesOf(base64));
}

function transactionOf(json: Json): TracedTransaction {
  const { type, aborted, compute_ph: compute } = json.description;
  return {
    hash: bytesOf(json.hash),
    account: addressOf(json.account)!,
    lt: BigInt(json.lt),
    utime: json.now,
    mc_seqno: json.mc_block_seqno,
    kind: type === 'ord' ? 'ordinary' : type === 'tick_tock' ? 'tick_tock' : 'other',
    aborted: aborted ?? false,
    exit_code: compute?.exit_code ?? null,
    skipped: compute?.skipped === true ? (compute.reason ?? null) : null,
    orig_status: json.orig_status,
    end_status: json.end_status,
    in_msg: json.in_msg === null || json.in_msg === undefined ? null : messageOf(json.in_msg),
    out_msgs: (json.out_msgs ?? []).map(messageOf),
  };
}

function messageOf(json: Json): TracedMessage {
  const currencies: [string, string][] = Object.entries(json.value_extra_currencies ?? {});
  const orNull = (value: Json) => value ?? null;
  return {
    hash: bytesOf(json.hash),
    source: addressOf(json.source),
    destination: addressOf(json.destination),
    value: orNull(json.value) === null ? null : BigInt(json.value),
    currencies: new Map(currencies.map(([id, amount]) => [Number(id), BigInt(amount)])),
    bounce: json.bounce ?? false,
    bounced: json.bounced ?? false,
    created_lt: orNull(json.created_lt) === null ? null : BigInt(json.created_lt),
    created_at: orNull(json.created_at) === null ? null : Number(json.created_at),
    body: cellOf(json.message_content?.body) ?? EMPTY_CELL,
    init: cellOf(json.init_state?.body),
  };
}

/** What a service says about contracts: their state now. Without a service nothing is known of them. */
export class AnsweredFacts implements TraceFacts {
  readonly #contracts = new Map<string, ContractFacts | null>();
  readonly #data = new Map<string, Cell | null>();

  contract(address: Address): ContractFacts | null | undefined {
    return this.#contracts.get(address.toRaw());
  }

  data(address: Address): Cell | null | undefined {
    return this.#data.get(address.toRaw());
  }

  /** @throws cli/explain-source */
  async load(requests: readonly FactRequest[], source: ApiSource | null): Promise<void> {
    for (const { address } of requests) {
      this.#contracts.set(address.toRaw(), null);
      this.#data.set(address.toRaw(), null);
    }
    if (source === null) return;
    for (let i = 0; i < requests.length; i += PAGE) {
      await this.#loadPage(
        requests.slice(i, i + PAGE).map(({ address }) => address.toRaw()),
        source,
      );
    }
  }

  async #loadPage(raws: readonly string[], source: ApiSource): Promise<void> {
    const of = (parameter: string) => raws.map((raw) => [parameter, raw] as const);
    const limit = ['limit', String(PAGE)] as const;
    const { accounts = [] } = await source.get('accountStates', [...of('address'), ['include_boc', 'true']]);
    for (const account of accounts) {
      const code_hash = typeof account.code_hash === 'string' ? bytesOf(account.code_hash) : null;
      const isPool = account.interfaces?.includes('nominator_pool') === true;
      this.#add(account.address, { code_hash, ...(isPool ? { nominator_pool: true } : {}) });
      this.#data.set(addressOf(account.address)!.toRaw(), cellOf(account.data_boc));
    }
    const { jetton_wallets = [] } = await source.get('jetton/wallets', [...of('address'), limit]);
    for (const { address, owner, jetton } of jetton_wallets) {
      this.#add(address, { jetton_wallet: { owner: addressOf(owner)!, jetton: addressOf(jetton)! } });
    }
    const { nft_items = [] } = await source.get('nft/items', [...of('address'), limit]);
    for (const item of nft_items) {
      const nft_item = {
        index: BigInt(item.index),
        collection: addressOf(item.collection_address),
        owner: addressOf(item.owner_address),
        content_uri: item.content?.uri ?? null,
      };
      this.#add(item.address, { nft_item });
    }
    const { nft_sales = [] } = await source.get('nft/sales', of('address'));
    for (const { type, details } of nft_sales) {
      const nft = addressOf(details.nft_address);
      if (nft === null) continue;
      const nft_owner = addressOf(details.nft_owner_address ?? details.nft_owner);
      const marketplace = addressOf(details.marketplace_address ?? details.mp_addr);
      if (type === 'getgems_sale') {
        const full_price = BigInt(details.full_price ?? 0);
        this.#add(details.address, { nft_sale: { nft, nft_owner, marketplace, full_price } });
      } else if (type === 'getgems_auction') {
        const last_bid = details.last_bid === undefined || details.last_bid === null ? null : BigInt(details.last_bid);
        this.#add(details.address, { nft_auction: { nft, nft_owner, marketplace, last_bid } });
      }
    }
    const { orders = [] } = await source.get('multisig/orders', of('address'));
    for (const { address, multisig_address, signers = [] } of orders) {
      const multisig = addressOf(multisig_address)!;
      const known = (signers as string[]).map((signer) => addressOf(signer)!);
      this.#add(address, { multisig_order: { multisig, signers: known } });
    }
  }

  #add(raw: string, facts: Partial<ContractFacts>): void {
    const key = addressOf(raw)!.toRaw();
    this.#contracts.set(key, { code_hash: null, ...this.#contracts.get(key), ...facts });
  }
}

/** Accounts that are asked for at once. */
const PAGE = 100;
