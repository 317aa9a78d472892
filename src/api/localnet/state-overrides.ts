import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, nullOr } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import {
  MinedAnswer,
  minedJson,
  SeededAnswer,
  SentAnswer,
  seededJson,
  sentJson,
  TouchedAnswer,
} from '#api/localnet/answers.js';
import { LONG_OPERATION_MS, type LocalnetContext, localnetEndpoint, onceVisible } from '#api/localnet/context.js';
import { localnetApiErrors } from '#api/localnet/errors.js';
import {
  badParameterValue,
  encodeCellText,
  localAddressParameter,
  localCellParameter,
  nanotonsParameter,
  paramsOf,
  parseCellText,
  readingValue,
} from '#api/localnet/parameters.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { StateInit } from '#formats/tlb/account.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { decodeConfigParam } from '#formats/tlb/config/config-params.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { Message, messageInit } from '#formats/tlb/message.js';
import { isTernError } from '#kernel/tern-error.js';

const TAG = 'Interventions';
const POST = ['POST'] as const;

/** A cell of a certain type. */
function typedCell(description: string, require: (cell: Cell) => Cell) {
  return Type.Transform(Type.String({ description: `${description} A bag of cells in base64 or hexadecimal.` }))
    .Decode((text) => require(parseCellText(text)))
    .Encode(encodeCellText);
}

const CHANGES = ['balance', 'code', 'data'] as const;

const account = localnetEndpoint({
  name: 'account',
  verbs: POST,
  tag: TAG,
  summary: 'Overrides the state of an account',
  description:
    'Sets the balance, code or data of an account, regardless of its contract; fields left out stay. With code or data the ' +
    'account becomes active, also where it did not exist. The block has a transaction without a message for the change.',
  params: paramsOf({
    address: localAddressParameter('The account'),
    balance: Type.Optional(nanotonsParameter('What it is to have.', 0n)),
    code: Type.Optional(
      nullOr(localCellParameter('Code.'), 'Its code: a bag of cells in base64 or hexadecimal; null: none.'),
    ),
    data: Type.Optional(
      nullOr(localCellParameter('Data.'), 'Its data: a bag of cells in base64 or hexadecimal; null: none.'),
    ),
  }),
  check: (params) => {
    if (CHANGES.some((name) => params[name] !== undefined)) return;
    throw httpErrors['missing-parameter']({ parameter: CHANGES.join(', ') });
  },
  result: MinedAnswer,
  statuses: [504],
  freshness: 'none',
  handle: async ({ address, balance, code, data }, context) => {
    const change = {
      ...(balance === undefined ? {} : { balance }),
      ...(code === undefined ? {} : { code }),
      ...(data === undefined ? {} : { data }),
    };
    return minedJson(await onceVisible(context.node.setAccount(address, change), context));
  },
});

/** The parts of a message; `message` replaces them all. */
const PARTS = ['from', 'to', 'amount', 'value', 'bounce', 'body', 'init'] as const;
const REQUIRED_PARTS = ['from', 'to', 'amount'] as const;

const impersonate = localnetEndpoint({
  name: 'impersonate',
  verbs: POST,
  tag: TAG,
  summary: 'Runs a message as any address',
  description:
    'Delivers a message from any address, without its consent and without debiting it: the amount comes in as from another ' +
    'shard. Give `from`, `to` and `amount`, and other parts as needed, or a whole `message`.',
  params: paramsOf({
    from: Type.Optional(localAddressParameter('Whose message it is to be; there need be nothing')),
    to: Type.Optional(localAddressParameter('Who is to get it')),
    amount: Type.Optional(nanotonsParameter('What comes with it.', 0n)),
    value: Type.Optional(nanotonsParameter('The former name of `amount`.', 0n, { hasExample: false })),
    bounce: Type.Optional(
      Type.Boolean({ description: 'Whether it comes back when it cannot be worked on. Default: true.' }),
    ),
    body: Type.Optional(localCellParameter('Its body; without it an empty one.')),
    init: Type.Optional(typedCell('A `StateInit` to deploy with it.', requireStateInit)),
    message: Type.Optional(
      typedCell(
        'The message itself (`int_msg_info`), times and fees as they are to be set by the block.',
        requireInternal,
      ),
    ),
  }),
  check: (params) => {
    if (params.message === undefined) {
      if (params.amount !== undefined && params.value !== undefined) {
        throw httpErrors['bad-parameter']({
          parameter: 'value',
          problem: 'it is the former name of amount, which is given',
        });
      }
      const given = { ...params, amount: params.amount ?? params.value };
      const missing = REQUIRED_PARTS.find((name) => given[name] === undefined);
      if (missing !== undefined) throw httpErrors['missing-parameter']({ parameter: missing });
    } else {
      const beside = PARTS.find((name) => params[name] !== undefined);
      if (beside === undefined) return;
      throw httpErrors['bad-parameter']({ parameter: beside, problem: 'it cannot be given together with message' });
    }
  },
  result: SentAnswer,
  statuses: [504],
  freshness: 'none',
  handle: async ({ from, to, value, amount = value, bounce = true, body = null, init = null, message }, context) => {
    const cell = message ?? impersonatedMessage({ from: from!, to: to!, value: amount!, bounce, body, init });
    return sentJson(await onceVisible(context.node.runMessageAs(serializeBoc(cell)), context));
  },
});

