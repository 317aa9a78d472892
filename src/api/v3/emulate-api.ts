import { type Static, Type } from '@sinclair/typebox';
import { type AnyEndpoint, endpointOf, type JsonText, jsonText } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import type { FailedRequest, Profile } from '#api/http/http-api.js';
import type { SwitchValues } from '#api/http/parameters.js';
import { actionValue, shownActionTypes } from '#api/v3/actions.js';
import { AddressBookJson, addressBookText, MetadataJson, readAddressRows, tokenEntries } from '#api/v3/address-book.js';
import { AddressCollector, type AnswerPage, mapSchema } from '#api/v3/answer-type.js';
import { type V3Context, v3Switches } from '#api/v3/context.js';
import { COVERAGE_HEADER } from '#api/v3/coverage.js';
import {
  decodeMessage,
  decodeTransfer,
  decodeWallet,
  type GivenTransfer,
  liveTonConnectBody,
  liveTraceBody,
} from '#api/v3/emulate-input.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkedBocBase64, upperCaseRaw } from '#api/v3/json-pieces.js';
import { emulatedTransactions, writeLiveActions, writeLiveTransactions } from '#api/v3/live-answers.js';
import { EMULATION_PRICE } from '#api/v3/price.js';
import { TraceNodeSchema } from '#api/v3/traces.js';
import { transactionRow } from '#api/v3/transactions.js';
import { tokenMetadata } from '#domain/contracts/token-metadata.js';
import type { ActionTypeFilter } from '#drivers/store/read/actions.js';
import type { Cell } from '#formats/cells/cell.js';
import { ShardAccount } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toBase64 } from '#kernel/bytes.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import type { WorkSlices } from '#kernel/work-slices.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadOptions } from '#services/chain/read-context.js';
import type { ContractReads } from '#services/emulation/contract-reads.js';
import {
  EMULATED_VERSION,
  type EmulatedTrace,
  requireStateBlock,
  type TraceEmulation,
  type TraceRequest,
} from '#services/emulation/emulated-trace.js';
import { encodeTonConnect } from '#services/emulation/ton-connect.js';
import type { FoundContract, TraceMeanings } from '#services/emulation/trace-meanings.js';
import type { LiveTrace } from '#services/pending/live-trace.js';

/** What the emulation methods use of one network. */
interface EmulateNetwork {
  readonly chain: Pick<ChainReads, 'account' | 'head'>;
  readonly contracts: Pick<ContractReads, 'explainRefusal'>;
  readonly emulation: TraceEmulation;
  readonly meanings: TraceMeanings;
}

/** Context of one request. */
export interface EmulateContext {
  readonly network: EmulateNetwork;
  readonly profile: Profile;
  readonly switches: SwitchValues<EmulateSwitches>;
  /** Deadline and abort signal of the request, for reads of the chain. */
  readonly read: ReadOptions;
  /** Adds a header to the response. */
  readonly header: (name: string, value: string) => void;
  /** Reports work beside that of the price, in work units. */
  readonly worked: (units: number) => void;
  /** Divides what is written without I/O. */
  readonly slices: WorkSlices;
  /** Reads of the index, for the address book and metadata; null: the server has no index. */
  readonly index: V3Context | null;
}

const emulateEndpoint = endpointOf<EmulateContext>();

const flags = {
  with_actions: Type.Optional(Type.Boolean({ description: 'Classify the trace into `actions`.', default: false })),
  include_code_data: Type.Optional(
    Type.Boolean({ description: 'Include `code_cells` and `data_cells`.', default: false }),
  ),
  include_address_book: Type.Optional(Type.Boolean({ description: 'Include `address_book`.', default: false })),
  include_metadata: Type.Optional(Type.Boolean({ description: 'Include `metadata`.', default: false })),
  mc_block_seqno: Type.Optional(
    Type.Integer({
      description: 'Masterchain block whose state the emulation begins with. Default: the newest one.',
      minimum: 0,
      maximum: 0xffff_ffff,
    }),
  ),
};

const cells = (what: string) =>
  Type.Optional(
    mapSchema(Type.String({ contentEncoding: 'base64' }), {
      description: `${what} of all states before and after the transactions: bags of cells in base64, by hash in base64.`,
    }),
  );

