import { type StaticDecode, Type } from '@sinclair/typebox';
import type { V2Context } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { type ParsedAddress, parseAddress } from '#formats/address/address.js';
import { type BlockPosition, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { fromBase64, fromHex, toBase64 } from '#kernel/bytes.js';
import type { BlockAt } from '#services/chain/read-context.js';

const MAX_INT32 = 0x7fff_ffff;
const LEAST_INT64 = -(1n << 63n);

const SHARD_EXAMPLE = '-9223372036854775808';
const ADDRESS_EXAMPLE = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
const HASH_EXAMPLE = 'z8rVJtc9ObsmKK6RdaZJAwBAKqAS9bmgGRC+5k6xUzI=';

export const NO_PARAMETERS = Type.Object({}, { additionalProperties: false });

/** An account in raw or user-friendly form. Decodes to the address with the flags of its form. */
export function parsedAddressParameter(description: string) {
  return Type.Transform(Type.String({ description, examples: [ADDRESS_EXAMPLE] }))
    .Decode((text): ParsedAddress => parseAddress(text))
    .Encode(({ address }) => address.toRaw());
}

/** `address`: the account of a method. */
export const accountParameter = parsedAddressParameter(
  'Account, in raw form (`0:` or `-1:` and 64 hexadecimal digits) or user-friendly form (48 characters).',
);

/** A required masterchain seqno. */
export const masterchainSeqno = Type.Integer({
  description: 'Seqno of a masterchain block; the first one is 1.',
  format: 'int32',
  minimum: 1,
  maximum: MAX_INT32,
  examples: [1],
});

/** `seqno` of reads that are about the newest block without it. */
export const optionalMasterchainSeqno = Type.Optional(
  Type.Integer({
    description: 'Seqno of the masterchain block as of which to read. Default: the newest one.',
    format: 'int32',
    minimum: 1,
    maximum: MAX_INT32,
  }),
);

/** Parameters of a method about the state of an account. */
export const accountParams = Type.Object(
  { address: accountParameter, seqno: optionalMasterchainSeqno },
  { additionalProperties: false },
);

/** Of an answer about an account: it changes with the next block, or never when it is about a named one. */
export function freshnessAt({ seqno }: { readonly seqno?: number }) {
  return seqno === undefined ? ('head' as const) : ('forever' as const);
}

/** `seqno` of a block in its shard. */
const blockSeqnoParameter = Type.Integer({
  description: 'Seqno of the block in its shard; the first one is 1.',
  format: 'int32',
  minimum: 1,
  maximum: MAX_INT32,
  examples: [1],
});

export const optionalBlockSeqno = Type.Optional(blockSeqnoParameter);

export const workchainParameter = Type.Integer({
  description: 'Workchain: -1 is the masterchain, 0 the basechain.',
  format: 'int32',
  minimum: -MAX_INT32 - 1,
  maximum: MAX_INT32,
  examples: [-1],
});

/** A shard as uint64, from any notation. */
export const shardParameter = Type.Transform(
  Type.String({
    description:
      'Shard as a signed 64-bit decimal number; the masterchain and an unsplit workchain have -9223372036854775808. ' +
      'The unsigned and the hexadecimal number (0x8000000000000000) are accepted as well. A prefix, such as the first ' +
      '64 bits of an account id, finds the shard that contains it.',
    format: 'int64',
    examples: [SHARD_EXAMPLE],
  }),
)
  .Decode(parseShard)
  .Encode((value) => BigInt.asIntN(64, value).toString());

/** A logical time or another int64, as a decimal string. */
export function int64Parameter(description: string, minimum: bigint = LEAST_INT64) {
  return Type.Transform(Type.String({ description, format: 'int64', examples: ['1000000'] }))
    .Decode((text) => parseInt64(text, minimum))
    .Encode(String);
}

/** As {@link int64Parameter}; an empty string is the same as none. */
export function optionalInt64Parameter(description: string, minimum: bigint = LEAST_INT64) {
  return Type.Optional(
    Type.Transform(Type.String({ description, format: 'int64' }))
      .Decode((text) => (text === '' ? undefined : parseInt64(text, minimum)))
      .Encode((value) => String(value ?? '')),
  );
}

/** 256 bits in any form of {@link parseHash256}; 32 bytes. */
export function hash256Parameter(description: string) {
  return Type.Transform(Type.String({ description, examples: [HASH_EXAMPLE] }))
    .Decode(parseHash256)
    .Encode(toBase64);
}

/** As {@link hash256Parameter}; an empty string is the same as none. */
export function optionalHashParameter(description: string) {
  return Type.Optional(
    Type.Transform(Type.String({ description }))
      .Decode((text) => (text === '' ? undefined : parseHash256(text)))
      .Encode((value) => (value === undefined ? '' : toBase64(value))),
  );
}

const rootHashParameter = optionalHashParameter('Root hash that the block must have; with `file_hash`.');

const fileHashParameter = optionalHashParameter('File hash that the block must have; with `root_hash`.');

export const afterLtParameter = optionalInt64Parameter(
  'Continue after the transaction with this lt, the last one of the previous response. Requires `after_hash`.',
  0n,
);

/** An account id, 32 bytes; a whole address is accepted as well. */
export const afterHashParameter = Type.Optional(
  Type.Transform(
    Type.String({ description: 'Account of the transaction to continue after: its address or its 256-bit id.' }),
  )
    .Decode((text) => (text === '' ? undefined : parseAccountId(text)))
    .Encode((value) => (value === undefined ? '' : toBase64(value))),
);

/** Most transactions of a block in one response. */
const MAX_COUNT = 10_000;
export const DEFAULT_COUNT = 40;

export const countParameter = Type.Optional(
  Type.Integer({
    description: `At most this many transactions, 1 to ${MAX_COUNT}.`,
    format: 'int64',
    default: DEFAULT_COUNT,
    minimum: 1,
    maximum: MAX_COUNT,
  }),
);

/** Most transactions of an account in one response. */
const MAX_TRANSACTION_LIMIT = 1000;
export const DEFAULT_TRANSACTION_LIMIT = 10;

export const transactionLimitParameter = Type.Optional(
  Type.Integer({
    description: `At most this many transactions, 1 to ${MAX_TRANSACTION_LIMIT}.`,
    format: 'int64',
    default: DEFAULT_TRANSACTION_LIMIT,
    minimum: 1,
    maximum: MAX_TRANSACTION_LIMIT,
  }),
);

export const toLtParameter = optionalInt64Parameter(
  'Leave out the transaction with this lt and all earlier ones. Without it, or with 0, there is no such bound.',
);

export const archivalParameter = Type.Optional(
  Type.Transform(
    Type.Union([Type.Boolean(), Type.Integer(), Type.String()], {
      description: 'Accepted for existing clients. Old transactions are always read from liteservers that have them.',
      default: false,
    }),
  )
    .Decode(parseBoolean)
    .Encode((value) => value ?? false),
);

export const unixtimeParameter = Type.Optional(
  Type.Integer({
    description: 'Unix time in seconds: finds the block of that second, or the first one after it.',
    format: 'int32',
    minimum: 0,
    maximum: MAX_INT32,
  }),
);

/** Number of a configuration parameter, which may be negative. */
export function configIdParameter(description: string, examples?: readonly number[]) {
  const integer = { description, format: 'int32', minimum: -MAX_INT32 - 1, maximum: MAX_INT32 };
  return Type.Optional(Type.Integer(examples === undefined ? integer : { ...integer, examples }));
}

/** Most libraries in one request. */
export const MAX_LIBRARIES = 16;

/** Hashes of libraries. */
export const librariesParameter = Type.Array(hash256Parameter('Hash of a library cell.'), {
  description: `Hashes of the libraries, up to ${MAX_LIBRARIES}, each in hexadecimal, base64 or base64url.`,
  maxItems: MAX_LIBRARIES,
});

const MIN_INT64 = -(1n << 63n);
const MAX_INT64 = (1n << 63n) - 1n;
const MAX_UINT64 = (1n << 64n) - 1n;

/**
 * Reads 256 bits: 64 hexadecimal digits, 44 characters of base64 or base64url with padding, or 43 of base64url without.
 * @throws v2/parameter-value
 */
export function parseHash256(text: string): Uint8Array {
  const bytes =
    text.length === 64
      ? fromHex(text)
      : (text.length === 44 && text.endsWith('=')) || (text.length === 43 && !/[+/]/.test(text))
        ? fromBase64(text)
        : null;
  if (bytes?.length === 32) return bytes;
  throw badValue(`${quoted(text)} is not a hash: 64 hexadecimal digits or 32 bytes in base64 or base64url`);
}

/** An account id in any form of {@link parseHash256}, or in an address. @throws v2/parameter-value */
export function parseAccountId(text: string): Uint8Array {
  if (text.includes(':') || text.length === 48) return parseAddress(text).address.hash;
  return parseHash256(text);
}

/** Standard base64 with padding only. @throws v2/parameter-value */
export function decodeBase64(text: string): Uint8Array {
  const stray = /[^A-Za-z0-9+/=]/.exec(text);
  if (stray !== null) {
    const { index, 0: character } = stray;
    const hint = character === '-' || character === '_' ? '; this is base64url, expected is standard base64' : '';
    throw badValue(`it is not base64: ${JSON.stringify(character)} at offset ${index}${hint}`);
  }
  if (text.length % 4 !== 0) {
    throw badValue(`it is not base64: ${text.length} characters, expected is a multiple of 4 with padding`);
  }
  const bytes = fromBase64(text);
  if (bytes !== null) return bytes;
  throw badValue('it is not base64: the padding or the last bits are wrong');
}

/** Bytes of well-formed standard base64 with padding, without decoding it. */
export function base64Length(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor((text.length * 3) / 4) - padding;
}

/** As {@link decodeBase64}, of at least one byte. @throws v2/parameter-value */
export function decodeNonEmptyBase64(text: string): Uint8Array {
  if (text === '') throw badValue('it is empty');
  return decodeBase64(text);
}

/** Decimal digits with an optional sign. @throws v2/parameter-value */
export function parseInt64(text: string, minimum: bigint): bigint {
  const value = /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace('+', '')) : null;
  if (value !== null && value >= minimum && value <= MAX_INT64) return value;
  throw badValue(`${quoted(text)} is not a whole number from ${minimum} to ${MAX_INT64}`);
}

