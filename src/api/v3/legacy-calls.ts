import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, type JsonText, jsonText } from '#api/http/endpoint.js';
import { FOLLOW_HEADER, followUrl } from '#api/http/follow-url.js';
import {
  AddressCollector,
  type AnswerValue,
  answerType,
  answerValue,
  hash,
  integer,
  list,
  optional,
  text,
  writeAnswerJson,
} from '#api/v3/answer-type.js';
import { type V3ChainContext, v3ChainEndpoint } from '#api/v3/context.js';
import { NEEDS_NOTHING } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkedBocBase64 } from '#api/v3/json-pieces.js';
import { MISSING_INPUT } from '#api/v3/legacy-accounts.js';
import { invalidParameter, quotedInput, v3AccountParameter } from '#api/v3/parameters.js';
import { EMULATION_PRICE, GET_METHOD_PRICE, SEND_PRICE } from '#api/v3/price.js';
import { cellOfSlice, consList } from '#domain/contracts/get-method.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import {
  type ExternalInMessage,
  MAX_EXTERNAL_MESSAGE_BYTES,
  normalizedExternalHash,
  readExternalInMessage,
} from '#formats/tlb/message.js';
import { MAX_STACK_BYTES, type VmStack, type VmStackValue, vmCell, vmInt, vmSlice } from '#formats/tlb/vm-stack.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { SendDiagnosis } from '#services/emulation/contract-reads.js';
import { exitCodeIn } from '#services/emulation/explain-refusal.js';
import { GAS_PER_WORK_UNIT } from '#services/emulation/gas-work.js';

const V2SendMessageResult = answerType('V2SendMessageResult', {
  message_hash: hash('Hash of the message as it was sent.'),
  message_hash_norm: optional(hash('Normalised hash of the message (TEP-467).')),
  follow: optional(text('Path of a URL that says what becomes of the message; also in the header `X-Tern-Follow`.')),
});

/** A result of a get-method. */
interface StackEntry {
  readonly type: string;
  readonly value: string | readonly StackEntry[];
}

const StackEntrySchema = Type.Object(
  {
    type: Type.String({ description: '`num`, `cell`, `slice`, `tuple` or `list`.' }),
    value: Type.Any({
      description: 'A string: a number, or a bag of cells in base64; of tuples and lists an array of such entries.',
    }),
  },
  { $id: 'V2StackEntity', description: 'A stack entry.' },
);

const V2RunGetMethodResult = answerType('V2RunGetMethodResult', {
  gas_used: integer('Gas.'),
  exit_code: integer('0 and 1 are success.'),
  stack: list(
    answerValue<StackEntry>(StackEntrySchema, (entry) => JSON.stringify(entry)),
    'Results, the first one first.',
  ),
});

const V2EstimatedFee = answerType('V2EstimatedFee', {
  in_fwd_fee: integer('Import fee of the message in nanotons.'),
  storage_fee: integer('Storage fee in nanotons.'),
  gas_fee: integer('Gas fee in nanotons.'),
  fwd_fee: integer('Forward fees of the messages that it sends in nanotons.'),
});

const V2EstimateFeeResult = answerType('V2EstimateFeeResult', {
  source_fees: V2EstimatedFee,
  destination_fees: list(V2EstimatedFee, 'Not computed: empty.'),
});

/** JSON of the answer of a method that names no address. */
function answerOf<Input>(type: AnswerValue<Input>, value: Input, { profile }: V3ChainContext): JsonText {
  return jsonText(writeAnswerJson(type, value, { profile, addresses: new AddressCollector() }));
}

/** `boc`: an external-in message. */
const externalMessageParameter = Type.Transform(
  Type.String({
    description: 'The message, with its header (`ext_in_msg_info$10`): a bag of cells with one root in base64.',
    contentEncoding: 'base64',
  }),
)
  .Decode((text): ExternalInMessage => {
    const boc = decodeMessagePart(text);
    const cell = rootCell(boc);
    return refusedAsParameter('it is a cell, but no external-in message', () => readExternalInMessage(cell, boc));
  })
  .Encode(({ boc }) => toBase64(boc));

/** A bag of cells with one root; an empty text is none. */
function optionalCellBocParameter(description: string) {
  return Type.Optional(
    Type.Transform(Type.String({ description, contentEncoding: 'base64' }))
      .Decode((text) => (text === '' ? undefined : rootCell(decodeMessagePart(text))))
      .Encode((cell) => (cell === undefined ? '' : toBase64(serializeBoc(cell)))),
  );
}

