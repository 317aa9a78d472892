import type { TracedMessage, TracedTransaction, TraceInput } from '#domain/actions/trace-input.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { addressOfJson, base64, cellOfBase64, KnownFacts } from '#test/support/recorded-actions.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/* Traces of mainnet with the actions that are expected of them: `vectors/actions/SOURCE.md`. */

interface MainnetTraceMessage {
  readonly msg_hash: string;
  readonly direction: 'in' | 'out';
  readonly source: string | null;
  readonly destination: string | null;
  readonly value: number | null;
  readonly created_lt: number | null;
  readonly created_at: number | null;
  readonly bounce: boolean | null;
  readonly bounced: boolean | null;
  readonly value_extra_currencies: Readonly<Record<string, string>> | null;
  readonly message_content: { readonly body: string } | null;
  readonly init_state?: { readonly body: string } | null;
}

interface MainnetTraceTransaction {
  readonly hash: string;
  readonly account: string;
  readonly lt: number;
  readonly now: number;
  readonly mc_block_seqno: number;
  readonly orig_status: TracedTransaction['orig_status'];
  readonly end_status: TracedTransaction['end_status'];
  readonly descr: string;
  readonly aborted: boolean | null;
  readonly compute_exit_code: number | null;
  readonly messages: readonly MainnetTraceMessage[];
}

/** What must hold of one action or block of the trace. */
interface ExpectedAction {
  readonly type: string;
  /** Chooses among several of the type. */
  readonly selector?: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

export interface MainnetTraceCase {
  readonly file: string;
  readonly case: string;
  readonly trace: string;
  readonly 'expected-actions'?: readonly ExpectedAction[];
  readonly 'expected-blocks'?: readonly ExpectedAction[];
  readonly transactions: readonly MainnetTraceTransaction[];
  /** Per address: kind and data of the contract. */
  readonly interfaces: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
}

export function mainnetTraceCases(): MainnetTraceCase[] {
  const lines = Buffer.from(readBytes(vectorPath('actions/mainnet-traces.jsonl.br')))
    .toString()
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as MainnetTraceCase);
}

export function traceOfCase({ trace, transactions }: MainnetTraceCase): TraceInput {
  return { trace_id: base64(trace), transactions: transactions.map(transactionOf) };
}

function transactionOf(json: MainnetTraceTransaction): TracedTransaction {
  const incoming = json.messages.find(({ direction }) => direction === 'in');
  const sent = json.messages.filter(({ direction }) => direction === 'out').map(messageOf);
  return {
    hash: base64(json.hash),
    account: addressOfJson(json.account)!,
    lt: BigInt(json.lt),
    utime: json.now,
    mc_seqno: json.mc_block_seqno,
    kind: json.descr === 'ord' ? 'ordinary' : 'other',
    aborted: json.aborted ?? false,
    exit_code: json.compute_exit_code,
    skipped: null,
    orig_status: json.orig_status,
    end_status: json.end_status,
    in_msg: incoming === undefined ? null : messageOf(incoming),
    out_msgs: sent.sort((a, b) => Number((a.created_lt ?? 0n) - (b.created_lt ?? 0n))),
  };
}

function messageOf(json: MainnetTraceMessage): TracedMessage {
  return {
    hash: base64(json.msg_hash),
    source: addressOfJson(json.source),
    destination: addressOfJson(json.destination),
    value: json.value === null ? null : BigInt(json.value),
    currencies: new Map(
      Object.entries(json.value_extra_currencies ?? {}).map(([id, amount]) => [Number(id), BigInt(amount)]),
    ),
    bounce: json.bounce ?? false,
    bounced: json.bounced ?? false,
    created_lt: json.created_lt === null ? null : BigInt(json.created_lt),
    created_at: json.created_at,
    body: json.message_content === null ? EMPTY_CELL : cellOfBase64(json.message_content.body),
    init: json.init_state === null || json.init_state === undefined ? null : cellOfBase64(json.init_state.body),
  };
}

export function factsOfCase({ interfaces }: MainnetTraceCase): KnownFacts {
  const facts = new KnownFacts();
  const at = (value: unknown) => addressOfJson((value ?? null) as string | null);
  for (const [raw, kinds] of Object.entries(interfaces)) {
    const {
      JettonWallet: wallet,
      NftItem: item,
      NftSale: sale,
      NftAuction: auction,
      DedustPool: pool,
      data_boc: stored,
    } = kinds;
    if (wallet !== undefined)
      facts.add(raw, { jetton_wallet: { owner: at(wallet.owner)!, jetton: at(wallet.jetton)! } });
    if (item !== undefined) {
      const { uri = null } = (item.content ?? {}) as { readonly uri?: string };
      facts.add(raw, {
        nft_item: {
          index: BigInt(item.index as number),
          collection: at(item.collection_address),
          owner: at(item.owner_address),
          content_uri: uri,
        },
      });
    }
    if (sale !== undefined) {
      facts.add(raw, {
        nft_sale: {
          nft: at(sale.nft_address)!,
          nft_owner: at(sale.nft_owner_address),
          marketplace: at(sale.marketplace_address),
          full_price: BigInt((sale.full_price ?? 0) as number),
        },
      });
    }
    if (auction !== undefined) {
      facts.add(raw, {
        nft_auction: {
          nft: at(auction.nft_addr)!,
          nft_owner: at(auction.nft_owner),
          marketplace: at(auction.mp_addr),
          last_bid:
            auction.last_bid === null || auction.last_bid === undefined ? null : BigInt(auction.last_bid as number),
        },
      });
    }
    if (pool !== undefined) {
      const assets = (pool.assets as readonly { readonly is_ton: boolean; readonly address: string | null }[]).map(
        (one) => (one.is_ton ? null : at(one.address)),
      );
      facts.add(raw, { dex_pool: { dex: 'dedust', asset_1: assets[0] ?? null, asset_2: assets[1] ?? null } });
    }
    if (typeof stored?.data_boc === 'string') facts.datas.set(raw.toLowerCase(), cellOfBase64(stored.data_boc));
  }
  return facts;
}
