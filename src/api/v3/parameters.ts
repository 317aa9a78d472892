import { Type } from '@sinclair/typebox';
import { commaList } from '#api/http/comma-list.js';
import type { Profile } from '#api/http/http-api.js';
import { byProfile, documentedAs } from '#api/http/profile-keywords.js';
import {
  decodeAddress,
  decodeAddressOrNull,
  decodeHash,
  decodeLt,
  decodeOpcode,
  decodeShard,
  decodeSort,
} from '#api/v3/parameter-forms.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

const MAX_INT32 = 0x7fff_ffff;

const ADDRESS_EXAMPLE = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
const HASH_EXAMPLE = 'z8rVJtc9ObsmKK6RdaZJAwBAKqAS9bmgGRC+5k6xUzI=';

/** Most items of a list in a request. */
export const MAX_ITEMS = 1_000;

const ADDRESS_FORMS = 'in raw form (`0:` or `-1:` and 64 hexadecimal digits) or user-friendly form (48 characters)';
const HASH_FORMS = 'in hexadecimal, base64 or base64url';
const LIST_FORMS = 'several may be given by repeating the parameter or with commas between them';

/** An account. */
export function addressParameter(description: string) {
  return Type.Transform(Type.String({ description: `${description}, ${ADDRESS_FORMS}.`, examples: [ADDRESS_EXAMPLE] }))
    .Decode(decodeAddress)
    .Encode((address) => address.toRaw());
}

/** An account, or the word `null`. */
export function addressOrNullParameter(description: string) {
  return Type.Transform(Type.String({ description })).Decode(decodeAddressOrNull).Encode(String);
}

/** Several accounts. */
export function addressListParameter(description: string, { maxItems = MAX_ITEMS } = {}) {
  const item = Type.Transform(Type.String()).Decode(decodeAddress).Encode(String);
  const text = `${description}, ${ADDRESS_FORMS}; ${LIST_FORMS}.`;
  return commaList(item, { description: text, maxItems, examples: [[ADDRESS_EXAMPLE]] });
}

/** 256 bits; 32 bytes. */
export function hashParameter(description: string) {
  return Type.Transform(Type.String({ description: `${description}, ${HASH_FORMS}.` }))
    .Decode(decodeHash)
    .Encode(toBase64);
}

export function hashListParameter(description: string) {
  const item = Type.Transform(Type.String()).Decode(decodeHash).Encode(toBase64);
  const text = `${description}, ${HASH_FORMS}; ${LIST_FORMS}.`;
  return commaList(item, { description: text, maxItems: MAX_ITEMS, examples: [[HASH_EXAMPLE]] });
}

export const workchain = Type.Optional(
  Type.Integer({
    description: 'Workchain of the block: -1 is the masterchain, 0 the basechain.',
    format: 'int32',
    minimum: -MAX_INT32 - 1,
    maximum: MAX_INT32,
  }),
);

/** Unsigned. */
export const shard = Type.Optional(
  Type.Transform(
    Type.String({
      description:
        'Shard of the block, just that one: hexadecimal, such as 8000000000000000, with `0x` or without, or a signed ' +
        'decimal number.',
    }),
  )
    .Decode(decodeShard)
    .Encode((value) => value.toString(16)),
);

export function seqnoParameter(description: string) {
  return Type.Integer({ description, format: 'int32', minimum: 0, maximum: MAX_INT32 });
}

export const blockSeqno = Type.Optional(seqnoParameter('Number of the block in its shard.'));

/** What a masterchain block commits. */
export const mcSeqno = Type.Optional(
  seqnoParameter('Number of the masterchain block that commits it; one that is not indexed is an error (404).'),
);

export function ltParameter(description: string) {
  // Read as text, so that no digit is lost.
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
        description: `${description} Unix time in seconds; what is behind the decimal point is cut off.`,
        minimum: 0,
        maximum: 0xffff_ffff,
        ...documentedAs({ type: 'integer', format: 'int64' }),
      }),
    )
      .Decode(Math.trunc)
      .Encode((value) => value),
  );
}

/** Bounds of time; `what` says what they bound. */
export function timeParameters(utime: string, lt: string, start = lt) {
  return {
    start_utime: utimeParameter(`Only where ${utime} is at or after this.`),
    end_utime: utimeParameter(`Only where ${utime} is at or before this.`),
    start_lt: ltParameter(`Only where ${start} is at least this.`),
    end_lt: ltParameter(`Only where ${lt} is at most this.`),
  };
}

/** Most rows of one answer. */
export const MAX_LIMIT = 1_000;
export const DEFAULT_LIMIT = { spec: 10, toncenter: 100 } as const;

/** How many rows, where a method does not take as many as most do. */
export function limitParameter({
  most = MAX_LIMIT,
  byDefault = DEFAULT_LIMIT,
}: {
  readonly most?: number;
  readonly byDefault?: Readonly<Record<Profile, number>>;
} = {}) {
  const { spec, toncenter } = byDefault;
  const defaults =
    spec === toncenter
      ? `${spec}.`
      : `${spec}, as the published document says; ${toncenter} under /toncenter, as the live service does.`;
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

export const limit = limitParameter();

export const offset = Type.Optional(
  Type.Integer({
    description: 'Rows to leave out first. For far pages `cursor` is quicker.',
    format: 'int32',
    default: 0,
    minimum: 0,
    maximum: MAX_INT32,
  }),
);

export const cursor = Type.Optional(
  Type.String({
    description:
      'Goes on behind the last row of an answer: the header `X-Tern-Next` of that answer, which is there when more rows ' +
      'follow. Goes with the parameters of that request, and not with `offset`. Far pages cost what the first one does.',
    minLength: 1,
    maxLength: 1_000,
  }),
);

/** `asc` or `desc`; `a` and `d` and other letter case will do. @param byDefault null: another order than this one */
export function sortParameter(description: string, byDefault: 'asc' | 'desc' | null = 'desc') {
  return Type.Optional(
    Type.Transform(
      Type.String({
        description: `${description} \`asc\`: rising, \`desc\`: falling.`,
        enum: ['asc', 'desc'],
        ...(byDefault === null ? {} : { default: byDefault }),
      }),
    )
      .Decode(decodeSort)
      .Encode((value) => value),
  );
}

export const direction = Type.Optional(
  Type.Union([Type.Literal('in'), Type.Literal('out')], {
    description: '`in`: the transaction that received the message; `out`: the one that sent it. Default: both.',
  }),
);

export const opcode = Type.Optional(
  Type.Transform(
    Type.String({
      description:
        'First 32 bits of the body: hexadecimal, such as 0x0f8a7ea5, or a signed decimal number. Digits alone are decimal; ' +
        'under /toncenter they are hexadecimal where they can be, as in the live service.',
      examples: ['0x0f8a7ea5'],
    }),
  )
    .Decode(decodeOpcode)
    .Encode(({ spec }) => String(spec)),
);

/** A part of a list. */
export const pageFields = { limit, offset, cursor };
