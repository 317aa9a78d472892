import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { nullOr } from '#api/http/null-value.js';
import { known, type LocalnetContext, localnetEndpoint } from '#api/localnet/context.js';
import { internalMessage, requireInternal, requireStateInit } from '#api/localnet/internal-message.js';
import { decodeCellText, encodeCellText } from '#api/localnet/parameter-forms.js';
import { addressParameter, cellParameter, nanotonsParameter, paramsOf } from '#api/localnet/parameters.js';
import { Mined, Sent, Touched } from '#api/localnet/schemas.js';
import { minedJson, sentJson } from '#api/localnet/serialize.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeConfigParam } from '#formats/tlb/config/config-params.js';
import { isTernError } from '#kernel/errors/tern-error.js';

const TAG = 'Interventions';
const POST = ['POST'] as const;

/** A cell of a certain kind. */
function typedCell(description: string, require: (cell: Cell) => Cell) {
  return Type.Transform(Type.String({ description: `${description} A bag of cells in base64 or hexadecimal.` }))
    .Decode((text) => require(decodeCellText(text)))
    .Encode(encodeCellText);
}

const CHANGES = ['balance', 'code', 'data'] as const;

const account = localnetEndpoint({
  name: 'account',
  verbs: POST,
  tag: TAG,
  summary: 'Gives an account another state',
  description:
    'Sets the balance, code or data of an account, whatever its contract says; what is left out stays. With code or data the ' +
    'account becomes active, also where there was none. The block has a transaction without a message that makes the change.',
  params: paramsOf({
    address: addressParameter('The account'),
    balance: Type.Optional(nanotonsParameter('What it is to have.', 0n)),
    code: Type.Optional(
      nullOr(cellParameter('Code.'), 'Its code: a bag of cells in base64 or hexadecimal; null: none.'),
    ),
    data: Type.Optional(
      nullOr(cellParameter('Data.'), 'Its data: a bag of cells in base64 or hexadecimal; null: none.'),
    ),
  }),
  check: (params) => {
    if (CHANGES.some((name) => params[name] !== undefined)) return;
    throw httpErrors['missing-parameter']({ parameter: CHANGES.join(', ') });
  },
  result: Mined,
  statuses: [504],
  freshness: 'none',
  handle: async ({ address, balance, code, data }, context) => {
    const change = {
      ...(balance === undefined ? {} : { balance }),
      ...(code === undefined ? {} : { code }),
      ...(data === undefined ? {} : { data }),
    };
    return minedJson(await known(context.node.setAccount(address, change), context));
  },
});

/** What makes up a message; `message` is in place of them all. */
const PARTS = ['from', 'to', 'value', 'bounce', 'body', 'init'] as const;
const REQUIRED_PARTS = ['from', 'to', 'value'] as const;

const impersonate = localnetEndpoint({
  name: 'impersonate',
  verbs: POST,
  tag: TAG,
  summary: 'Runs a message as any address',
  description:
    'Delivers a message from any address, without asking it and without taking its coins: they come in as from another ' +
    'shard. Give `from`, `to` and `value`, and more if need be, or else a whole `message`.',
  params: paramsOf({
    from: Type.Optional(addressParameter('Whose message it is to be; there need be nothing')),
    to: Type.Optional(addressParameter('Who is to get it')),
    value: Type.Optional(nanotonsParameter('What comes with it.', 0n)),
    bounce: Type.Optional(
      Type.Boolean({ description: 'Whether it comes back when it cannot be worked on. Default: true.' }),
    ),
    body: Type.Optional(cellParameter('Its body; without it an empty one.')),
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
      const missing = REQUIRED_PARTS.find((name) => params[name] === undefined);
      if (missing !== undefined) throw httpErrors['missing-parameter']({ parameter: missing });
    } else {
      const beside = PARTS.find((name) => params[name] !== undefined);
      if (beside === undefined) return;
      throw httpErrors['bad-parameter']({ parameter: beside, problem: 'it cannot be given together with message' });
    }
  },
  result: Sent,
  statuses: [504],
  freshness: 'none',
  handle: async ({ from, to, value, bounce = true, body = null, init = null, message }, context) => {
    const cell = message ?? internalMessage({ from: from!, to: to!, value: value!, bounce, body, init });
    return sentJson(await known(context.node.runMessageAs(serializeBoc(cell)), context));
  },
});

const config = localnetEndpoint({
  name: 'config',
  verbs: POST,
  tag: TAG,
  summary: 'Changes the configuration',
  description:
    'Sets a parameter of the configuration, or takes it out, without a vote; the next masterchain block is a key block with ' +
    'it. A value must have the form that the schema has for parameters of this number.',
  params: paramsOf({
    param: Type.Integer({
      description: 'Number of the parameter.',
      format: 'int32',
      minimum: -(2 ** 31),
      maximum: 2 ** 31 - 1,
      examples: [8],
    }),
    value: nullOr(
      cellParameter('The value.'),
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
  result: Mined,
  statuses: [504],
  freshness: 'none',
  handle: async ({ param, value }, context) => {
    const boc = value === null ? null : serializeBoc(value);
    return minedJson(await known(context.node.setConfigParam(param, boc), context));
  },
});

const touch = localnetEndpoint({
  name: 'touch',
  verbs: POST,
  tag: TAG,
  summary: 'Brings an account from the forked network',
  description:
    'Takes over the state that an account has in the network that this one is a fork of, where the account is not here yet. ' +
    'Messages and reads of the account do the same; this is for those that read the index alone.',
  params: paramsOf({ address: addressParameter('The account') }),
  result: Touched,
  statuses: [504],
  freshness: 'none',
  handle: async ({ address }, { node, untilKnown }) => {
    const found = await node.touch(address);
    if (found === null) return { block: null };
    await untilKnown(found.block);
    return minedJson(found);
  },
});

/** What no rule of a network brings about. */
export const interventionEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [account, impersonate, config, touch];
