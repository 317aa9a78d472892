import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { jsonText } from '#api/http/json-text.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf, rowsOf } from '#api/v3/page.js';
import { opcodeIn } from '#api/v3/parameter-forms.js';
import {
  addressOrNullParameter,
  direction,
  hashListParameter,
  hashParameter,
  opcode,
  pageFields,
  sortParameter,
  timeParameters,
} from '#api/v3/parameters.js';
import { MessagesResponse } from '#api/v3/schemas/transactions.js';
import { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { dialectOf } from '#api/v3/serialize/dialect.js';
import { MessageReader } from '#api/v3/serialize/message-list.js';
import { pageAddressesText } from '#api/v3/serialize/page-addresses.js';
import { listText } from '#api/v3/serialize/texts.js';

const ACCOUNT_FORMS = 'in raw or user-friendly form';

const messages = v3Endpoint({
  name: 'messages',
  verbs: ['GET'],
  tag: 'Blockchain Data',
  summary: 'Messages',
  description:
    'Messages that meet all conditions given, each once, by the logical time of their making; by unix time where one is a ' +
    'bound. Messages from outside have neither: they count as the last ones, so that falling order begins with them, ' +
    'unless there is a bound or `exclude_externals`.',
  params: Type.Object(
    {
      msg_hash: Type.Optional(hashListParameter('Hash of the message, as it is or normalised (TEP-467)')),
      hash: Type.Optional(hashListParameter('The same as `msg_hash`: hash of the message')),
      body_hash: Type.Optional(hashParameter('Hash of the body')),
      source: Type.Optional(
        addressOrNullParameter(`Sender, ${ACCOUNT_FORMS}; the word null: from outside, without a sender.`),
      ),
      destination: Type.Optional(
        addressOrNullParameter(`Receiver, ${ACCOUNT_FORMS}; the word null: to the outside, without a receiver.`),
      ),
      opcode,
      ...timeParameters('created_at', 'created_lt'),
      direction: direction,
      exclude_externals: Type.Optional(Type.Boolean({ description: 'Without messages from outside.' })),
      only_externals: Type.Optional(Type.Boolean({ description: 'Only messages from outside.' })),
      ...pageFields,
      sort: sortParameter('By time.'),
    },
    { additionalProperties: false },
  ),
  check: (params) => {
    checkPage(params);
    if (params.msg_hash === undefined || params.hash === undefined) return;
    throw v3Errors.parameters({ problem: 'msg_hash and hash mean the same; give one of them' });
  },
  result: MessagesResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: async (params, context) => {
    const { limit: _, offset: __, cursor: ___, sort: ____, hash, msg_hash = hash, opcode: readings, ...rest } = params;
    const filter = { ...rest, msg_hash, opcode: opcodeIn(context.profile, readings) };
    const listed = await context.network.index.messages(filter, pageOf(params, context), context.query);
    const addresses = new AddressCollector();
    const reader = new MessageReader(dialectOf(context.profile), addresses);
    const texts = rowsOf(listed, context).map((row) => reader.textOf(row));
    return jsonText(`{"messages":${listText(texts)},${await pageAddressesText(addresses, context)}}`);
  },
});

/** The method about messages. */
export const messageEndpoints: readonly AnyEndpoint<V3Context>[] = [messages];