const EmulateTraceResponse = Type.Object(
  {
    mc_block_seqno: Type.Integer({ description: 'Masterchain block whose state the emulation began with.' }),
    trace: TraceNodeSchema,
    transactions: mapSchema(transactionRow.schema, { description: 'By hash.' }),
    actions: Type.Array(actionValue.schema, {
      description: 'With `with_actions`: what happens, newest first; otherwise empty.',
    }),
    code_cells: cells('Codes'),
    data_cells: cells('Data'),
    address_book: Type.Optional(AddressBookJson),
    metadata: Type.Optional(MetadataJson),
    rand_seed: Type.String({ description: 'Random seed of the emulated blocks: 32 bytes in base64.' }),
    is_incomplete: Type.Boolean({
      description: 'More follows than 256 transactions, 4,096 messages, or a depth of 32.',
    }),
  },
  { $id: 'EmulateTraceResponse' },
);

type Asked = {
  readonly [Name in keyof typeof flags]?: Static<(typeof flags)[Name]> | undefined;
};

const TAG = 'Emulation';
const POST = ['POST'] as const;
const STATUSES = [422, 500, 504];

const emulateTrace = emulateEndpoint({
  name: 'v1/emulateTrace',
  verbs: POST,
  tag: TAG,
  summary: 'Emulates a message',
  description:
    'Runs a message and all that follows from it, without sending it: as if the next blocks contained it. External-in messages that ' +
    'the contract does not accept are refused (422) with its exit code; an internal message is emulated as if another account had ' +
    'sent it.',
  params: Type.Object(
    {
      boc: Type.String({
        description: 'The message: a bag of cells with one root in base64.',
        contentEncoding: 'base64',
      }),
      ignore_chksig: Type.Optional(Type.Boolean({ description: 'All signature checks succeed.', default: false })),
      ...flags,
    },
    { $id: 'EmulateRequest', additionalProperties: false },
  ),
  schemaName: 'Emulate',
  result: EmulateTraceResponse,
  statuses: STATUSES,
  price: () => EMULATION_PRICE,
  isQueuedElsewhere: true,
  freshness: 'none',
  liveBody: liveTraceBody,
  handle: (given, context) => {
    const message = decodeMessage(given.boc, context.profile);
    return emulate(message, given.ignore_chksig ?? false, given, shownActionTypes(undefined, context), context);
  },
});

const emulateTonConnect = emulateEndpoint({
  name: 'v1/emulateTonConnect',
  verbs: POST,
  tag: TAG,
  summary: 'Emulates a request of TON Connect',
  description:
    'Composes the message that a wallet would sign for a request of an application (`sendTransaction` of TON Connect), and emulates ' +
    'it without a signature. Wallets of versions 3, 4 and 5 are known.',
  params: Type.Object(
    {
      from: Type.String({ description: 'The wallet, in any form.', maxLength: 200 }),
      messages: Type.Array(
        Type.Object(
          {
            address: Type.String({
              description: 'Receiver; its form says whether the message bounces.',
              maxLength: 200,
            }),
            amount: Type.String({ description: 'Nanotons: a decimal number as text.', maxLength: 100 }),
            payload: Type.Optional(
              Type.Union([Type.String({ contentEncoding: 'base64' }), Type.Null()], {
                description: 'Body: a bag of cells in base64.',
              }),
            ),
            stateInit: Type.Optional(
              Type.Union([Type.String({ contentEncoding: 'base64' }), Type.Null()], {
                description: 'State to deploy: a bag of cells in base64.',
              }),
            ),
          },
          { $id: 'TonConnectMessage', additionalProperties: false },
        ),
        { description: 'Messages to send.', minItems: 1, maxItems: 4 },
      ),
      valid_until: Type.Optional(
        Type.Integer({
          description: 'Unix seconds until which the message is valid. Default: five minutes after the state.',
          minimum: 0,
          maximum: 0xffff_ffff,
        }),
      ),
      ...flags,
    },
    { $id: 'TonConnectEmulateRequest', additionalProperties: false },
  ),
  schemaName: 'TonConnectEmulate',
  result: EmulateTraceResponse,
  statuses: STATUSES,
  price: () => EMULATION_PRICE,
  isQueuedElsewhere: true,
  freshness: 'none',
  liveBody: liveTonConnectBody,
  handle: async (given, context) => {
    const { network, profile, read, switches } = context;
    const wallet = decodeWallet(given.from, profile);
    const transfers = (given.messages as readonly GivenTransfer[]).map((each, i) => decodeTransfer(each, i, profile));
    const { mc_block_seqno, valid_until = null } = given;
    const message = await namingParameters('from', context, async () => {
      if (mc_block_seqno !== undefined) {
        requireStateBlock(mc_block_seqno, (await network.chain.head(read)).block.seqno);
      }
      const state = await network.chain.account(wallet, { ...read, at: mc_block_seqno ?? 'head' });
      return encodeTonConnect(state, { wallet, transfers, valid_until });
    });
    // Without the header the live service shows types of version 1 only.
    const words = profile === 'toncenter' && switches.actionsVersion === null ? ['v1'] : undefined;
    return emulate(message, true, given, shownActionTypes(words, context), context);
  },
});

