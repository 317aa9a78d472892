import { type BlockId, isMasterchain, printBlockId, printShard, type Shard } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/lookup-block.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';

/** `seqno:int` -1 of a masterchain block: asks for the latest state. */
export const LATEST_SEQNO = 0xffffffff;

/** The workchain of an id that names no block. */
export const WORKCHAIN_INVALID = -0x80000000;

/** The error that the reference software makes when a client asks for what cannot be answered. */
export function refused(problem: string): Error {
  return liteserverErrors.refused({ problem });
}

export function notReady(problem: string): Error {
  return liteserverErrors['not-ready']({ problem });
}

/** Whether an id has a workchain, and a shard with a prefix of at most 60 bits. */
export function isValidShard({ workchain, shard }: Shard): boolean {
  return workchain !== WORKCHAIN_INVALID && (shard & -shard) >= 8n;
}

/** Whether an id can be one of a block. */
export function isValidId(id: BlockId): boolean {
  return isValidShard(id) && !isZero(id.root_hash) && !isZero(id.file_hash);
}

function isZero(hash: Uint8Array): boolean {
  return hash.every((byte) => byte === 0);
}

/** The head. @throws liteserver/not-ready while there is none */
export function headOf(ledger: Ledger): LedgerBlock {
  if (ledger.head === null) throw notReady('no masterchain block is known yet');
  return ledger.head;
}

/** The block with this id. @throws liteserver/not-ready */
export function requireBlock(ledger: Ledger, id: BlockId): LedgerBlock {
  const block = id.seqno === 0 ? null : ledger.block(id);
  if (block !== null) return block;
  if (id.seqno === 0) throw notReady('not in db');
  const future = isMasterchain(id) && id.seqno > (ledger.head?.id.seqno ?? 0);
  throw notReady(`block handle not in db${future ? lastKnown(ledger) : ''}`);
}

/** The same; the error says which block was to be loaded. @throws liteserver/not-ready */
export function loadBlock(ledger: Ledger, id: BlockId): LedgerBlock {
  try {
    return requireBlock(ledger, id);
  } catch (error) {
    if (!isTernError(error)) throw error;
    throw notReady(`cannot load block ${printBlockId(id)} : ${error.message}`);
  }
}

/** A block that the client names for a state or its data. @throws liteserver/refused, liteserver/not-ready */
export function requireValidBlock(ledger: Ledger, id: BlockId): LedgerBlock {
  if (!isValidId(id)) throw refused('invalid BlockIdExt');
  return requireBlock(ledger, id);
}

/** A masterchain block that the client refers to. @throws liteserver/refused, liteserver/not-ready */
export function loadMasterchainBlock(ledger: Ledger, id: BlockId): LedgerBlock {
  if (id.workchain !== MASTERCHAIN || !isValidId(id)) throw refused('reference block must belong to the masterchain');
  return loadBlock(ledger, id);
}

/** The block that is looked for. @throws liteserver/not-ready */
export function lookupBlock(ledger: Ledger, query: BlockQuery): LedgerBlock {
  const found = ledger.lookup(query);
  if (found !== null) return found;
  const value = query.by === 'seqno' ? query.seqno : query.by === 'lt' ? query.lt : query.utime;
  const where = `cannot find block ${printShard(query)} ${query.by}=${value}`;
  if (!ledger.hasWorkchain(query.workchain)) throw notReady(`${where}: ${query.by} not in db`);
  throw notReady(
    `${where}: ltdb: block not found${query.by === 'seqno' && query.seqno === 0 ? '' : lastKnown(ledger)}`,
  );
}

function lastKnown(ledger: Ledger): string {
  return ` (last known masterchain block: ${ledger.head?.id.seqno ?? 0})`;
}
