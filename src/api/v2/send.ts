import { type Static, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { headerText, type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { decodeBase64, parsedAddressParameter } from '#api/v2/parameters.js';
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
  Message,
  normalizedExternalHash,
  readExternalInMessage,
} from '#formats/tlb/message.js';
import { toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { FeeEstimate, SendDiagnosis } from '#services/emulation/contract-reads.js';

export const ResultOk = v2Object(
  'ResultOk',
  { '@type': typeName('ok') },
  { description: 'A node took the message; whether it has an effect, the chain will show.' },
);
export type ResultOk = Static<typeof ResultOk>;

export const ExtMessageInfo = v2Object(
  'ExtMessageInfo',
  {
    '@type': typeName('raw.extMessageInfo'),
    hash: hashField('Hash of the message as it was sent.'),
    hash_norm: hashField(
      'Hash of the message in a form that does not depend on how it was stored (TEP-467): the one to look it up by.',
    ),
  },
  { description: 'A message from outside that a node took.' },
);
export type ExtMessageInfo = Static<typeof ExtMessageInfo>;

const nanotons = (description: string) => Type.Integer({ description: `${description} Nanotons.`, format: 'int64' });

const Fees = v2Object('Fees', {
  '@type': typeName('fees'),
  in_fwd_fee: nanotons('For taking the message in.'),
  storage_fee: nanotons('For what the account has stored since it last paid.'),
  gas_fee: nanotons('For running the contract.'),
  fwd_fee: nanotons('For forwarding the messages that it sends.'),
});

export const QueryFees = v2Object(
  'QueryFees',
  {
    '@type': typeName('query.fees'),
    source_fees: Fees,
    destination_fees: Type.Array(Fees, { description: 'Always empty.' }),
  },
  { description: 'What a message from outside would cost the account that receives it.' },
);
export type QueryFees = Static<typeof QueryFees>;

/** `boc`: a message from outside. */
export const messageBocParameter = Type.Transform(
  Type.String({
    description:
      'The message, with its header: a bag of cells with one root, which begins with `ext_in_msg_info$10`. Standard base64.',
    contentEncoding: 'base64',
  }),
)
  .Decode((text): ExternalInMessage => {
    const bytes = bytesOf(text);
    return requireExternalMessage(rootOf(bytes), bytes);
  })
  .Encode(({ boc: bytes }) => toBase64(bytes));

/** A cell in a bag of cells. */
export function cellParameter(description: string) {
  return Type.Transform(Type.String({ description, contentEncoding: 'base64' }))
    .Decode((text) => rootOf(bytesOf(text)))
    .Encode(cellText);
}

/** As {@link cellParameter}; an empty text is the same as none. */
export function optionalStateCellParameter(description: string) {
  return Type.Optional(
    Type.Transform(Type.String({ description, contentEncoding: 'base64', default: '' }))
      .Decode((text) => (text === '' ? undefined : rootOf(decodeBase64(text))))
      .Encode((cell) => (cell === undefined ? '' : cellText(cell))),
  );
}

/** A cell as a tree of objects: `{data: {b64, len}, refs, special}`. */
export function cellTreeParameter(description: string) {
  return Type.Transform(Type.Any({ description })).Decode(cellOfTree).Encode(treeOfCell);
}

/** `cell`: a message from outside as a tree of objects. */
export const messageTreeParameter = Type.Transform(Type.Any({ description: 'The message.' }))
  .Decode((tree) => requireExternalMessage(cellOfTree(tree)))
  .Encode(({ cell }) => treeOfCell(cell));

/** @throws v2/parameter-value: the cell is no message from outside */
export function requireExternalMessage(cell: Cell, bytes?: Uint8Array): ExternalInMessage {
  return refusing('it is a cell, but no message that can be sent', () => readExternalInMessage(cell, bytes));
}

function bytesOf(text: string): Uint8Array {
  if (text === '') throw badValue('it is empty');
  return decodeBase64(text);
}

function rootOf(bytes: Uint8Array): Cell {
  return refusing('it is base64, but not a bag of cells', () => wholeCell(bytes));
}

/** What `read` gives; whatever is wrong with its input is wrong with the value. */
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

/** Codes of what can go wrong with sending besides a refusal by a node. */
export const SEND_FAILURES: readonly string[] = [
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

const address = parsedAddressParameter('Account that is to receive the message.');
const ignore_chksig = Type.Optional(
  Type.Boolean({
    description: 'Take every signature as right, so that the message need not be signed.',
    default: true,
  }),
);

/** A message in parts, its cells in bags of cells. */
const parts = {
  address,
  body: cellParameter('Body of the message: a bag of cells.'),
  init_code: optionalStateCellParameter('Code to deploy: a bag of cells. Empty: none.'),
  init_data: optionalStateCellParameter('Data to deploy: a bag of cells. Empty: none.'),
};

/** A message in parts, its cells as trees of objects. */
const treeParts = {
  address,
  body: cellTreeParameter('Body of the message.'),
  init_code: Type.Optional(cellTreeParameter('Code to deploy.')),
  init_data: Type.Optional(cellTreeParameter('Data to deploy.')),
};

const partParams = Type.Object(parts, { additionalProperties: false });
const treeParams = Type.Object(treeParts, { additionalProperties: false });

const HOW_IT_IS_SENT =
  'The message goes to several nodes at once; it is sent when one of them takes it, which says that the contract accepted ' +
  'it in a trial run. A refusal (500) has the text of the node and, below it, what is wrong in words: a seqno that was used, ' +
  'a message that expired, an account without code or without coins.';

const sendBoc = v2Endpoint({
  name: 'sendBoc',
  aliases: ['sendBocUnsafe'],
  verbs: POST,
  tag: TAG,
  summary: 'Sends a message',
  description: `Sends a signed message from outside, such as an order to a wallet. ${HOW_IT_IS_SENT}`,
  params: bocParams,
  result: ResultOk,
  statuses: STATUSES,
  errorStatuses,
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
  summary: 'Sends a message, answers its hash',
  description:
    `As \`sendBoc\`, with the hashes by which the message can be found later. \`hash_norm\` does not change when a node ` +
    `stores the message in another way. ${HOW_IT_IS_SENT}`,
  params: bocParams,
  result: ExtMessageInfo,
  statuses: STATUSES,
  errorStatuses,
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
  summary: 'Sends a message, answers its hash; failures are 400',
  description:
    'As `sendBocReturnHash`, but what goes wrong with sending is status 400: browsers keep away for a while from a server ' +
    'that answers 500.',
  params: bocParams,
  result: ExtMessageInfo,
  statuses: [400, 422],
  errorStatuses: Object.fromEntries([REFUSED, ...SEND_FAILURES].map((code) => [code, 400])),
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
  description: `Makes a message from outside of its body and, for a contract to be deployed, its code and data, and sends it. ${HOW_IT_IS_SENT}`,
  params: partParams,
  result: ResultOk,
  statuses: STATUSES,
  errorStatuses,
  freshness: 'none',
  handle: async (question, context) => {
    await sendExternalMessage(requireExternalMessage(externalMessageCell(question)), context);
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
  freshness: 'none',
  handle: async (question, context) => {
    await sendExternalMessage(requireExternalMessage(externalMessageCell(question)), context);
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
  summary: 'What a message would cost',
  description:
    'Runs a message from outside on the state of the account as it is now, without sending it, and answers what it would ' +
    'cost: taking it in, storage, gas, forwarding of what the contract sends. All in nanotons. By default every signature ' +
    'counts as right, so that the message can be unsigned. Where the network has newer rules than the estimate, the header ' +
    '`X-Tern-Fee-Estimate` says so.',
  params: Type.Object({ ...parts, ignore_chksig }, { additionalProperties: false }),
  result: QueryFees,
  statuses: STATUSES,
  freshness: 'none',
  handle: (question, context) => estimate(question, context),
});

const estimateFeeSimple = v2Endpoint({
  name: 'estimateFeeSimple',
  verbs: POST,
  tag: TAG,
  unpublished: true,
  summary: 'What a message would cost, cells as trees',
  description: 'As `estimateFee`, with cells written as trees of objects.',
  params: Type.Object({ ...treeParts, ignore_chksig }, { additionalProperties: false }),
  result: QueryFees,
  statuses: STATUSES,
  freshness: 'none',
  handle: (question, context) => estimate(question, context),
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

/** Names of error codes of liteservers, as tonlib writes them in front of a server's text. */
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
 * Sends a message. When nodes refuse it, the error has the text of one of them, which clients look into, and an
 * explanation.
 * @throws v2/message-refused, chain/*, lite/*
 */
export async function sendExternalMessage(
  { boc, cell }: ExternalInMessage,
  { network, read }: V2Context,
): Promise<void> {
  try {
    await network.chain.send(boc, read);
  } catch (error) {
    if (!isTernError(error, 'chain/message-refused')) throw error;
    const { code, text } = error.data;
    const nodeText = `LITE_SERVER_${ERROR_NAMES.get(Number(code)) ?? 'UNKNOWN'}: ${String(text)}`;
    const { reason, explanation } = await explain(cell, String(text), { network, read });
    throw v2Errors['message-refused']({ nodeText, reason, explanation }, error);
  }
}

/** An explanation that cannot be had must not hide what the node said. */
async function explain(
  message: Cell,
  nodeText: string,
  { network, read }: Pick<V2Context, 'network' | 'read'>,
): Promise<SendDiagnosis> {
  try {
    return await network.contracts.explainRefusal(message, nodeText, read);
  } catch (error) {
    if (!isTernError(error)) throw error;
    const explanation = `What is wrong with the message could not be looked up: ${error.message}.`;
    return { reason: 'unknown', explanation };
  }
}

/** A message from outside in its parts. */
export interface MessageParts {
  readonly address: ParsedAddress;
  readonly body: Cell;
  readonly init_code?: Cell | null | undefined;
  readonly init_data?: Cell | null | undefined;
}

/** The message; body and init have cells of their own, which all contracts take. */
export function externalMessageCell({ address, body, init_code = null, init_data = null }: MessageParts): Cell {
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

/** The header that says why the real fees may differ from the estimate. */
const FEE_ESTIMATE_HEADER = 'X-Tern-Fee-Estimate';

interface FeeParameters extends MessageParts {
  /** Default: every signature counts as right. */
  readonly ignore_chksig?: boolean | undefined;
}

/** @throws contracts/*, tvm/*, chain/*, lite/* */
export async function estimate(question: FeeParameters, { network, read, header }: V2Context): Promise<QueryFees> {
  const { address, body, init_code = null, init_data = null, ignore_chksig = true } = question;
  const parts = { address: address.address, body, init_code, init_data, ignore_chksig };
  const fees = await network.contracts.estimateFee(parts, read);
  if (fees.caveat !== null) header(FEE_ESTIMATE_HEADER, `approximate; reason=${headerText(fees.caveat)}`);
  return queryFees(fees);
}

export function extMessageInfo({ cell, message }: ExternalInMessage): ExtMessageInfo {
  return {
    '@type': 'raw.extMessageInfo',
    hash: toBase64(cell.hash()),
    hash_norm: toBase64(normalizedExternalHash(message)),
  };
}

export function queryFees({ in_fwd_fee, storage_fee, gas_fee, fwd_fee }: FeeEstimate): QueryFees {
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