/** Says that the network has newer rules than the emulator. */
const EMULATOR_HEADER = 'X-Tern-Emulator';

async function emulate(
  message: Cell,
  ignore_chksig: boolean,
  asked: Asked,
  shown: ActionTypeFilter,
  context: EmulateContext,
): Promise<JsonText> {
  const { network, read, header } = context;
  const { mc_block_seqno: mc_seqno } = asked;
  requireIndex(asked, context);
  const request = { message, ignore_chksig, mc_seqno };
  const trace = await namingParameters('boc', context, () => network.emulation.emulateTrace(request, read), request);
  if (trace.global_version > EMULATED_VERSION) {
    header(EMULATOR_HEADER, `global_version=${EMULATED_VERSION}; network=${trace.global_version}`);
  }
  const needsContracts = asked.with_actions === true || asked.include_metadata === true;
  const meaning = needsContracts
    ? await network.meanings.meaningOf({ transactions: trace.transactions, mc_seqno: trace.mc_seqno }, read)
    : null;
  return answerOf(trace, meaning, asked, shown, context);
}

async function answerOf(
  trace: EmulatedTrace,
  meaning: Awaited<ReturnType<TraceMeanings['meaningOf']>> | null,
  asked: Asked,
  shown: ActionTypeFilter,
  context: EmulateContext,
): Promise<JsonText> {
  const { profile } = context;
  const transactions = emulatedTransactions(trace);
  context.worked(transactions.length * TRANSACTION_WORK);
  const { slices } = context;
  const external_hash = trace.message.hash();
  const origin = { trace_id: null, trace_external_hash: external_hash };
  const own: AnswerPage = { profile, addresses: new AddressCollector(), messages: new Map() };
  const written = await writeLiveTransactions(transactions, origin, own, slices);
  const addresses = new AddressCollector();
  for (const { account } of transactions) addresses.add(account);
  const live: LiveTrace = {
    ...{
      external_hash,
      external_hash_norm: external_hash,
      trace_id: null,
      transactions,
      finality: 'pending',
      since: 0,
    },
    actions: (meaning?.actions ?? []).map((action) => ({ finality: 'pending', action })),
    is_incomplete: trace.is_incomplete,
  };
  const actions =
    asked.with_actions === true
      ? await writeLiveActions(live, { shown, withTransactions: false }, { profile, addresses }, slices)
      : [];
  const parts = [
    `"mc_block_seqno":${trace.mc_seqno}`,
    `"trace":${written.treeJson}`,
    `"transactions":${written.transactionsJson}`,
    `"actions":[${actions.join(',')}]`,
  ];
  if (profile === 'toncenter' || asked.include_code_data === true) parts.push(...(await cellParts(trace, slices)));
  parts.push(...(await addressParts(addresses, meaning?.contracts ?? [], asked, context)));
  parts.push(`"rand_seed":"${Buffer.from(trace.rand_seed).toString('base64')}"`);
  parts.push(`"is_incomplete":${trace.is_incomplete}`);
  const text = `{${parts.join(',')}}`;
  if (text.length > MOST_CHARACTERS) throw v3Errors['answer-too-large']({ limit: `${MOST_CHARACTERS} characters` });
  return jsonText(text);
}

/** Characters of an answer. */
const MOST_CHARACTERS = 32 * 2 ** 20;

/** Work units of writing a transaction. */
const TRANSACTION_WORK = 0.2;

