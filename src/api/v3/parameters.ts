import { Type } from '@sinclair/typebox';
import { commaList } from '#api/http/endpoint.js';
import type { Profile } from '#api/http/http-api.js';
import { byProfile, documentedAs } from '#api/http/openapi-schemas.js';
import { REFUSES_EMPTY } from '#api/http/parameters.js';
import { v3Errors } from '#api/v3/errors.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { fromBase64, fromHex, toBase64 } from '#kernel/bytes.js';

const MAX_UINT64 = (1n << 64n) - 1n;
const MAX_INT64 = (1n << 63n) - 1n;
const MIN_INT64 = -(1n << 63n);

/** An account in raw or user-friendly form; flags of the latter are ignored. @throws address/*, v3/parameter-value */
export function decodeAccount(text: string): Address {
  const { address } = parseAddress(text);
  if ((address.workchain << 24) >> 24 === address.workchain) return address;
  throw invalidParameter(`the workchain of ${quotedInput(text)} is not within -128 to 127`);
}

/** As {@link decodeAccount}, or the word `null`: no address. @throws address/*, v3/parameter-value */
export function decodeAccountOrNull(text: string): Address | null {
  return text === 'null' ? null : decodeAccount(text);
}

/**
 * Decodes 256 bits: 64 hexadecimal digits, with `0x` or without, or 44 characters of base64 or base64url.
 * @throws v3/parameter-value
 */
export function decodeHash256(text: string): Uint8Array {
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  const bytes = digits.length === 64 ? fromHex(digits) : text.length === 44 ? fromBase64(text) : null;
  if (bytes?.length === 32) return bytes;
  const hint = text.includes(' ') ? '; a + must be written %2B in a URL' : '';
  throw invalidParameter(`${quotedInput(text)} is not a hash: 64 hexadecimal digits or 44 characters of base64${hint}`);
}

/**
 * A shard as uint64: hexadecimal with `0x` or without, or else a signed decimal number. Decimal digits are a valid shard in only one
 * of these readings, except for shards that are split more than nine times.
 * @throws v3/parameter-value
 */
export function decodeShardPrefix(text: string): bigint {
  const hex = /^(?:0[xX])?([0-9a-fA-F]{1,16})$/.exec(text)?.[1];
  if (hex !== undefined) {
    const shard = BigInt(`0x${hex}`);
    if (isShardPrefix(shard)) return shard;
  }
  if (/^-?\d{1,19}$/.test(text)) {
    const value = BigInt(text);
    const shard = BigInt.asUintN(64, value);
    if (value >= MIN_INT64 && value <= MAX_INT64 && isShardPrefix(shard)) return shard;
  }
  throw invalidParameter(
    `${quotedInput(text)} is not a shard: up to 16 hexadecimal digits, or a signed 64-bit decimal number`,
  );
}

/** A prefix of at most 60 bits, a terminating 1 bit, and zeros. */
function isShardPrefix(shard: bigint): boolean {
  return shard !== 0n && (shard & 7n) === 0n;
}

/** The two readings of a text as an opcode, both unsigned. */
export interface OpcodeReadings {
  /** As in the published document: digits alone are decimal. */
  readonly spec: number;
  /** As in the live service: hexadecimal if possible. */
  readonly toncenter: number;
}

/**
 * The first 32 bits of a body: hexadecimal with `0x` or without, or a signed decimal number.
 * @throws v3/parameter-value
 */
export function decodeOpcode(text: string): OpcodeReadings {
  const hex = /^(?:0[xX])?([0-9a-fA-F]{1,8})$/.exec(text)?.[1];
  const asHex = hex === undefined ? null : Number.parseInt(hex, 16);
  const value = /^-?\d{1,10}$/.test(text) ? Number(text) : null;
  const asDecimal = value !== null && (value | 0) === value ? value >>> 0 : null;
  const spec = asDecimal ?? asHex;
  const toncenter = asHex ?? asDecimal;
  if (spec !== null && toncenter !== null) return { spec, toncenter };
  throw invalidParameter(
    `${quotedInput(text)} is not an opcode: 0x and up to 8 hexadecimal digits, or a signed 32-bit decimal number`,
  );
}

/** The reading of a profile; undefined: no opcode was given. */
export function opcodeIn(profile: Profile, readings: OpcodeReadings | undefined): number | undefined {
  return readings?.[profile];
}

/**
 * A logical time in decimal digits, uint64. Values above 2^63 - 1, the maximum of PostgreSQL, are reduced to it: no logical time
 * comes close.
 * @throws v3/parameter-value
 */
