import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, commaList, jsonText } from '#api/http/endpoint.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { DecodeResponse } from '#api/v3/legacy-calls.js';
import { invalidParameter, MAX_LIST_ITEMS, quotedInput } from '#api/v3/parameters.js';
import { decodeMessageBodyText, opcodeName, parseOpcode } from '#domain/message-bodies/decode-message-body.js';

/** How names of opcodes that have none are answered. */
const UNKNOWN = 'unknown';

const opcode = Type.Transform(Type.String())
  .Decode((text) => {
    const read = parseOpcode(text);
    if (read === null) throw invalidParameter(`${quotedInput(text)} is not an opcode`);
    return read;
  })
  .Encode(String);

const decode = v3Endpoint({
  name: 'decode',
  verbs: ['GET', 'POST'],
  tag: 'Utils',
  summary: 'Names of opcodes, fields of bodies',
  description:
    'What opcodes are called, and bodies of messages by their layouts, in the order given. Opcodes are hexadecimal with `0x` ' +
    'or without, or else decimal. Bodies are bags of cells in base64 or hexadecimal; one that cannot be decoded has an ' +
    '`error` in its place. Long bodies go by POST.',
  params: Type.Object(
    {
      opcodes: Type.Optional(
        commaList(opcode, { description: 'Opcodes.', maxItems: MAX_LIST_ITEMS, examples: [['0x0f8a7ea5']] }),
      ),
      bodies: Type.Optional(commaList(Type.String(), { description: 'Bodies.', maxItems: MAX_LIST_ITEMS })),
    },
    { additionalProperties: false },
  ),
  result: DecodeResponse,
  statuses: [422],
  freshness: 'forever',
  handle: async ({ opcodes = [], bodies = [] }) => {
    const names = opcodes.map((one) => opcodeName(one) ?? UNKNOWN);
    const decoded = bodies.map(decodeMessageBodyText);
    return jsonText(JSON.stringify({ opcodes: names, bodies: decoded }));
  },
});

export const decodeEndpoints: readonly AnyEndpoint<V3Context>[] = [decode];
