import { Address } from '#formats/address/address.js';
import { sha256Into } from '#formats/cells/digests.js';
import { int32At } from '#kernel/bytes.js';

/** An address as it is stored: the workchain in one signed byte, or in four where one is too small, then the account id. */
export function addressBytes({ workchain, hash }: Address): Uint8Array {
  const isShort = (workchain << 24) >> 24 === workchain;
  const bytes = new Uint8Array(isShort ? 33 : 36);
  if (isShort) bytes[0] = workchain;
  else new DataView(bytes.buffer).setInt32(0, workchain);
  bytes.set(hash, bytes.length - 32);
  return bytes;
}

/** The inverse of {@link addressBytes}. */
export function addressOfBytes(bytes: Uint8Array): Address {
  const workchain = bytes.length === 33 ? (bytes[0]! << 24) >> 24 : int32At(bytes, 0);
  return Address.ofParts(workchain, bytes.slice(bytes.length - 32));
}

const digest = new Uint8Array(32);
const digestView = new DataView(digest.buffer);

/**
 * The key of an account: the first 64 bits of SHA-256 of its {@link addressBytes}. Anybody may choose an address, but finding one
 * whose hash has the same first 64 bits as another takes 2^64 attempts.
 */
export function accountKey(address: Uint8Array): bigint {
  sha256Into(address, address.length, digest, 0);
  return digestView.getBigInt64(0);
}

/** The id of a contract none of whose transactions is indexed: greater than all ids of transactions. */
export function listedLast(address: Uint8Array): bigint {
  return (1n << 62n) | BigInt.asUintN(62, accountKey(address));
}

/** The rank of a base64 digit in the order of the characters: `+`, `/`, `0`…`9`, `A`…`Z`, `a`…`z`. */
const RANK = Uint8Array.from({ length: 64 }, (_, value) => {
  if (value < 52) return value + 12;
  return value < 62 ? value - 50 : value - 62;
});

/**
 * The key of a hash: its first ten base64 digits, each as its rank in character order, 60 bits. So keys sort as the base64 texts
 * of the hashes do.
 */
export function hashKey(hash: Uint8Array): bigint {
  const high = head(hash) * 64 + RANK[hash[3]! >> 2]!;
  const low = tail(hash);
  return (BigInt(high) << 30n) | BigInt(low);
}

/** The first four digits: three bytes. */
function head(hash: Uint8Array): number {
  const a = hash[0]!;
  const b = hash[1]!;
  const c = hash[2]!;
  return (
    (RANK[a >> 2]! << 18) |
    (RANK[((a & 3) << 4) | (b >> 4)]! << 12) |
    (RANK[((b & 15) << 2) | (c >> 6)]! << 6) |
    RANK[c & 63]!
  );
}

/** Digits six to ten. */
function tail(hash: Uint8Array): number {
  const d = hash[3]!;
  const e = hash[4]!;
  const f = hash[5]!;
  const three = (RANK[((d & 3) << 4) | (e >> 4)]! << 12) | (RANK[((e & 15) << 2) | (f >> 6)]! << 6) | RANK[f & 63]!;
  const g = hash[6]!;
  const two = (RANK[g >> 2]! << 6) | RANK[((g & 3) << 4) | (hash[7]! >> 4)]!;
  return three * 4096 + two;
}

/** Bits of an id below the masterchain seqno: up to 16,777,216 blocks or transactions per masterchain block. */
const ORDINAL_BITS = 24n;

/**
 * The id of a block or a transaction: its masterchain seqno, and its ordinal among those that this masterchain block commits.
 * Ids rise with the chain, and the same chain has the same ids in whatever order it is indexed.
 */
export function indexId(mc_seqno: number, ordinal: number): bigint {
  return (BigInt(mc_seqno) << ORDINAL_BITS) | BigInt(ordinal);
}

/** The masterchain seqno of a block or a transaction. */
export function seqnoOfId(id: bigint): number {
  return Number(id >> ORDINAL_BITS);
}

/** The lowest id of a masterchain seqno: of its masterchain block, and of the first transaction that it commits. */
export function firstIdOf(mc_seqno: number): bigint {
  return BigInt(mc_seqno) << ORDINAL_BITS;
}

/** The position of a block. @param shard its shard id as it is stored, signed */
export function shardPosition(workchain: number, shard: bigint, seqno: number) {
  return { workchain, shard: BigInt.asUintN(64, shard), seqno };
}
