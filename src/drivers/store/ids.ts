/** Bits of an id below the masterchain seqno: up to 16,777,216 blocks or transactions in one round. */
const ORDINAL_BITS = 24n;

/**
 * The id of a block or a transaction: its masterchain seqno, and its place among those that this masterchain block commits.
 * Ids rise with the chain, and the same chain has the same ids however it came into the index.
 */
export function indexId(mc_seqno: number, ordinal: number): bigint {
  return (BigInt(mc_seqno) << ORDINAL_BITS) | BigInt(ordinal);
}

/** The masterchain seqno of a block or a transaction. */
export function seqnoOfId(id: bigint): number {
  return Number(id >> ORDINAL_BITS);
}

/** The least id of a masterchain seqno: of its masterchain block, and of the first transaction that it commits. */
export function firstIdOf(mc_seqno: number): bigint {
  return BigInt(mc_seqno) << ORDINAL_BITS;
}
