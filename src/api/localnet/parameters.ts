import { type TProperties, Type } from '@sinclair/typebox';
import { localnetApiErrors } from '#api/localnet/errors.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { shardPrefixLength } from '#formats/tlb/block-id.js';
import { fromBase64, fromHex, toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

const ADDRESS_EXAMPLE = '0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8';

/** Twice what mainnet has; more than any contract reckons with. */
const MOST_NANOTONS = 10n ** 19n;

/** Everything that a method takes; other names are refused. */
export function paramsOf<Fields extends TProperties>(fields: Fields) {
  return Type.Object(fields, { additionalProperties: false });
}

/** An account. */
export function localAddressParameter(description: string) {
  const forms = 'in raw form (`0:` or `-1:` and 64 hexadecimal digits) or user-friendly form (48 characters)';
  return Type.Transform(Type.String({ description: `${description}, ${forms}.`, examples: [ADDRESS_EXAMPLE] }))
    .Decode(parseLocalAddress)
    .Encode((address) => address.toRaw());
}

/** An amount in nanotons. */
export function nanotonsParameter(description: string, least: bigint, { hasExample = true } = {}) {
  const bounds = `Nanotons (1 TON is 1000000000), as text or as a whole number, ${least} to ${MOST_NANOTONS}.`;
  return Type.Transform(
    Type.String({
      description: `${description} ${bounds}`,
      format: 'int64',
      ...(hasExample ? { examples: ['1000000000'] } : {}),
    }),
  )
    .Decode((text) => parseNanotons(text, least, MOST_NANOTONS))
    .Encode(String);
}

/** A cell in a bag of cells. */
export function localCellParameter(description: string) {
  const text = `${description} A bag of cells in base64 or hexadecimal.`;
  return Type.Transform(Type.String({ description: text }))
    .Decode(parseCellText)
    .Encode(encodeCellText);
}

/** What a split or a merge is about. */
export const shardParameters = {
  workchain: Type.Optional(
    Type.Integer({
      description: 'Workchain of the shard. The masterchain has one shard for ever.',
      default: 0,
      minimum: 0,
      maximum: 0,
    }),
  ),
  shard: Type.Transform(
    Type.String({
      description:
        'The shard, one that the status lists: hexadecimal, such as 8000000000000000, with `0x` or without, or a signed ' +
        'decimal number.',
      examples: ['8000000000000000'],
    }),
  )
    .Decode(parseLocalShard)
    .Encode((value) => value.toString(16)),
};

/** What a snapshot is called. */
export const snapshotName = Type.String({
  description: 'Name of the snapshot: up to 64 letters, digits, `-`, `_` and `.`, the first one a letter or a digit.',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  examples: ['before-the-sale'],
});

/** The workchains that local networks have. */
const WORKCHAINS: ReadonlySet<number> = new Set([-1, 0]);

/** An account in raw or user-friendly form; the flags of the latter do not matter. @throws address/*, localnet-api/parameter-value */
function parseLocalAddress(text: string): Address {
  const { address } = parseAddress(text);
  if (WORKCHAINS.has(address.workchain)) return address;
  throw badParameterValue(`${quoted(text)} is in workchain ${address.workchain}; a local network has -1 and 0`);
}

/** Nanotons in decimal digits. @throws localnet-api/parameter-value */
function parseNanotons(text: string, least: bigint, most: bigint): bigint {
  const value = /^\d{1,40}$/.test(text) ? BigInt(text) : null;
  if (value !== null && value >= least && value <= most) return value;
  throw badParameterValue(`${quoted(text)} is not a whole number of nanotons from ${least} to ${most}`);
}

/** A shard as uint64: hexadecimal with `0x` or without, or else a signed decimal number. @throws localnet-api/parameter-value */
function parseLocalShard(text: string): bigint {
  const hex = /^(?:0[xX])?([0-9a-fA-F]{1,16})$/.exec(text)?.[1];
  if (hex !== undefined && isShard(BigInt(`0x${hex}`))) return BigInt(`0x${hex}`);
  if (/^-?\d{1,19}$/.test(text)) {
    const value = BigInt(text);
    const shard = BigInt.asUintN(64, value);
    if (BigInt.asIntN(64, value) === value && isShard(shard)) return shard;
  }
  throw badParameterValue(
    `${quoted(text)} is not a shard: up to 16 hexadecimal digits, or a signed 64-bit decimal number`,
  );
}

function isShard(shard: bigint): boolean {
  try {
    shardPrefixLength(shard);
    return true;
  } catch (error) {
    if (isTernError(error)) return false;
    throw error;
  }
}

/**
 * A cell in a bag of cells with one root, in base64 or hexadecimal; nothing of it is pruned.
 * @throws localnet-api/parameter-value
 */
export function parseCellText(text: string): Cell {
  if (text === '') throw badParameterValue('it is empty');
  // Standard base64 only, with its padding: what follows a - or _ may mean something else. No bag of cells in base64 is hexadecimal.
  const bytes = fromHex(text) ?? (text.length % 4 === 0 && !/[-_]/.test(text) ? fromBase64(text) : null);
  if (bytes === null)
    throw badParameterValue('it is neither base64 in the standard alphabet, with padding, nor hexadecimal');
  return readingValue('it is not a bag of cells', () => wholeCell(bytes));
}

export function encodeCellText(cell: Cell): string {
  return toBase64(serializeBoc(cell));
}

/** What `read` gives; whatever is wrong with its input is wrong with the value. @throws localnet-api/parameter-value */
export function readingValue<T>(problem: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isTernError(error) ? badParameterValue(`${problem}: ${error.message}`, error) : error;
  }
}

export function badParameterValue(problem: string, cause?: unknown): Error {
  return localnetApiErrors['parameter-value']({ problem }, cause);
}

/** A text as an error message can show it. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}
