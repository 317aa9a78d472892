import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { externalMessageParameter, optionalCellParameter } from '#api/v3/cell-parameters.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { addressParameter } from '#api/v3/parameters.js';
import { MISSING_INPUT } from '#api/v3/routes/legacy-accounts.js';
import {
  V2EstimateFeeResult,
  V2RunGetMethodResult,
  V2SendMessageResult,
  V2StackEntity,
} from '#api/v3/schemas/calls.js';
import { decodeStack, encodeStack } from '#api/v3/stack.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { ExternalMessage } from '#formats/tlb/external-message.js';
import { normalizedExternalHash } from '#formats/tlb/message.js';
import { toBase64 } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { SendDiagnosis } from '#services/contracts/contracts.js';

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
async function send({ boc, cell }: ExternalMessage, { network, read }: V3Context): Promise<void> {
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
      address: addressParameter('Contract'),
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
      address: addressParameter('Account that is to receive the message'),
      body: optionalCellParameter('Body of the message: a bag of cells in base64. Empty: an empty one.'),
      init_code: optionalCellParameter('Code to deploy: a bag of cells in base64. Empty: none.'),
      init_data: optionalCellParameter('Data to deploy: a bag of cells in base64. Empty: none.'),
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
