import { type Static, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { FOLLOW_HEADER, followUrl } from '#api/http/follow-url.js';
import { headerText, type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { base64Length, decodeBase64, parsedAddressParameter } from '#api/v2/parameters.js';
import { PRICE } from '#api/v2/price.js';
import { cellOfTree, treeOfCell } from '#api/v2/stack-forms.js';
import { hashField, typeName, v2Object } from '#api/v2/ton-objects.js';
import type { ParsedAddress } from '#formats/address/address.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { SimpleLibs, StateInit } from '#formats/tlb/account.js';
import { encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import {
  type ExternalInMessage,
  MAX_EXTERNAL_MESSAGE_BYTES,
  Message,
  normalizedExternalHash,
  readExternalInMessage,
} from '#formats/tlb/message.js';
import { toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { FeeEstimate, SendDiagnosis } from '#services/emulation/contract-reads.js';
import { exitCodeIn } from '#services/emulation/explain-refusal.js';

const ResultOk = v2Object(
  'ResultOk',
  { '@type': typeName('ok') },
  { description: 'A node accepted the message; its effect shows on the chain.' },
);
type ResultOk = Static<typeof ResultOk>;

const ExtMessageInfo = v2Object(
  'ExtMessageInfo',
  {
    '@type': typeName('raw.extMessageInfo'),
    hash: hashField('Hash of the message as sent.'),
    hash_norm: hashField(
      'Normalized hash, which does not depend on how the message is stored (TEP-467): use it to look up the message.',
    ),
  },
  { description: 'An external-in message that a node accepted.' },
);
type ExtMessageInfo = Static<typeof ExtMessageInfo>;

const nanotons = (description: string) => Type.Integer({ description: `${description} Nanotons.`, format: 'int64' });

const Fees = v2Object('Fees', {
  '@type': typeName('fees'),
  in_fwd_fee: nanotons('Fee for importing the message.'),
  storage_fee: nanotons('Storage fee due since the last payment.'),
  gas_fee: nanotons('Gas fee.'),
  fwd_fee: nanotons('Forward fees of the sent messages.'),
});

const QueryFees = v2Object(
  'QueryFees',
  {
    '@type': typeName('query.fees'),
    source_fees: Fees,
    destination_fees: Type.Array(Fees, { description: 'Always empty.' }),
  },
  { description: 'Fees that an external-in message would cost its receiver.' },
);
type QueryFees = Static<typeof QueryFees>;

/** `boc`: an external-in message. */
const messageBocParameter = Type.Transform(
  Type.String({
    description:
      'The message with its header: a bag of cells with one root, which starts with `ext_in_msg_info$10`. Standard base64.',
    contentEncoding: 'base64',
  }),
)
  .Decode((text): ExternalInMessage => {
    const bytes = bytesOf(text);
    return requireExternalMessage(rootOf(bytes), bytes);
  })
  .Encode(({ boc: bytes }) => toBase64(bytes));

/** A cell in a bag of cells. */
function cellParameter(description: string) {
  return Type.Transform(Type.String({ description, contentEncoding: 'base64' }))
    .Decode((text) => rootOf(bytesOf(text)))
    .Encode(cellText);
}

/** As {@link cellParameter}; an empty string is the same as none. */
function optionalStateCellParameter(description: string) {
  return Type.Optional(
    Type.Transform(Type.String({ description, contentEncoding: 'base64', default: '' }))
      .Decode((text) => (text === '' ? undefined : rootOf(bytesOf(text))))
      .Encode((cell) => (cell === undefined ? '' : cellText(cell))),
  );
}

/** A cell as a tree of objects: `{data: {b64, len}, refs, special}`. */
function cellTreeParameter(description: string) {
  return Type.Transform(Type.Any({ description })).Decode(cellOfTree).Encode(treeOfCell);
}

/** `cell`: an external-in message as a tree of objects. */
const messageTreeParameter = Type.Transform(Type.Any({ description: 'The message.' }))
  .Decode((tree) => requireExternalMessage(cellOfTree(tree)))
  .Encode(({ cell }) => treeOfCell(cell));

/** @throws v2/parameter-value when the cell is not an external-in message */
function requireExternalMessage(cell: Cell, bytes?: Uint8Array): ExternalInMessage {
  return refusing('it is a cell, but not an external-in message', () => readExternalInMessage(cell, bytes));
}

/** Larger messages are refused before they are decoded. @throws v2/parameter-value */
function bytesOf(text: string): Uint8Array {
  if (text === '') throw badValue('it is empty');
  const length = base64Length(text);
  if (length > MAX_EXTERNAL_MESSAGE_BYTES) {
    throw badValue(`it has ${length} bytes; nodes take external-in messages of at most ${MAX_EXTERNAL_MESSAGE_BYTES}`);
  }
  return decodeBase64(text);
}

function rootOf(bytes: Uint8Array): Cell {
  return refusing('it is base64, but not a bag of cells', () => wholeCell(bytes));
}

/** The result of `read`; its errors become errors of the value. */
function refusing<T>(problem: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isTernError(error) ? badValue(`${problem}: ${error.message}`, error) : error;
  }
}

function badValue(problem: string, cause?: unknown): Error {
  return v2Errors['parameter-value']({ problem }, cause);
}

function cellText(cell: Cell): string {
  return toBase64(serializeBoc(cell));
}

/** Error codes of failures to send besides a refusal by a node. */
const SEND_FAILURES: readonly string[] = [
  'chain/message-refused',
  'chain/deadline',
  'lite/answer-error',
  'lite/not-available',
  'lite/not-connected',
  'lite/unanswered',
];

const TAG = 'Send';
const POST = ['POST'] as const;
const STATUSES = [404, 422, 500, 504];
const REFUSED = v2Errors['message-refused'].code;
const errorStatuses = { [REFUSED]: 500 };

const bocParams = Type.Object({ boc: messageBocParameter }, { additionalProperties: false });
const OK: ResultOk = { '@type': 'ok' };

const address = parsedAddressParameter('Receiver of the message.');
const ignore_chksig = Type.Optional(
  Type.Boolean({
    description: 'Accept any signature, so that the message need not be signed.',
    default: true,
  }),
);

/** The parts of a message, cells as bags of cells. */
const parts = {
  address,
  body: cellParameter('Body of the message: a bag of cells.'),
  init_code: optionalStateCellParameter('Code to deploy: a bag of cells. Empty: none.'),
  init_data: optionalStateCellParameter('Data to deploy: a bag of cells. Empty: none.'),
};

/** The parts of a message, cells as trees of objects. */
const treeParts = {
  address,
  body: cellTreeParameter('Body of the message.'),
  init_code: Type.Optional(cellTreeParameter('Code to deploy.')),
  init_data: Type.Optional(cellTreeParameter('Data to deploy.')),
};

const partParams = Type.Object(parts, { additionalProperties: false });
const treeParams = Type.Object(treeParts, { additionalProperties: false });

const HOW_IT_IS_SENT =
  'The message goes to several nodes at once; it counts as sent when one of them accepts it, after the contract accepted it ' +
  'in a trial run. A refusal (500) has the text of the node and, below it, an explanation: a used seqno, an expired message, ' +
  'an account without code or without coins.';

const sendBoc = v2Endpoint({
  name: 'sendBoc',
  aliases: ['sendBocUnsafe'],
  verbs: POST,
  tag: TAG,
  summary: 'Sends a message',
  description: `Sends a signed external-in message, such as one for a wallet. ${HOW_IT_IS_SENT}`,
  params: bocParams,
  result: ResultOk,
  statuses: STATUSES,
  errorStatuses,
  price: () => PRICE.send,
  freshness: 'none',
  handle: async ({ boc: message }, context) => {
    await sendExternalMessage(message, context);
    return OK;
  },
});

const sendBocReturnHash = v2Endpoint({
  name: 'sendBocReturnHash',
  verbs: POST,
  tag: TAG,
  summary: 'Sends a message, returns its hash',
  description:
    `As \`sendBoc\`, with the hashes by which the message can be found later. \`hash_norm\` does not depend on how a node ` +
    `stores the message. ${HOW_IT_IS_SENT}`,
  params: bocParams,
  result: ExtMessageInfo,
  statuses: STATUSES,
  errorStatuses,
  price: () => PRICE.send,
  freshness: 'none',
  handle: async ({ boc: message }, context) => {
    await sendExternalMessage(message, context);
    return extMessageInfo(message);
  },
});

const sendBocReturnHashNoError = v2Endpoint({
  name: 'sendBocReturnHashNoError',
  verbs: POST,
  tag: TAG,
  unpublished: true,
  summary: 'Sends a message, returns its hash; failures are 400',
  description:
    'As `sendBocReturnHash`, but failures to send have the status 400: some clients avoid a server for a while after a 500.',
  params: bocParams,
  result: ExtMessageInfo,
  statuses: [400, 422],
  errorStatuses: Object.fromEntries([REFUSED, ...SEND_FAILURES].map((code) => [code, 400])),
  price: () => PRICE.send,
  freshness: 'none',
  handle: async ({ boc: message }, context) => {
    await sendExternalMessage(message, context);
    return extMessageInfo(message);
  },
});

const sendQuery = v2Endpoint({
  name: 'sendQuery',
  verbs: POST,
  tag: TAG,
  unpublished: true,
  summary: 'Sends a message given in parts',
  description: `Builds an external-in message from its body and, to deploy a contract, code and data, and sends it. ${HOW_IT_IS_SENT}`,
  params: partParams,
  result: ResultOk,
  statuses: STATUSES,
  errorStatuses,
  price: () => PRICE.send,
  freshness: 'none',
  handle: async (query, context) => {
    await sendExternalMessage(requireExternalMessage(externalMessageCell(query)), context);
    return OK;
  },
});

const sendQuerySimple = v2Endpoint({
  name: 'sendQuerySimple',
  verbs: POST,
  tag: TAG,
  unpublished: true,
  summary: 'Sends a message given in parts, cells as trees',
  description: 'As `sendQuery`, with cells written as trees of objects.',
  params: treeParams,
  result: ResultOk,
  statuses: STATUSES,
  errorStatuses,
  price: () => PRICE.send,
  freshness: 'none',
  handle: async (query, context) => {
    await sendExternalMessage(requireExternalMessage(externalMessageCell(query)), context);
    return OK;
  },
});

const sendCellSimple = v2Endpoint({
  name: 'sendCellSimple',
  verbs: POST,
  tag: TAG,
  unpublished: true,
  summary: 'Sends a message given as a tree',
  description: 'As `sendBoc`, with the message as a tree of objects.',
  params: Type.Object({ cell: messageTreeParameter }, { additionalProperties: false }),
  result: ResultOk,
  statuses: STATUSES,
  errorStatuses,
  price: () => PRICE.send,
  freshness: 'none',
  handle: async ({ cell }, context) => {
    await sendExternalMessage(cell, context);
    return OK;
  },
});

const estimateFee = v2Endpoint({
  name: 'estimateFee',
  verbs: POST,
  tag: TAG,
  summary: 'Fees that a message would cost',
  description:
    'Emulates an external-in message on the current account state, without sending it, and returns the fees in nanotons: ' +
    'import, storage, gas, forwarding of the sent messages. By default any signature is accepted, so that the message can ' +
    'be unsigned. Where the network has newer rules than the emulator, the header `X-Tern-Fee-Estimate` says so.',
  params: Type.Object({ ...parts, ignore_chksig }, { additionalProperties: false }),
  result: QueryFees,
  statuses: STATUSES,
  price: () => PRICE.emulation,
  isQueuedElsewhere: true,
  freshness: 'none',
  handle: (query, context) => estimate(query, context),
});

const estimateFeeSimple = v2Endpoint({
  name: 'estimateFeeSimple',
  verbs: POST,
  tag: TAG,
  unpublished: true,
  summary: 'Fees that a message would cost, cells as trees',
  description: 'As `estimateFee`, with cells written as trees of objects.',
  params: Type.Object({ ...treeParts, ignore_chksig }, { additionalProperties: false }),
  result: QueryFees,
  statuses: STATUSES,
  price: () => PRICE.emulation,
  isQueuedElsewhere: true,
  freshness: 'none',
  handle: (query, context) => estimate(query, context),
});

/** Methods that send messages, in the order of the document. */
export const sendEndpoints: readonly AnyEndpoint<V2Context>[] = [
  sendBoc,
  sendBocReturnHash,
  estimateFee,
  sendBocReturnHashNoError,
  sendQuery,
  sendQuerySimple,
  sendCellSimple,
  estimateFeeSimple,
];

/** Names of error codes of liteservers, as tonlib puts them before the text of the server. */
const ERROR_NAMES: ReadonlyMap<number, string> = new Map([
  [601, 'FAILURE'],
  [602, 'ERROR'],
  [603, 'WARNING'],
  [621, 'PROTOVIOLATION'],
  [651, 'NOTREADY'],
  [652, 'TIMEOUT'],
  [653, 'CANCELLED'],
]);

/**
 * Sends a message. When nodes refuse it, the error has the text of one of them, which clients parse, and an explanation.
 * @throws v2/message-refused, chain/*, lite/*
 */
async function sendExternalMessage(sent: ExternalInMessage, { network, read, header }: V2Context): Promise<void> {
  const { boc, cell, message } = sent;
  try {
    await network.chain.send(boc, read);
    if (network.pending?.submit(sent, 'sent') === true) {
      header(FOLLOW_HEADER, followUrl(normalizedExternalHash(message)));
    }
  } catch (error) {
    if (!isTernError(error, 'chain/message-refused')) throw error;
    const { code, text } = error.data;
    const nodeText = `LITE_SERVER_${ERROR_NAMES.get(Number(code)) ?? 'UNKNOWN'}: ${String(text)}`;
    const { reason, explanation } = await explain(cell, String(text), { network, read });
    network.pending?.refused(sent, { problem: explanation, exit_code: exitCodeIn(String(text)) });
    throw v2Errors['message-refused']({ nodeText, reason, explanation }, error);
  }
}

/** A failure to find an explanation must not hide the text of the node. */
async function explain(
  message: Cell,
  nodeText: string,
  { network, read }: Pick<V2Context, 'network' | 'read'>,
): Promise<SendDiagnosis> {
  try {
    return await network.contracts.explainRefusal(message, nodeText, read);
  } catch (error) {
    if (!isTernError(error)) throw error;
    const explanation = `The reason of the refusal could not be determined: ${error.message}.`;
    return { reason: 'unknown', explanation };
  }
}

/** The parts of an external-in message. */
interface MessageParts {
  readonly address: ParsedAddress;
  readonly body: Cell;
  readonly init_code?: Cell | null | undefined;
  readonly init_data?: Cell | null | undefined;
}

/** The message; body and init are in cells of their own, which all contracts accept. */
function externalMessageCell({ address, body, init_code = null, init_data = null }: MessageParts): Cell {
  const deploys = init_code !== null || init_data !== null;
  const init: StateInit = {
    fixed_prefix_length: null,
    special: null,
    code: init_code,
    data: init_data,
    library: SimpleLibs.of([]),
  };
  return encodeCell(Message, {
    info: { kind: 'ext_in_msg_info', src: null, dest: address.address, import_fee: 0n },
    init: deploys ? { kind: 'right', value: Lazy.ofValue(StateInit, init) } : null,
    body: { kind: 'right', value: body },
  });
}

/** The header that says why the actual fees may differ from the estimate. */
const FEE_ESTIMATE_HEADER = 'X-Tern-Fee-Estimate';

interface FeeParameters extends MessageParts {
  /** Default: any signature is accepted. */
  readonly ignore_chksig?: boolean | undefined;
}

/** @throws contracts/*, tvm/*, chain/*, lite/* */
async function estimate(query: FeeParameters, { network, read, header }: V2Context): Promise<QueryFees> {
  const { address, body, init_code = null, init_data = null, ignore_chksig = true } = query;
  const parts = { address: address.address, body, init_code, init_data, ignore_chksig };
  const fees = await network.contracts.estimateFee(parts, read);
  if (fees.caveat !== null) header(FEE_ESTIMATE_HEADER, `approximate; reason=${headerText(fees.caveat)}`);
  return queryFees(fees);
}

function extMessageInfo({ cell, message }: ExternalInMessage): ExtMessageInfo {
  return {
    '@type': 'raw.extMessageInfo',
    hash: toBase64(cell.hash()),
    hash_norm: toBase64(normalizedExternalHash(message)),
  };
}

function queryFees({ in_fwd_fee, storage_fee, gas_fee, fwd_fee }: FeeEstimate): QueryFees {
  return {
    '@type': 'query.fees',
    source_fees: {
      '@type': 'fees',
      in_fwd_fee: Number(in_fwd_fee),
      storage_fee: Number(storage_fee),
      gas_fee: Number(gas_fee),
      fwd_fee: Number(fwd_fee),
    },
    destination_fees: [],
  };
}
