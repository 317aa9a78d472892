import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import {
  boc,
  cellParameter,
  cellTreeParameter,
  externalOf,
  messageTree,
  optionalCellParameter,
} from '#api/v2/message-parameters.js';
import { addressParameter } from '#api/v2/parameters.js';
import { ExtMessageInfo, QueryFees, ResultOk } from '#api/v2/schemas/send.js';
import { messageTo } from '#api/v2/send/build-message.js';
import { estimate } from '#api/v2/send/estimate.js';
import { extMessageInfo } from '#api/v2/send/results.js';
import { sendMessage } from '#api/v2/send/send-message.js';
import { SEND_FAILURES } from '#api/v2/send/statuses.js';

const TAG = 'Send';
const POST = ['POST'] as const;
const STATUSES = [404, 422, 500, 504];
const REFUSED = v2Errors['message-refused'].code;
const errorStatuses = { [REFUSED]: 500 };

const bocParams = Type.Object({ boc }, { additionalProperties: false });
const OK: ResultOk = { '@type': 'ok' };

const address = addressParameter('Account that is to receive the message.');
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
  init_code: optionalCellParameter('Code to deploy: a bag of cells. Empty: none.'),
  init_data: optionalCellParameter('Data to deploy: a bag of cells. Empty: none.'),
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
    await sendMessage(message, context);
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
    await sendMessage(message, context);
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
    await sendMessage(message, context);
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
    await sendMessage(externalOf(messageTo(question)), context);
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
    await sendMessage(externalOf(messageTo(question)), context);
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
  params: Type.Object({ cell: messageTree }, { additionalProperties: false }),
  result: ResultOk,
  statuses: STATUSES,
  errorStatuses,
  freshness: 'none',
  handle: async ({ cell }, context) => {
    await sendMessage(cell, context);
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