/** @throws v3/parameter-value */
function decodeBocText(text: string): Cell {
  return rootCell(decodeBase64(text));
}

function decodeBase64(text: string): Uint8Array {
  if (text === '') throw invalidParameter('it is empty');
  // Standard base64 with padding only: base64url could hide a mistake in the encoding of the URL.
  const bytes = text.length % 4 === 0 && !/[-_]/.test(text) ? fromBase64(text) : null;
  if (bytes !== null) return bytes;
  throw invalidParameter('it is not base64 in the standard alphabet, with padding');
}

/** A message or a part of one; larger ones are refused before they are parsed. @throws v3/parameter-value */
function decodeMessagePart(text: string): Uint8Array {
  const bytes = decodeBase64(text);
  if (bytes.length <= MAX_EXTERNAL_MESSAGE_BYTES) return bytes;
  const most = `nodes take external-in messages of at most ${MAX_EXTERNAL_MESSAGE_BYTES}`;
  throw invalidParameter(`it has ${bytes.length} bytes; ${most}`);
}

function rootCell(bytes: Uint8Array): Cell {
  return refusedAsParameter('it is base64, but not a bag of cells', () => wholeCell(bytes));
}

/** Runs `read`; errors of it become errors of the parameter. */
function refusedAsParameter<T>(problem: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isTernError(error) ? invalidParameter(`${problem}: ${error.message}`, error) : error;
  }
}

/** Of the values of a stack: numbers, and bags of cells in base64. */
const MAX_STACK_CHARACTERS = 4 * Math.ceil(MAX_STACK_BYTES / 3);

/** An argument of a get-method in a request. */
interface StackArgument {
  readonly type: string;
  readonly value: unknown;
}

const MIN_INT257 = -(1n << 256n);
const MAX_INT257 = (1n << 256n) - 1n;

/** Types of arguments; the live service passes the last two on under these names. */
const ARGUMENT_READERS: ReadonlyMap<string, (value: string) => VmStackValue> = new Map([
  ['num', decodeNumber],
  ['cell', (value) => vmCell(decodeBocText(value))],
  ['slice', (value) => vmSliceOf(decodeBocText(value))],
  ['tvm.Cell', (value) => vmCell(decodeBocText(value))],
  ['tvm.Slice', (value) => vmSliceOf(decodeBocText(value))],
]);

/** @throws v3/parameter-value */
function decodeStack(entries: readonly StackArgument[]): VmStack {
  const characters = entries.reduce((sum, { value }) => sum + (typeof value === 'string' ? value.length : 0), 0);
  if (characters > MAX_STACK_CHARACTERS) {
    throw invalidParameter(`the stack has more than ${MAX_STACK_BYTES} bytes, which nodes do not take`);
  }
  return entries.map(({ type, value }, index) => {
    const read = ARGUMENT_READERS.get(type);
    if (read === undefined)
      throw invalidParameter(`at ${index}: unsupported stack parameter type: ${quotedInput(type)}`);
    if (typeof value !== 'string') throw invalidParameter(`at ${index}: the value is not a string`);
    try {
      return read(value);
    } catch (error) {
      throw invalidParameter(`at ${index}: ${error instanceof Error ? error.message : String(error)}`, error);
    }
  });
}

function decodeNumber(text: string): VmStackValue {
  const match = text.length > 100 ? null : /^([+-]?)(0[xX][0-9a-fA-F]+|[0-9]+)$/.exec(text);
  if (match === null) throw invalidParameter(`${quotedInput(text)} is not an integer, decimal or hexadecimal with 0x`);
  const magnitude = BigInt(match[2] as string);
  const value = match[1] === '-' ? -magnitude : magnitude;
  if (value < MIN_INT257 || value > MAX_INT257) throw invalidParameter(`${quotedInput(text)} does not fit 257 bits`);
  return vmInt(value);
}

function vmSliceOf(cell: Cell): VmStackValue {
  if (cell.type !== CellType.ordinary) throw invalidParameter('a slice of an exotic cell cannot be made');
  return vmSlice(cell);
}

/** Deepest nesting of tuples and lists in an answer. */
const MAX_LEVELS = 256;

/**
 * Results of a get-method: numbers in hexadecimal, cells and slices as bags of cells; a slice outside of tuples has the type
 * `cell`, as in the live service. Cons pairs that end in null are a list, and null is an empty one.
 * @throws v3/result-depth, v3/result-size
 */
function encodeStack(stack: VmStack): StackEntry[] {
  const cells = new ResultCells();
  return stack.map((value) => {
    const entry = entryOf(value, 0, cells);
    return entry.type === 'slice' ? { ...entry, type: 'cell' } : entry;
  });
}