export function decodeLt(text: string): bigint {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : null;
  if (value !== null && value <= MAX_UINT64) return value > MAX_INT64 ? MAX_INT64 : value;
  throw invalidParameter(`${quotedInput(text)} is not a whole number from 0 to ${MAX_UINT64}`);
}

const SORTS: ReadonlyMap<string, 'asc' | 'desc'> = new Map([
  ['asc', 'asc'],
  ['a', 'asc'],
  ['desc', 'desc'],
  ['d', 'desc'],
]);

/** `asc` or `desc`, `a` or `d`, in any letter case. @throws v3/parameter-value */
export function decodeSort(text: string): 'asc' | 'desc' {
  const sort = SORTS.get(text.toLowerCase());
  if (sort !== undefined) return sort;
  throw invalidParameter(`${quotedInput(text)} is neither asc nor desc`);
}

/** Index of an item in its collection: at most 257 bits. @throws v3/parameter-value */
export function decodeIndex(text: string): bigint {
  if (/^\d{1,78}$/.test(text)) return BigInt(text);
  throw invalidParameter(`index should contain digits only, at most 78, but is ${quotedInput(text)}`);
}

export function invalidParameter(problem: string, cause?: unknown): Error {
  return v3Errors['parameter-value']({ problem }, cause);
}

/** A text for an error message, shortened to 80 characters. */
export function quotedInput(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}

const MAX_INT32 = 0x7fff_ffff;

const ADDRESS_EXAMPLE = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
const HASH_EXAMPLE = 'z8rVJtc9ObsmKK6RdaZJAwBAKqAS9bmgGRC+5k6xUzI=';

/** Maximal number of items of a list in a request. */
export const MAX_LIST_ITEMS = 1_000;

const ADDRESS_FORMS = 'in raw form (`0:` or `-1:` and 64 hexadecimal digits) or user-friendly form (48 characters)';
const HASH_FORMS = 'in hexadecimal, base64 or base64url';
const LIST_FORMS = 'several may be given by repeating the parameter or with commas between them';

/** An account. */
export function v3AccountParameter(description: string) {
  return Type.Transform(
    Type.String({
      description: `${description}, ${ADDRESS_FORMS}.`,
      examples: [ADDRESS_EXAMPLE],
      [REFUSES_EMPTY]: true,
    }),
  )
    .Decode(decodeAccount)
    .Encode((address) => address.toRaw());
}

/** An account, or the word `null`. */
export function accountOrNullParameter(description: string) {
  return Type.Transform(Type.String({ description, [REFUSES_EMPTY]: true }))
    .Decode(decodeAccountOrNull)
    .Encode(String);
}

/** Several accounts. */
export function v3AccountListParameter(description: string, { maxItems = MAX_LIST_ITEMS } = {}) {
  const item = Type.Transform(Type.String()).Decode(decodeAccount).Encode(String);
  const text = `${description}, ${ADDRESS_FORMS}; ${LIST_FORMS}.`;
  return commaList(item, { description: text, maxItems, examples: [[ADDRESS_EXAMPLE]] });
}

/** 256 bits; 32 bytes. */
export function v3HashParameter(description: string) {
  return Type.Transform(Type.String({ description: `${description}, ${HASH_FORMS}.`, [REFUSES_EMPTY]: true }))
    .Decode(decodeHash256)
    .Encode(toBase64);
}

export function v3HashListParameter(description: string) {
  const item = Type.Transform(Type.String()).Decode(decodeHash256).Encode(toBase64);
  const text = `${description}, ${HASH_FORMS}; ${LIST_FORMS}.`;
  return commaList(item, { description: text, maxItems: MAX_LIST_ITEMS, examples: [[HASH_EXAMPLE]] });
}

export const v3WorkchainParameter = Type.Optional(
  Type.Integer({
    description: 'Workchain of the block: -1 is the masterchain, 0 the basechain.',
    format: 'int32',
    minimum: -MAX_INT32 - 1,
    maximum: MAX_INT32,
  }),
);

/** Unsigned. */
export const v3ShardParameter = Type.Optional(
  Type.Transform(
    Type.String({
      description:
        'Exact shard of the block: hexadecimal, such as 8000000000000000, with `0x` or without, or a signed decimal number.',
      [REFUSES_EMPTY]: true,
    }),
  )
    .Decode(decodeShardPrefix)
    .Encode((value) => value.toString(16)),
);

export function seqnoParameter(description: string) {
  return Type.Integer({ description, format: 'int32', minimum: 0, maximum: MAX_INT32 });
}

export const v3BlockSeqnoParameter = Type.Optional(seqnoParameter('Seqno of the block in its shard.'));