const config = localnetEndpoint({
  name: 'config',
  verbs: POST,
  tag: TAG,
  summary: 'Changes the configuration',
  description:
    'Sets or removes a configuration parameter, without a vote; the next masterchain block is a key block with it. The value ' +
    'must match the TL-B schema of the parameter.',
  params: paramsOf({
    param: Type.Integer({
      description: 'Number of the parameter.',
      format: 'int32',
      minimum: -(2 ** 31),
      maximum: 2 ** 31 - 1,
      examples: [8],
    }),
    value: nullOr(
      localCellParameter('The value.'),
      'The value: a bag of cells in base64 or hexadecimal; null takes it out.',
    ),
  }),
  check: ({ param, value }) => {
    if (value === null) return;
    try {
      decodeConfigParam(param, value);
    } catch (error) {
      if (!isTernError(error)) throw error;
      const problem = `it is a cell, but no value of parameter ${param}: ${error.message}`;
      throw httpErrors['bad-parameter']({ parameter: 'value', problem }, error);
    }
  },
  result: MinedAnswer,
  statuses: [504],
  freshness: 'none',
  handle: async ({ param, value }, context) => {
    const boc = value === null ? null : serializeBoc(value);
    return minedJson(await onceVisible(context.node.setConfigParam(param, boc), context));
  },
});

const touch = localnetEndpoint({
  name: 'touch',
  verbs: POST,
  tag: TAG,
  summary: 'Imports an account from the forked network',
  description:
    'Only on a fork (422 otherwise). Imports the state of an account from the forked network, unless it was imported before. Messages to and reads of the ' +
    'account do the same; this is for clients that read the index only.',
  params: paramsOf({ address: localAddressParameter('The account') }),
  result: TouchedAnswer,
  statuses: [504],
  freshness: 'none',
  handle: async ({ address }, { node, untilKnown }) => {
    if ((await node.status()).fork === null) throw localnetApiErrors['no-fork']({});
    const found = await node.touch(address);
    if (found === null) return { block: null };
    await untilKnown(found.block);
    return minedJson(found);
  },
});

const seed = localnetEndpoint({
  name: 'seed',
  verbs: POST,
  tag: TAG,
  summary: 'Deploys DNS with a domain, a multisig, a library; sends an extra currency',
  description:
    'Makes what SDKs expect of a network, by messages of the faucet: the root of DNS (configuration parameter 4) with the `.ton` ' +
    'collection and the domain `example.ton`, a library in the masterchain, a multisig with an order whose code is that library, ' +
    'and an extra currency in the first wallet v3r2. The auction of the domain is ended by a state override. What exists ' +
    'already stays: a second call changes nothing. Refused on a fork (422), which has those of its network.',
  params: paramsOf({}),
  result: SeededAnswer,
  statuses: [504],
  deadlineMs: LONG_OPERATION_MS,
  freshness: 'none',
  handle: async (_, context) => seededJson(await onceVisible(context.node.seed(), context)),
});

/** Methods that override state. */
export const stateOverrideEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [
  account,
  impersonate,
  config,
  seed,
  touch,
];

/** A message between accounts in its parts. */
interface ImpersonatedParts {
  readonly from: Address;
  readonly to: Address;
  /** Nanotons. */
  readonly value: bigint;
  readonly bounce: boolean;
  readonly body: Cell | null;
  /** A `StateInit`. */
  readonly init: Cell | null;
}

/** The message; body and init have cells of their own. Fees are 0, times are filled in by the block. */
function impersonatedMessage({ from, to, value, bounce, body, init }: ImpersonatedParts): Cell {
  return encodeCell(Message, {
    info: {
      kind: 'int_msg_info',
      ihr_disabled: true,
      bounce,
      bounced: false,
      src: from,
      dest: to,
      value: onlyGrams(value),
      extra_flags: 0n,
      fwd_fee: 0n,
      created_lt: 0n,
      created_at: 0,
    },
    init: init === null ? null : { kind: 'right', value: Lazy.ofCell(StateInit, init) },
    body: body === null ? { kind: 'left', value: new Slice(EMPTY_CELL) } : { kind: 'right', value: body },
  });
}

/** A cell that is a `Message` between two accounts. @throws localnet-api/parameter-value when it is another */
function requireInternal(cell: Cell): Cell {
  const { info } = readingValue('it is a cell, but not a message', () => {
    const message = decodeCell(Message, cell);
    messageInit(message);
    return message;
  });
  if (info.kind !== 'int_msg_info') throw badParameterValue(`it is a message, but ${info.kind} and not int_msg_info`);
  for (const [name, address] of [
    ['src', info.src],
    ['dest', info.dest],
  ] as const) {
    const isPlain = address instanceof Address && (address.workchain === 0 || address.workchain === -1);
    if (!isPlain) throw badParameterValue(`${name} of the message is no account of workchain -1 or 0 without anycast`);
  }
  return cell;
}

/** A cell that is a `StateInit`. @throws localnet-api/parameter-value */
function requireStateInit(cell: Cell): Cell {
  const { library } = readingValue('it is a cell, but no StateInit', () => decodeCell(StateInit, cell));
  readingValue('its libraries cannot be read', () => [...library]);
  return cell;
}