/** Characters of base64 of all cells of a result: a contract can put a cell on the stack as often as it likes. */
const MAX_RESULT_CHARACTERS = 2 ** 21;

/** Writes the cells of one result. */
class ResultCells {
  #left = MAX_RESULT_CHARACTERS;

  /** A bag of cells in base64. @throws v3/result-size */
  boc(cell: Cell): string {
    const text = checkedBocBase64(cell);
    this.#left -= text.length;
    if (this.#left < 0) throw v3Errors['result-size']({ limit: MAX_RESULT_CHARACTERS });
    return text;
  }
}

function entryOf(value: VmStackValue, level: number, cells: ResultCells): StackEntry {
  if (level > MAX_LEVELS) throw v3Errors['result-depth']({ limit: MAX_LEVELS });
  const all = (values: readonly VmStackValue[]) => values.map((one) => entryOf(one, level + 1, cells));
  switch (value.kind) {
    case 'vm_stk_tinyint':
    case 'vm_stk_int':
      return { type: 'num', value: hexOf(value.value) };
    case 'vm_stk_cell':
      return { type: 'cell', value: cells.boc(value.cell) };
    case 'vm_stk_slice':
      return { type: 'slice', value: cells.boc(cellOfSlice(value.slice)) };
    case 'vm_stk_null':
      return { type: 'list', value: [] };
    case 'vm_stk_tuple': {
      const { heads, rest } = consList(value);
      const isList = heads.length > 0 && rest.kind === 'vm_stk_null';
      return isList ? { type: 'list', value: all(heads) } : { type: 'tuple', value: all(value.data) };
    }
    default:
      return { type: 'unsupported', value: '' };
  }
}

/** `0x2a`, `-0x1`, `0x0` */
function hexOf(value: bigint): string {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

const TAG = 'Api/v2';
const POST = ['POST'] as const;

/**
 * Says that a node ran a get-method, and why it was not run here on proven state; or that the result is that of an earlier run,
 * which ran out of gas.
 */
const RAN_ON_HEADER = 'X-Tern-Get-Method';
/** Says why the real fees may differ from the estimate. */
const ESTIMATE_HEADER = 'X-Tern-Fee-Estimate';

/** A text as a header value: printable ASCII, at most 200 characters. */
function headerText(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200);
}

const message = v3ChainEndpoint({
  name: 'message',
  verbs: POST,
  tag: TAG,
  summary: 'Sends a message',
  description:
    'Sends a signed external-in message, such as a transfer from a wallet, to several nodes at once. It counts as sent when one ' +
    'of them accepts it, which means that the contract accepted it in a trial run. A refusal (500) has the text of the node ' +
    'and, below it, an explanation.',
  params: Type.Object({ boc: externalMessageParameter }, { $id: 'V2SendMessageRequest', additionalProperties: false }),
  result: V2SendMessageResult.schema,
  statuses: [404, 422, 500, 504],
  errorStatuses: { ...MISSING_INPUT, [v3Errors['message-refused'].code]: 500 },
  price: () => SEND_PRICE,
  coverage: NEEDS_NOTHING,
  freshness: 'none',
  handle: async ({ boc: sent }, context) => {
    const isFollowed = await send(sent, context);
    const message_hash_norm = normalizedExternalHash(sent.message);
    const url = isFollowed ? followUrl(message_hash_norm) : null;
    if (url !== null) context.header(FOLLOW_HEADER, url);
    // Bodies of the live service have nothing more.
    const follow = context.profile === 'spec' ? url : null;
    return answerOf(V2SendMessageResult, { message_hash: sent.cell.hash(), message_hash_norm, follow }, context);
  },
});

/** @returns whether it is followed from now on. @throws v3/message-refused, chain/*, lite/* */
async function send(sent: ExternalInMessage, { network, read }: V3ChainContext): Promise<boolean> {
  const { boc, cell } = sent;
  try {
    await network.chain.send(boc, read);
    return network.pending?.submit(sent, 'sent') === true;
  } catch (error) {
    if (!isTernError(error, 'chain/message-refused')) throw error;
    const nodeText = String(error.data.text);
    const { reason, explanation } = await explain(cell, nodeText, { network, read });
    network.pending?.refused(sent, { problem: explanation, exit_code: exitCodeIn(nodeText) });
    throw v3Errors['message-refused']({ nodeText, reason, explanation }, error);
  }
}

/** A failure to explain must not hide the error of the node. */
async function explain(
  cell: Cell,
  nodeText: string,
  { network, read }: Pick<V3ChainContext, 'network' | 'read'>,
): Promise<SendDiagnosis> {
  try {
    return await network.contracts.explainRefusal(cell, nodeText, read);
  } catch (error) {
    if (!isTernError(error)) throw error;
    const explanation = `What is wrong with the message could not be looked up: ${error.message}.`;
    return { reason: 'unknown', explanation };
  }
}

const stack = Type.Transform(
  Type.Array(StackEntrySchema, {
    description:
      'Arguments, the first one first: `num` (text in decimal or hexadecimal), `cell` and `slice` (a bag of cells in base64).',
    maxItems: 1_000,
    examples: [[]],
  }),
)
  .Decode((entries) => decodeStack(entries as { type: string; value: unknown }[]))
  .Encode(() => []);

const runGetMethod = v3ChainEndpoint({
  name: 'runGetMethod',
  verbs: POST,
  tag: TAG,
  summary: 'Runs a get-method',
  description:
    'Runs a get-method of a contract on its state after the newest masterchain block. Exceptions are results as well, with an ' +
    '`exit_code`: 0 and 1 are success, -13 means that the account has no code. Numbers in results are hexadecimal; tuples ' +
    'and lists have their items as `value`.',
  params: Type.Object(
    {
      address: v3AccountParameter('Contract'),
      method: Type.String({
        description: 'Name of the get-method.',
        minLength: 1,
        maxLength: 1_000,
        examples: ['seqno'],
      }),
      stack: Type.Optional(stack),
    },
    { $id: 'V2RunGetMethodRequest', additionalProperties: false },
  ),
  result: V2RunGetMethodResult.schema,
  statuses: [404, 422, 500, 504],
  errorStatuses: MISSING_INPUT,
  price: () => GET_METHOD_PRICE,
  isQueuedElsewhere: true,
  coverage: NEEDS_NOTHING,
  freshness: 'head',
  readsChain: true,
  handle: async ({ address, method, stack: given = [] }, context) => {
    const { network, read, header, worked } = context;
    const run = await network.contracts.runGetMethod(address, method, given, read);
    worked(run.gas_used / GAS_PER_WORK_UNIT);
    if (run.remembered_ms !== null) header(RAN_ON_HEADER, `memory; age=${Math.round(run.remembered_ms / 1000)}`);
    if (run.ran_on === 'node') header(RAN_ON_HEADER, `node; reason=${headerText(run.ran_on_reason ?? 'unknown')}`);
    return answerOf(V2RunGetMethodResult, { ...run, stack: encodeStack(run.stack) }, context);
  },
});

const estimateFee = v3ChainEndpoint({
  name: 'estimateFee',
  verbs: POST,
  tag: TAG,
  summary: 'Estimates the fees of a message',
  description:
    'Fees of an external-in message, in nanotons, estimated by running it on the state after the newest masterchain block ' +
    'without sending it. It need not be signed if `ignore_chksig` is true.',
  params: Type.Object(
    {
      address: v3AccountParameter('Receiver of the message'),
      body: optionalCellBocParameter('Body of the message: a bag of cells in base64. Empty: an empty one.'),
      init_code: optionalCellBocParameter('Code to deploy: a bag of cells in base64. Empty: none.'),
      init_data: optionalCellBocParameter('Data to deploy: a bag of cells in base64. Empty: none.'),
      ignore_chksig: Type.Optional(Type.Boolean({ description: 'Accept every signature. Default: false.' })),
    },
    { $id: 'V2EstimateFeeRequest', additionalProperties: false },
  ),
  result: V2EstimateFeeResult.schema,
  statuses: [404, 422, 500, 504],
  price: () => EMULATION_PRICE,
  isQueuedElsewhere: true,
  coverage: NEEDS_NOTHING,
  freshness: 'none',
  handle: async (request, context) => {
    const { network, read, header } = context;
    const { address, body = EMPTY_CELL, init_code = null, init_data = null, ignore_chksig = false } = request;
    const parts = { address, body, init_code, init_data, ignore_chksig };
    const fees = await network.contracts.estimateFee(parts, read);
    if (fees.caveat !== null) header(ESTIMATE_HEADER, `approximate; reason=${headerText(fees.caveat)}`);
    return answerOf(V2EstimateFeeResult, { source_fees: fees, destination_fees: [] }, context);
  },
});

/** Methods for messages and get-methods that API v2 has as well. */
export const legacyCallEndpoints: readonly AnyEndpoint<V3ChainContext>[] = [message, runGetMethod, estimateFee];
