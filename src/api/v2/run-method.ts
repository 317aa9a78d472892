import { type TSchema, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { headerText, type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { accountParameter, freshnessAt, optionalMasterchainSeqno } from '#api/v2/parameters.js';
import { PRICE } from '#api/v2/price.js';
import { decodeLegacyStack, decodeTypedStack, LegacyStackArgument, TvmStackArgument } from '#api/v2/stack-arguments.js';
import {
  encodeLegacyStack,
  encodeTypedStack,
  RunGetMethodResult,
  RunGetMethodStdResult,
} from '#api/v2/stack-results.js';
import { blockIdExt, transactionId } from '#api/v2/ton-objects.js';
import type { ParsedAddress } from '#formats/address/address.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { isTernError } from '#kernel/tern-error.js';
import type { GetMethodRead } from '#services/emulation/contract-reads.js';
import { GAS_PER_WORK_UNIT } from '#services/emulation/gas-work.js';

/** `method`: the name of a get method, or its id. Strings of decimal or hexadecimal digits are ids. */
const methodParameter = Type.Transform(
  Type.Union([Type.String(), Type.Integer({ format: 'int32' })], {
    description:
      'Name of the get method, or its id: a number, also as text in decimal or hexadecimal. The id of a name is ' +
      '`crc16(name) | 0x10000`.',
    examples: ['seqno'],
  }),
)
  .Decode(parseMethod)
  .Encode((value) => value);

/** @throws v2/parameter-value */
function parseMethod(value: string | number): string | number {
  if (typeof value === 'string' && !/^[+-]?(0[xX][0-9a-fA-F]+|[0-9]+)$/.test(value)) {
    if (value === '') throw v2Errors['parameter-value']({ problem: 'it is empty' });
    return value;
  }
  const id = typeof value === 'number' ? value : signedNumber(value);
  if ((id | 0) === id) return id;
  throw v2Errors['parameter-value']({ problem: `${value} is not an id of a get method: -2147483648 to 2147483647` });
}

/** `Number` does not take a sign before hexadecimal digits. */
function signedNumber(text: string): number {
  if (text.startsWith('-')) return -Number(text.slice(1));
  return Number(text.startsWith('+') ? text.slice(1) : text);
}

const TAG = 'Run method';
const STATUSES = [404, 422, 500, 504];
/** The header of results that a node computed, and not this service on proven state, and of results from memory. */
const HEADER = 'X-Tern-Get-Method';

interface GetMethodQuery {
  readonly address: ParsedAddress;
  readonly method: string | number;
  readonly stack: VmStack;
  readonly seqno?: number;
}

/** Arguments: more forms are accepted than the schema has, so that `decode` checks them. */
function stackParameter(entry: TSchema, decode: (entries: unknown) => VmStack, description: string) {
  return Type.Transform(Type.Any({ type: 'array', items: entry, description, examples: [[]] }))
    .Decode(decode)
    .Encode((stack) => stack);
}

async function run({ address, method, stack, seqno }: GetMethodQuery, context: V2Context): Promise<GetMethodRead> {
  const { network, read, header } = context;
  let result: GetMethodRead;
  try {
    result = await network.contracts.runGetMethod(address.address, method, stack, { ...read, at: seqno ?? 'head' });
  } catch (error) {
    if (isTernError(error, 'cells/cell-depth')) throw v2Errors['stack-size']({ problem: error.message }, error);
    throw error;
  }
  context.worked(result.gas_used / GAS_PER_WORK_UNIT);
  if (result.remembered_ms !== null) header(HEADER, `memory; age=${Math.round(result.remembered_ms / 1000)}`);
  if (result.ran_on === 'node') header(HEADER, `node; reason=${headerText(result.ran_on_reason ?? 'unknown')}`);
  return result;
}

const runGetMethod = v2Endpoint({
  name: 'runGetMethod',
  verbs: ['POST'],
  tag: TAG,
  summary: 'Runs a get method',
  description:
    'Runs a get method of a contract on its state after the newest masterchain block, or after block `seqno`. Whatever the ' +
    'contract does, throwing included, is a result with an `exit_code`: 0 and 1 are success, -13 means that the account has ' +
    'no code. Arguments are pairs of a type and a value, the first one deepest, as the method declares them: `num` (a ' +
    'number, or a decimal or hexadecimal string), `cell`, `slice` and `builder` (a bag of cells in base64, `{"bytes": …}` ' +
    'with the same, or the tree `{"data": {"b64", "len"}, "refs"}`), `tuple` and `list` (`{"elements": […]}` with typed ' +
    'entries), `null`. The types `tvm.Cell`, `tvm.Slice` and so on are aliases. The header `X-Tern-Get-Method` says when a ' +
    'node computed the result (`node`), and when it is that of an earlier run of the same method on the same data, which ran ' +
    'out of gas and is not repeated for some minutes (`memory`).',
  params: Type.Object(
    {
      address: accountParameter,
      method: methodParameter,
      stack: stackParameter(LegacyStackArgument, decodeLegacyStack, 'Arguments, the first one first.'),
      seqno: optionalMasterchainSeqno,
    },
    { additionalProperties: false },
  ),
  result: RunGetMethodResult,
  statuses: [...STATUSES, 533],
  errorStatuses: { [v2Errors['result-depth'].code]: 533 },
  price: () => PRICE.getMethod,
  isQueuedElsewhere: true,
  freshness: freshnessAt,
  handle: async (query, context) => {
    const { gas_used, stack, exit_code, block, last_transaction } = await run(query, context);
    return {
      '@type': 'smc.runResult' as const,
      gas_used,
      stack: encodeLegacyStack(stack),
      exit_code,
      block_id: blockIdExt(block),
      last_transaction_id: transactionId(last_transaction),
    };
  },
});

const runGetMethodStd = v2Endpoint({
  name: 'runGetMethodStd',
  verbs: ['POST'],
  tag: TAG,
  summary: 'Runs a get method, with typed stacks',
  description:
    'As `runGetMethod`, but arguments and results are objects with `@type`, which distinguish cells from slices, and lists ' +
    'from tuples.',
  params: Type.Object(
    {
      address: accountParameter,
      method: methodParameter,
      stack: stackParameter(TvmStackArgument, decodeTypedStack, 'Arguments, the first one first.'),
      seqno: optionalMasterchainSeqno,
    },
    { additionalProperties: false },
  ),
  result: RunGetMethodStdResult,
  statuses: [...STATUSES, 533],
  errorStatuses: { [v2Errors['result-depth'].code]: 533 },
  price: () => PRICE.getMethod,
  isQueuedElsewhere: true,
  freshness: freshnessAt,
  handle: async (query, context) => {
    const { gas_used, stack, exit_code } = await run(query, context);
    return { '@type': 'smc.runResult' as const, gas_used, stack: encodeTypedStack(stack), exit_code };
  },
});

/** Methods that run get methods, in the order of the document. */
export const runMethodEndpoints: readonly AnyEndpoint<V2Context>[] = [runGetMethod, runGetMethodStd];
