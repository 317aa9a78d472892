import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { answerObject, bocText, hash256Field, integerField, optionalField } from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { MISSING_INPUT } from '#api/v3/legacy-accounts.js';
import { accountParameter, invalidParameter, quotedInput } from '#api/v3/parameters.js';
import { cellOfSlice, consList } from '#domain/contracts/get-method.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { type ExternalInMessage, normalizedExternalHash, readExternalInMessage } from '#formats/tlb/message.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { type VmStackValue, vmCell, vmInt, vmSlice } from '#formats/tlb/vm-value.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { SendDiagnosis } from '#services/emulation/contract-reads.js';

export const V2SendMessageResult = answerObject('V2SendMessageResult', {
  message_hash: hash256Field('Hash of the message as it was sent.'),
  message_hash_norm: optionalField(hash256Field('The hash that does not depend on how it was stored (TEP-467).')),
});

export const V2StackEntity = answerObject(
  'V2StackEntity',
  {
    type: Type.String({ description: '`num`, `cell`, `slice`, `tuple` or `list`.' }),
    value: Type.Any({
      description: 'Text: a number, or a bag of cells in base64; of tuples and lists an array of such entries.',
    }),
  },
  'A value on a stack.',
);

export const V2RunGetMethodResult = answerObject('V2RunGetMethodResult', {
  gas_used: integerField('Gas.'),
  exit_code: integerField('0 and 1 are success.'),
  stack: Type.Array(V2StackEntity, { description: 'Results, the first one first.' }),
});

const V2EstimatedFee = answerObject('V2EstimatedFee', {
  in_fwd_fee: integerField('Nanotons for taking the message in.'),
  storage_fee: integerField('Nanotons of rent.'),
  gas_fee: integerField('Nanotons for gas.'),
  fwd_fee: integerField('Nanotons for the messages that it sends.'),
});

export const V2EstimateFeeResult = answerObject('V2EstimateFeeResult', {
  source_fees: V2EstimatedFee,
  destination_fees: Type.Array(V2EstimatedFee, { description: 'Not computed: empty.' }),
});

export const DecodeResponse = answerObject('DecodeResponse', {
  opcodes: Type.Array(Type.String(), { description: 'Names, in the order asked for; `unknown` for one without.' }),
  bodies: Type.Array(
    Type.Object({}, { additionalProperties: true, description: 'A body by its layout, or `error` with the reason.' }),
  ),
});

/** `boc`: a message from outside. */
export const externalMessageParameter = Type.Transform(
  Type.String({
    description: 'The message, with its header (`ext_in_msg_info$10`): a bag of cells with one root in base64.',
    contentEncoding: 'base64',
  }),
)
  .Decode((text): ExternalInMessage => {
    const boc = decodeBase64(text);
    const cell = rootCell(boc);
    return refusedAsParameter('it is a cell, but no message that can be sent', () => readExternalInMessage(cell, boc));
  })
  .Encode(({ boc }) => toBase64(boc));

/** A cell in a bag of cells; an empty text is none. */
export function optionalCellBocParameter(description: string) {
  return Type.Optional(
    Type.Transform(Type.String({ description, contentEncoding: 'base64' }))
      .Decode((text) => (text === '' ? undefined : rootCell(decodeBase64(text))))
      .Encode((cell) => (cell === undefined ? '' : toBase64(serializeBoc(cell)))),
  );
}

/** @throws v3/parameter-value */
export function decodeBocText(text: string): Cell {
  return rootCell(decodeBase64(text));
}

function decodeBase64(text: string): Uint8Array {
  if (text === '') throw invalidParameter('it is empty');
  // Standard base64 only, with its padding: what follows a - or _ may mean something else.
  const bytes = text.length % 4 === 0 && !/[-_]/.test(text) ? fromBase64(text) : null;
  if (bytes !== null) return bytes;
  throw invalidParameter('it is not base64 in the standard alphabet, with padding');
}

function rootCell(bytes: Uint8Array): Cell {
  return refusedAsParameter('it is base64, but not a bag of cells', () => wholeCell(bytes));
}

/** What `read` gives; whatever is wrong with its input is wrong with the value. */
function refusedAsParameter<T>(problem: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isTernError(error) ? invalidParameter(`${problem}: ${error.message}`, error) : error;
  }
}