/** Blocks that a masterchain block commits. */
export const mcSeqnoParameter = Type.Optional(
  seqnoParameter('Seqno of the masterchain block that commits it; one that is not indexed is an error (404).'),
);

export function ltParameter(description: string) {
  // Decoded from text, so that no digit is lost.
  const words = documentedAs({ type: 'integer', format: 'int64', minimum: 0 });
  return Type.Optional(
    Type.Transform(Type.String({ description, ...words }))
      .Decode(decodeLt)
      .Encode(String),
  );
}

function utimeParameter(description: string) {
  return Type.Optional(
    Type.Transform(
      Type.Number({
        description: `${description} Unix time in seconds; decimal places are cut off.`,
        minimum: 0,
        maximum: 0xffff_ffff,
        [REFUSES_EMPTY]: true,
        ...documentedAs({ type: 'integer', format: 'int64' }),
      }),
    )
      .Decode(Math.trunc)
      .Encode((value) => value),
  );
}

/** Bounds of time. @param utime, lt, start names of the bounded members */
export function timeParameters(utime: string, lt: string, start = lt) {
  return {
    start_utime: utimeParameter(`Only if ${utime} is at or after this.`),
    end_utime: utimeParameter(`Only if ${utime} is at or before this.`),
    start_lt: ltParameter(`Only if ${start} is at least this.`),
    end_lt: ltParameter(`Only if ${lt} is at most this.`),
  };
}

/** Maximal number of rows of one answer. */
export const MAX_PAGE_ROWS = 1_000;
export const DEFAULT_PAGE_ROWS = { spec: 10, toncenter: 100 } as const;

/** Number of rows. @param most maximum of the method @param byDefault default of the method by profile */
export function limitParameter({
  most = MAX_PAGE_ROWS,
  byDefault = DEFAULT_PAGE_ROWS,
}: {
  readonly most?: number;
  readonly byDefault?: Readonly<Record<Profile, number>>;
} = {}) {
  const { spec, toncenter } = byDefault;
  const defaults =
    spec === toncenter
      ? `${spec}.`
      : `${spec}, as in the published document; ${toncenter} under /toncenter, as in the live service.`;
  return Type.Optional(
    Type.Integer({
      description: `At most this many rows, 1 to ${most}. Default: ${defaults}`,
      format: 'int32',
      minimum: 1,
      maximum: most,
      ...byProfile({ spec: { default: spec }, toncenter: { default: toncenter } }),
    }),
  );
}

const limitField = limitParameter();

const offsetField = Type.Optional(
  Type.Integer({
    description: 'Rows to skip. For deep pages `cursor` is faster.',
    format: 'int32',
    default: 0,
    minimum: 0,
    maximum: MAX_INT32,
  }),
);

const cursorField = Type.Optional(
  Type.String({
    description:
      'Continues after the last row of an answer: the header `X-Tern-Next` of that answer, which is present if more rows ' +
      'follow. Requires the same parameters as that request, and excludes `offset`. Deep pages cost as much as the first one.',
    minLength: 1,
    maxLength: 1_000,
  }),
);

/** `asc` or `desc`; also `a` and `d`, in any letter case. @param byDefault null: another order than this one */
export function sortParameter(description: string, byDefault: 'asc' | 'desc' | null = 'desc') {
  return Type.Optional(
    Type.Transform(
      Type.String({
        description: `${description} \`asc\`: ascending, \`desc\`: descending.`,
        enum: ['asc', 'desc'],
        ...(byDefault === null ? {} : { default: byDefault }),
      }),
    )
      .Decode(decodeSort)
      .Encode((value) => value),
  );
}

/** An extension of the published document. @param what is left out */
export function excludeSystemParameter(what: string) {
  return Type.Optional(Type.Boolean({ description: `Without ${what}. An extension of Tern.` }));
}

export const messageDirectionParameter = Type.Optional(
  Type.Union([Type.Literal('in'), Type.Literal('out')], {
    description: '`in`: the transaction that received the message; `out`: the one that sent it. Default: both.',
    [REFUSES_EMPTY]: true,
  }),
);

export const opcodeParameter = Type.Optional(
  Type.Transform(
    Type.String({
      description:
        'First 32 bits of the message body: hexadecimal, such as 0x0f8a7ea5, or a signed decimal number. Digits alone are decimal; ' +
        'under /toncenter they are hexadecimal if possible, as in the live service.',
      examples: ['0x0f8a7ea5'],
      [REFUSES_EMPTY]: true,
    }),
  )
    .Decode(decodeOpcode)
    .Encode(({ spec }) => String(spec)),
);

/** Parameters of a page. */
export const pageFields = { limit: limitField, offset: offsetField, cursor: cursorField };