/** `code_cells` and `data_cells`. @throws v3/answer-too-large */
async function cellParts({ transactions }: EmulatedTrace, slices: WorkSlices): Promise<readonly string[]> {
  const codes = new Map<string, Cell>();
  const data = new Map<string, Cell>();
  for (const { before, after } of transactions) {
    if (slices.isOver) await slices.next();
    for (const state of [before, after]) {
      const account = decodeCell(ShardAccount, state).account.value;
      if (account.kind !== 'account' || account.storage.state.kind !== 'account_active') continue;
      const { code, data: own } = account.storage.state.state_init;
      if (code !== null) codes.set(toBase64(code.hash()), code);
      if (own !== null) data.set(toBase64(own.hash()), own);
    }
  }
  let characters = 0;
  const mapJson = async (all: ReadonlyMap<string, Cell>): Promise<string> => {
    const texts: string[] = [];
    for (const [hash, cell] of all) {
      if (slices.isOver) await slices.next();
      const text = `"${hash}":"${checkedBocBase64(cell)}"`;
      characters += text.length;
      if (characters > MOST_CHARACTERS) {
        throw v3Errors['answer-too-large']({ limit: `${MOST_CHARACTERS} characters` });
      }
      texts.push(text);
    }
    return texts.join(',');
  };
  return [`"code_cells":{${await mapJson(codes)}}`, `"data_cells":{${await mapJson(data)}}`];
}

/** Interfaces of tokens, and the kinds of their metadata. */
const TOKEN_KINDS = new Map([
  ['jetton_master', 'jetton_masters'],
  ['nft_collection', 'nft_collections'],
  ['nft_item', 'nft_items'],
] as const);

/** `address_book` and `metadata`, as far as they are asked for. */
async function addressParts(
  { byRaw }: AddressCollector,
  contracts: readonly FoundContract[],
  { include_address_book: book = false, include_metadata: metadata = false }: Asked,
  context: EmulateContext,
): Promise<readonly string[]> {
  if (!book && !metadata) return [];
  const { index } = context;
  if (index === null) return [];
  const raws = [...byRaw.keys()];
  const rows = await readAddressRows(byRaw, { domains: book, tokens: metadata }, index);
  const { header: coverage } = index.coverage;
  if (coverage !== null) context.header(COVERAGE_HEADER, coverage);
  const parts: string[] = [];
  if (book) parts.push(`"address_book":{${addressBookText(raws, rows)}}`);
  if (metadata) {
    const known = tokenEntries(raws, rows);
    const fresh = contracts.flatMap((contract) => {
      const raw = upperCaseRaw(contract.address);
      const text = rows.get(raw)?.metadata == null ? newTokenText(contract) : null;
      return text === null ? [] : [`"${raw}":${text}`];
    });
    parts.push(`"metadata":{${[...known, ...fresh].join(',')}}`);
  }
  return parts;
}

/** Metadata of a token that is not indexed: what its contract says of it. Null: it is no token. */
function newTokenText({ kind, values }: FoundContract): string | null {
  const type = TOKEN_KINDS.get(kind as 'nft_item');
  if (type === undefined) return null;
  const content = JSON.parse(values.content as string) as Readonly<Record<string, unknown>>;
  const { name, symbol, description, image, extra } = tokenMetadata(type, content, null, null);
  const index = type === 'nft_items' ? { nft_index: String(values.index) } : {};
  const more = Object.keys(extra).length === 0 ? {} : { extra };
  const info = { type, ...index, name, symbol, description, image, ...more };
  return JSON.stringify({ is_indexed: false, token_info: [info] });
}

/** @throws http/bad-parameter, v3/emulate-request when the request asks for what only an index has, and there is none */
function requireIndex({ include_address_book, include_metadata }: Asked, { index, profile }: EmulateContext): void {
  if (index !== null || (include_address_book !== true && include_metadata !== true)) return;
  if (profile === 'toncenter') {
    throw v3Errors['emulate-request']({ problem: 'address book and metadata are not available' });
  }
  const parameter = include_address_book === true ? 'include_address_book' : 'include_metadata';
  throw httpErrors['bad-parameter']({
    parameter,
    problem: 'this server has no index, so it must be left out or false',
  });
}

/**
 * Errors about what is emulated name the parameter, and say what is wrong with a message that is refused; in the `toncenter` profile
 * they have texts of their own.
 */
