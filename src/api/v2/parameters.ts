import { Type } from '@sinclair/typebox';
import {
  decodeAccountId,
  decodeBase64,
  decodeBoolean,
  decodeHash,
  decodeInt64,
  decodeNonEmptyBase64,
  decodeShard,
} from '#api/v2/parameter-forms.js';
import { type ParsedAddress, parseAddress } from '#formats/address/parse-address.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

const MAX_INT32 = 0x7fff_ffff;
const MIN_INT64 = -(1n << 63n);

const SHARD_EXAMPLE = '-9223372036854775808';
const ADDRESS_EXAMPLE = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
const HASH_EXAMPLE = 'z8rVJtc9ObsmKK6RdaZJAwBAKqAS9bmgGRC+5k6xUzI=';

/** An account: raw or user-friendly form. Decodes to what was written, flags included. */
export function addressParameter(description: string) {
  return Type.Transform(Type.String({ description, examples: [ADDRESS_EXAMPLE] }))
    .Decode((text): ParsedAddress => parseAddress(text))
    .Encode(({ address }) => address.toRaw());
}

/** `address`, the account that a method is about. */
export const address = addressParameter(
  'Account to look at, in raw form (`0:` or `-1:` and 64 hexadecimal digits) or user-friendly form (48 characters).',
);

/** A masterchain seqno that must be given. */
export const masterchainSeqno = Type.Integer({
  description: 'Number of a masterchain block; the first one is 1.',
  format: 'int32',
  minimum: 1,
  maximum: MAX_INT32,
  examples: [1],
});

/** `seqno` of reads that are otherwise about the newest block. */
export const optionalMasterchainSeqno = Type.Optional(
  Type.Integer({
    description: 'Number of the masterchain block after which to look. Default: the newest one.',
    format: 'int32',
    minimum: 1,
    maximum: MAX_INT32,
  }),
);

/** `seqno` of a block in its shard. */
export const blockSeqno = Type.Integer({
  description: 'Number of the block in its shard; the first one is 1.',
  format: 'int32',
  minimum: 1,
  maximum: MAX_INT32,
  examples: [1],
});

export const optionalBlockSeqno = Type.Optional(blockSeqno);

export const workchain = Type.Integer({
  description: 'Workchain: -1 is the masterchain, 0 the basechain.',
  format: 'int32',
  minimum: -MAX_INT32 - 1,
  maximum: MAX_INT32,
  examples: [-1],
});

/** A shard as uint64, whichever way it was written. */
export const shard = Type.Transform(
  Type.String({
    description:
      'Shard as a signed 64-bit decimal number; the masterchain and an unsplit workchain have -9223372036854775808. ' +
      'The unsigned number and the hexadecimal one (0x8000000000000000) are taken as well. A prefix of the shard, such ' +
      'as the first 64 bits of an account id, finds the shard that contains it.',
    format: 'int64',
    examples: [SHARD_EXAMPLE],
  }),
)
  .Decode(decodeShard)
  .Encode((value) => BigInt.asIntN(64, value).toString());

/** A logical time or another int64 that travels as a decimal string. */
export function int64Parameter(description: string, minimum: bigint = MIN_INT64) {
  return Type.Transform(Type.String({ description, format: 'int64', examples: ['1000000'] }))
    .Decode((text) => decodeInt64(text, minimum))
    .Encode(String);
}

/** As {@link int64Parameter}; an empty text is the same as none. */
export function optionalInt64Parameter(description: string, minimum: bigint = MIN_INT64) {
  return Type.Optional(
    Type.Transform(Type.String({ description, format: 'int64' }))
      .Decode((text) => (text === '' ? undefined : decodeInt64(text, minimum)))
      .Encode((value) => String(value ?? '')),
  );
}

/** 256 bits in any form of {@link decodeHash}; 32 bytes. */
export function hashParameter(description: string) {
  return Type.Transform(Type.String({ description, examples: [HASH_EXAMPLE] }))
    .Decode(decodeHash)
    .Encode(toBase64);
}

