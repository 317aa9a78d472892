import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, commaList, jsonText } from '#api/http/endpoint.js';
import { REFUSES_EMPTY } from '#api/http/parameters.js';
import { AddressCollector, answerType, answerValue, anyObject, list, writeAnswerJson } from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { NEEDS_NOTHING } from '#api/v3/coverage.js';
import { invalidParameter, MAX_LIST_ITEMS, quotedInput } from '#api/v3/parameters.js';
import { itemsPrice, ROW_PRICE } from '#api/v3/price.js';
import { decodeMessageBodyText, opcodeName, parseOpcode } from '#domain/message-bodies/decode-message-body.js';

const DecodeResponse = answerType('DecodeResponse', {
  opcodes: answerValue<readonly string[]>(
    Type.Array(Type.String(), {
      description: 'Names, in the order of the request; `unknown` for opcodes without a name.',
    }),
    (names) => JSON.stringify(names),
  ),
  bodies: list(anyObject('A message body by its layout, or `error` with the reason.')),
});

/** The name of opcodes without one. */
const UNKNOWN = 'unknown';

const opcode = Type.Transform(Type.String())
  .Decode((text) => {
    const read = parseOpcode(text);
    if (read === null) throw invalidParameter(`${quotedInput(text)} is not an opcode`);
    return read;
  })
  .Encode(String);

const opcodesPrice = itemsPrice(ROW_PRICE.opcode);

/** Characters of bodies that take one unit: of bodies with nested ones, the JSON of which is several times as long. */
const CHARACTERS_PER_UNIT = 2_000;

function decodePrice(params: { readonly opcodes?: readonly number[]; readonly bodies?: readonly string[] }): number {
  const characters = (params.bodies ?? []).reduce((sum, body) => sum + body.length, 0);
  return opcodesPrice(params) + characters / CHARACTERS_PER_UNIT;
}

const decode = v3Endpoint({
  name: 'decode',
  verbs: ['GET', 'POST'],
  tag: 'Utils',
  summary: 'Decodes opcodes and message bodies',
  description:
    'Names of opcodes, and message bodies decoded by their layouts, in the order of the request. Opcodes are hexadecimal with ' +
    '`0x` or without, or else decimal. Bodies are bags of cells in base64 or hexadecimal; one that cannot be decoded has an ' +
    '`error` in its place. Use POST for long bodies.',
  params: Type.Object(
    {
      opcodes: Type.Optional(
        commaList(opcode, {
          description: 'Opcodes.',
          maxItems: MAX_LIST_ITEMS,
          examples: [['0x0f8a7ea5']],
          [REFUSES_EMPTY]: true,
        }),
      ),
      bodies: Type.Optional(commaList(Type.String(), { description: 'Message bodies.', maxItems: MAX_LIST_ITEMS })),
    },
    { additionalProperties: false },
  ),
  result: DecodeResponse.schema,
  statuses: [422],
  price: decodePrice,
  coverage: NEEDS_NOTHING,
  freshness: 'forever',
  handle: async ({ opcodes = [], bodies = [] }, { profile, slices }) => {
    const decoded: ReturnType<typeof decodeMessageBodyText>[] = [];
    slices.begin();
    for (const body of bodies) {
      if (slices.isOver) await slices.next();
      decoded.push(decodeMessageBodyText(body));
    }
    const answer = { opcodes: opcodes.map((one) => opcodeName(one) ?? UNKNOWN), bodies: decoded };
    return jsonText(writeAnswerJson(DecodeResponse, answer, { profile, addresses: new AddressCollector() }));
  },
});

export const decodeEndpoints: readonly AnyEndpoint<V3Context>[] = [decode];