const TRUE = /^(y|yes|t|true|on|1)$/i;
const FALSE = /^(n|no|f|false|off|0)$/i;

/** Booleans as queries have them; an empty string is the same as none. @throws v2/parameter-value */
export function parseBoolean(value: boolean | number | string): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (value === '') return undefined;
  if (TRUE.test(value)) return true;
  if (FALSE.test(value)) return false;
  throw badValue(`${quoted(value)} is neither true nor false`);
}

/** A shard as uint64, from any notation. @throws v2/parameter-value */
export function parseShard(text: string): bigint {
  let value: bigint | null = null;
  if (/^[+-]?\d{1,20}$/.test(text)) value = BigInt(text.replace('+', ''));
  else if (/^0[xX][0-9a-fA-F]{1,16}$/.test(text)) value = BigInt(text);
  if (value === null || value < MIN_INT64 || value > MAX_UINT64) {
    throw badValue(`${quoted(text)} is not a shard: a 64-bit decimal number or 0x and up to 16 hexadecimal digits`);
  }
  // Without the bit that ends the prefix it stands for the first shard, as an account id of zeros does.
  return value === 0n ? 1n : BigInt.asUintN(64, value);
}

function badValue(problem: string): Error {
  return v2Errors['parameter-value']({ problem });
}