/** As {@link hashParameter}; an empty text is the same as none. */
export function optionalHashParameter(description: string) {
  return Type.Optional(
    Type.Transform(Type.String({ description }))
      .Decode((text) => (text === '' ? undefined : decodeHash(text)))
      .Encode((value) => (value === undefined ? '' : toBase64(value))),
  );
}

export const rootHash = optionalHashParameter(
  'Root hash of the block. Together with `file_hash` it makes sure that just this block is meant.',
);

export const fileHash = optionalHashParameter('File hash of the block; goes with `root_hash`.');

export const afterLt = optionalInt64Parameter(
  'Go on after the transaction with this lt: that of the last one of the previous answer. Goes with `after_hash`.',
  0n,
);

/** An account id, 32 bytes; a whole address is taken as well. */
export const afterHash = Type.Optional(
  Type.Transform(
    Type.String({ description: 'Account of the transaction to go on after: its address or its 256-bit id.' }),
  )
    .Decode((text) => (text === '' ? undefined : decodeAccountId(text)))
    .Encode((value) => (value === undefined ? '' : toBase64(value))),
);

/** Most transactions of a block in one answer. */
export const MAX_COUNT = 10_000;
export const DEFAULT_COUNT = 40;

export const count = Type.Optional(
  Type.Integer({
    description: `At most this many transactions, 1 to ${MAX_COUNT}.`,
    format: 'int64',
    default: DEFAULT_COUNT,
    minimum: 1,
    maximum: MAX_COUNT,
  }),
);

/** Most transactions of an account in one answer. */
export const MAX_LIMIT = 1000;
export const DEFAULT_LIMIT = 10;

export const limit = Type.Optional(
  Type.Integer({
    description: `At most this many transactions, 1 to ${MAX_LIMIT}.`,
    format: 'int64',
    default: DEFAULT_LIMIT,
    minimum: 1,
    maximum: MAX_LIMIT,
  }),
);

export const toLt = optionalInt64Parameter(
  'Leave out the transaction with this lt and all before it. Without it, or with 0, there is no such bound.',
);

export const archival = Type.Optional(
  Type.Transform(
    Type.Union([Type.Boolean(), Type.Integer(), Type.String()], {
      description:
        'Accepted for the sake of existing clients. Old transactions are always looked for on servers that have them.',
      default: false,
    }),
  )
    .Decode(decodeBoolean)
    .Encode((value) => value ?? false),
);

export const unixtime = Type.Optional(
  Type.Integer({
    description: 'Unix time in seconds: finds the block of that second, or else the first one after it.',
    format: 'int32',
    minimum: 0,
    maximum: MAX_INT32,
  }),
);

/** A parameter of the configuration. There are some with negative numbers. */
export function configIdParameter(description: string, examples?: readonly number[]) {
  const integer = { description, format: 'int32', minimum: -MAX_INT32 - 1, maximum: MAX_INT32 };
  return Type.Optional(Type.Integer(examples === undefined ? integer : { ...integer, examples }));
}

/** Most libraries in one request. */
export const MAX_LIBRARIES = 16;

/** Hashes of libraries. */
export const libraries = Type.Array(hashParameter('Hash of a library cell.'), {
  description: `Hashes of the libraries, up to ${MAX_LIBRARIES}, each in hexadecimal, base64 or base64url.`,
  maxItems: MAX_LIBRARIES,
});

/** Bytes in strict base64 that must not be empty: a bag of cells, not yet read. */
export function bocParameter(description: string) {
  return Type.Transform(Type.String({ description, contentEncoding: 'base64' }))
    .Decode(decodeNonEmptyBase64)
    .Encode(toBase64);
}

/** As {@link bocParameter}; an empty text is the same as none. */
export function optionalBocParameter(description: string) {
  return Type.Optional(
    Type.Transform(Type.String({ description, contentEncoding: 'base64', default: '' }))
      .Decode((text) => (text === '' ? undefined : decodeBase64(text)))
      .Encode((value) => (value === undefined ? '' : toBase64(value))),
  );
}