async function namingParameters<T>(
  parameter: string,
  { network, profile, read }: EmulateContext,
  work: () => Promise<T>,
  refused?: Pick<TraceRequest, 'message' | 'mc_seqno'>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isAbout = isTernError(error) && error.class === 'caller' && error.code.startsWith('emulation/');
    if (!isAbout || profile === 'toncenter') throw error;
    if (error.code === 'emulation/too-new' || error.code === 'emulation/no-state') {
      throw httpErrors['bad-parameter']({ parameter: 'mc_block_seqno', problem: error.message }, error);
    }
    let problem = error.message;
    if (error.code === 'emulation/not-accepted' && refused !== undefined) {
      const { message, mc_seqno } = refused;
      const text = `exitcode=${String(error.data.exit_code)}`;
      const { explanation } = await network.contracts.explainRefusal(message, text, {
        ...read,
        at: mc_seqno ?? 'head',
      });
      problem = `${problem}. ${explanation}`;
    }
    throw httpErrors['bad-parameter']({ parameter, problem }, error);
  }
}

const REFUSED = 'failed to emulate shard block: ';
const NO_WALLET = {
  missing: 'Failed to fetch account state: Account not found in accounts_dict',
  undeployed: 'Account state no code or no data',
  unknown: 'Account is not a known wallet',
} as const;
/** Numbers of wallet kinds in texts of the live service. */
const LIVE_KINDS: Readonly<Record<string, number>> = {
  'wallet v1 r1': 0,
  'wallet v1 r2': 1,
  'wallet v1 r3': 2,
  'wallet v2 r1': 3,
  'wallet v2 r2': 4,
};

/** Texts of the live service about what is emulated, by code. */
const LIVE_TEXTS: Readonly<Record<string, (data: TernError['data']) => string>> = {
  'emulation/not-accepted': ({ exit_code }) => `${REFUSED}EmulationExternalNotAccepted: ${String(exit_code)}`,
  'emulation/no-account': ({ account }) =>
    `${REFUSED}cannot run message on account inbound external message rejected by account ${String(account)} before smart-contract execution`,
  'emulation/no-shard': () => 'no shard found for message',
  'emulation/too-new': () => 'mc block seqno is too new',
  'emulation/no-state': ({ mc_seqno }) => `failed to fetch mc block  ${String(mc_seqno)}: block not in db`,
  'emulation/no-wallet': ({ why, wallet_type }) =>
    why === 'unsupported' && String(wallet_type) in LIVE_KINDS
      ? `Unsupported wallet type: ${LIVE_KINDS[String(wallet_type)]}`
      : NO_WALLET[why === 'unsupported' ? 'unknown' : (why as 'unknown')],
  'v3/emulate-failed': ({ problem }) => String(problem),
};

/** Status and text of an error as of the live emulation service. */
function failureText(error: TernError, { profile, method, path }: FailedRequest) {
  if (profile === 'spec') return null;
  const { code, data } = error;
  const live = LIVE_TEXTS[code];
  if (live !== undefined) return { status: 500, text: live(data) };
  if (code === 'v3/emulate-request') return { status: 400, text: `invalid request: ${String(data.problem)}` };
  const isGet = method === 'GET' || method === 'HEAD';
  if (code === 'http/method-not-allowed' || code === 'http/not-found') {
    if (isGet) return { status: 404, text: `Cannot GET ${path.replace(/^\/api\/emulate\//i, '')}` };
    return { status: 405, text: 'Method Not Allowed' };
  }
  return null;
}

const DESCRIPTION = `What a message would do, without sending it: the transactions that follow from it, and what they mean.

The emulation begins with proven state after the newest masterchain block, or after the one that the request names, and goes on as
the next blocks would: the messages of a block in the order of logical time, messages to other shards some blocks later. Contracts
that the trace deploys are recognised, so actions and metadata include tokens that do not exist yet. Address book and metadata need
an index; a server without one refuses requests for them. The header
\`X-Tern-Emulator\` of an answer says that the network has newer rules than the emulator.

Under \`/toncenter/api/emulate\` answers and errors are those of the live service.`;

const switches = { actionsVersion: v3Switches.actionsVersion } as const;

export type EmulateSwitches = typeof switches;

/** The emulation API as its document describes it. */
export const emulateDescription = {
  prefix: '/api/emulate',
  title: 'TON Emulate API',
  version: '1.0',
  description: DESCRIPTION,
  style: 'plain',
  profiles: 'separate',
  tags: [{ name: TAG, description: 'Messages that are not sent' }],
  endpoints: [emulateTrace, emulateTonConnect] as readonly AnyEndpoint<EmulateContext>[],
  switches,
  failureText,
} as const;