/** A string, shortened and quoted for messages. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}

/** Parameters that identify a block of any shard. */
export const blockPositionFields = { workchain: workchainParameter, shard: shardParameter, seqno: blockSeqnoParameter };

/** Parameters that identify a block of any shard, hashes optional. */
export const blockFields = { ...blockPositionFields, root_hash: rootHashParameter, file_hash: fileHashParameter };

const BlockParameters = Type.Object(blockFields);

/** The masterchain has one shard: every prefix belongs to it. */
export function blockPosition(position: BlockPosition): BlockPosition {
  const { workchain: chain, seqno } = position;
  return chain === MASTERCHAIN_SHARD.workchain ? { ...MASTERCHAIN_SHARD, seqno } : position;
}

/** The block that {@link blockFields} identify. Given hashes must be those of the block. */
export async function blockAt(
  params: StaticDecode<typeof BlockParameters>,
  { network: { chain }, read }: V2Context,
): Promise<BlockAt> {
  const { root_hash, file_hash } = params;
  const position = blockPosition({ workchain: params.workchain, shard: params.shard, seqno: params.seqno });
  if (root_hash === undefined && file_hash === undefined) return position;
  const id = await chain.blockId(position, read);
  return { ...id, root_hash: root_hash ?? id.root_hash, file_hash: file_hash ?? id.file_hash };
}