/** An argument of a get method as a request gives it. */
export interface StackArgument {
  readonly type: string;
  readonly value: unknown;
}

const MIN_INT257 = -(1n << 256n);
const MAX_INT257 = (1n << 256n) - 1n;

/** Types of arguments; the reference hands the last two on as they are called there. */
const ARGUMENT_READERS: ReadonlyMap<string, (value: string) => VmStackValue> = new Map([
  ['num', decodeNumber],
  ['cell', (value) => vmCell(decodeBocText(value))],
  ['slice', (value) => vmSliceOf(decodeBocText(value))],
  ['tvm.Cell', (value) => vmCell(decodeBocText(value))],
  ['tvm.Slice', (value) => vmSliceOf(decodeBocText(value))],
]);

/** @throws v3/parameter-value */
export function decodeStack(entries: readonly StackArgument[]): VmStack {
  return entries.map(({ type, value }, index) => {
    const read = ARGUMENT_READERS.get(type);
    if (read === undefined)
      throw invalidParameter(`at ${index}: unsupported stack parameter type: ${quotedInput(type)}`);
    if (typeof value !== 'string') throw invalidParameter(`at ${index}: the value is no text`);
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

/** A result of a get method. */
export interface StackEntry {
  readonly type: string;
  readonly value: string | readonly StackEntry[];
}

/** Deepest nesting of tuples and lists in an answer. */
const MAX_LEVELS = 256;

/**
 * Results of a get method: numbers in hexadecimal, cells and slices as bags of cells; a slice that is no part of a tuple is
 * called a cell, as in the live service. Pairs that end in null are a list, and null is an empty one.
 * @throws v3/result-depth
 */
export function encodeStack(stack: VmStack): StackEntry[] {
  return stack.map((value) => {
    const entry = entryOf(value, 0);
    return entry.type === 'slice' ? { ...entry, type: 'cell' } : entry;
  });
}

function entryOf(value: VmStackValue, level: number): StackEntry {
  if (level > MAX_LEVELS) throw v3Errors['result-depth']({ limit: MAX_LEVELS });
  const all = (values: readonly VmStackValue[]) => values.map((one) => entryOf(one, level + 1));
  switch (value.kind) {
    case 'vm_stk_tinyint':
    case 'vm_stk_int':
      return { type: 'num', value: hexOf(value.value) };
    case 'vm_stk_cell':
      return { type: 'cell', value: bocOf(value.cell) };
    case 'vm_stk_slice':
      return { type: 'slice', value: bocOf(cellOfSlice(value.slice)) };
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

function bocOf(cell: Cell): string {
  return bocText(cell).slice(1, -1);
}

/** `0x2a`, `-0x1`, `0x0` */
function hexOf(value: bigint): string {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

const TAG = 'Api/v2';
const POST = ['POST'] as const;

/** Says who ran a get method, when it was not run here on proven state. */
const RAN_ON_HEADER = 'X-Tern-Get-Method';
/** Says why the real fees may differ from the estimate. */
const ESTIMATE_HEADER = 'X-Tern-Fee-Estimate';

/** A text as the value of a header: printable ASCII, not long. */
function headerText(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200);
}

const message = v3Endpoint({
  name: 'message',
  verbs: POST,
  tag: TAG,
  summary: 'Sends a message',
  description:
    'Sends a signed message from outside, such as an order to a wallet, to several nodes at once. It is sent when one of ' +
    'them takes it, which says that the contract accepted it in a trial run. A refusal (500) has the text of the node and, ' +
    'below it, what is wrong in words.',
  params: Type.Object({ boc: externalMessageParameter }, { $id: 'V2SendMessageRequest', additionalProperties: false }),
  result: V2SendMessageResult,
  statuses: [404, 422, 500, 504],
  errorStatuses: { ...MISSING_INPUT, [v3Errors['message-refused'].code]: 500 },
  freshness: 'none',
  handle: async ({ boc: sent }, context) => {
    await send(sent, context);
    return {
      message_hash: toBase64(sent.cell.hash()),
      message_hash_norm: toBase64(normalizedExternalHash(sent.message)),
    };
  },
});

/** @throws v3/message-refused, chain/*, lite/* */
async function send({ boc, cell }: ExternalInMessage, { network, read }: V3Context): Promise<void> {
  try {
    await network.chain.send(boc, read);
  } catch (error) {
    if (!isTernError(error, 'chain/message-refused')) throw error;
    const nodeText = String(error.data.text);
    const { reason, explanation } = await explain(cell, nodeText, { network, read });
    throw v3Errors['message-refused']({ nodeText, reason, explanation }, error);
  }
}

/** An explanation that cannot be had must not hide what the node said. */
async function explain(
  cell: Cell,
  nodeText: string,
  { network, read }: Pick<V3Context, 'network' | 'read'>,
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
  Type.Array(V2StackEntity, {
    description:
      'Arguments, the first one first: `num` (text in decimal or hexadecimal), `cell` and `slice` (a bag of cells in base64).',
    maxItems: 1_000,
    examples: [[]],
  }),
)
  .Decode((entries) => decodeStack(entries as { type: string; value: unknown }[]))
  .Encode(() => []);

const runGetMethod = v3Endpoint({
  name: 'runGetMethod',
  verbs: POST,
  tag: TAG,
  summary: 'Runs a get method',
  description:
    'Runs a get method of a contract on its state after the newest masterchain block. Whatever the contract does, throwing ' +
    'included, is a result with an `exit_code`: 0 and 1 are success, -13 says that the account has no code. Numbers in ' +
    'results are hexadecimal; tuples and lists have their items as `value`.',
  params: Type.Object(
    {
      address: accountParameter('Contract'),
      method: Type.String({
        description: 'Name of the get method.',
        minLength: 1,
        maxLength: 1_000,
        examples: ['seqno'],
      }),
      stack: Type.Optional(stack),
    },
    { $id: 'V2RunGetMethodRequest', additionalProperties: false },
  ),
  result: V2RunGetMethodResult,
  statuses: [404, 422, 500, 504],
  errorStatuses: MISSING_INPUT,
  freshness: 'head',
  handle: async ({ address, method, stack: given = [] }, { network, read, header }) => {
    const run = await network.contracts.runGetMethod(address, method, given, read);
    if (run.ran_on === 'node') header(RAN_ON_HEADER, `node; reason=${headerText(run.ran_on_reason ?? 'unknown')}`);
    return { gas_used: run.gas_used, exit_code: run.exit_code, stack: encodeStack(run.stack) };
  },
});

const estimateFee = v3Endpoint({
  name: 'estimateFee',
  verbs: POST,
  tag: TAG,
  summary: 'What a message would cost',
  description:
    'Fees of a message from outside, in nanotons, by running it on the state after the newest masterchain block without ' +
    'sending it. It need not be signed when `ignore_chksig` is true.',
  params: Type.Object(
    {
      address: accountParameter('Account that is to receive the message'),
      body: optionalCellBocParameter('Body of the message: a bag of cells in base64. Empty: an empty one.'),
      init_code: optionalCellBocParameter('Code to deploy: a bag of cells in base64. Empty: none.'),
      init_data: optionalCellBocParameter('Data to deploy: a bag of cells in base64. Empty: none.'),
      ignore_chksig: Type.Optional(Type.Boolean({ description: 'Take every signature as right. Default: false.' })),
    },
    { $id: 'V2EstimateFeeRequest', additionalProperties: false },
  ),
  result: V2EstimateFeeResult,
  statuses: [404, 422, 500, 504],
  freshness: 'none',
  handle: async (question, { network, read, header }) => {
    const { address, body = EMPTY_CELL, init_code = null, init_data = null, ignore_chksig = false } = question;
    const parts = { address, body, init_code, init_data, ignore_chksig };
    const fees = await network.contracts.estimateFee(parts, read);
    if (fees.caveat !== null) header(ESTIMATE_HEADER, `approximate; reason=${headerText(fees.caveat)}`);
    return {
      source_fees: {
        in_fwd_fee: Number(fees.in_fwd_fee),
        storage_fee: Number(fees.storage_fee),
        gas_fee: Number(fees.gas_fee),
        fwd_fee: Number(fees.fwd_fee),
      },
      destination_fees: [],
    };
  },
});

/** Methods that API v2 has as well, about messages and get methods. */
export const legacyCallEndpoints: readonly AnyEndpoint<V3Context>[] = [message, runGetMethod, estimateFee];
