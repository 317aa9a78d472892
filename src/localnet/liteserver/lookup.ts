import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { checkOldBlock } from '#formats/proofs/block-chain.js';
import { type BlockId, isMasterchain, MASTERCHAIN_SHARD, type Shard, sameBlock } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/lookup-block.js';
import { blockIdFromTl, blockIdToTl, blockPositionFromTl } from '#formats/tl/block-id.js';
import type { LiteServerLookupBlock } from '#formats/tl/generated/lite-server-functions.js';
import { shardContains } from '#formats/tlb/shard-ident.js';
import { blockHeader } from '#localnet/liteserver/block-data.js';
import { openBlock, openMcState, stateRootProof } from '#localnet/liteserver/block-reading.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';
import { loadMasterchainBlock, lookupBlock, refused, requireBlock } from '#localnet/liteserver/find-block.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader } from '#localnet/liteserver/merkle-reader.js';
import { headerLinkProof, shardBlockLinks } from '#localnet/liteserver/shard-links.js';

/** Low bits of `mode`: what is looked for. */
const BY_SEQNO = 1;
const BY_LT = 2;
const BY_UTIME = 4;

/** Blocks by seqno, lt or time. */
export const lookupHandlers: LiteHandlers<'liteServer.lookupBlock' | 'liteServer.lookupBlockWithProof'> = {
  'liteServer.lookupBlock': (args, { ledger }) => blockHeader(lookupBlock(ledger, queryOf(args)), args.mode >> 4),

  'liteServer.lookupBlockWithProof': (args, { ledger }) => {
    const query = queryOf(args);
    const known = blockIdFromTl(args.mc_block_id);
    if (!isMasterchain(known)) throw refused('masterchain block id must be specified');
    const block = lookupBlock(ledger, query);
    if (block.mc_seqno > known.seqno) {
      throw liteserverErrors['broken-rule']({ problem: "specified mc block is older than block's masterchain ref" });
    }
    const header = headerLinkProof(block.root, block.id);
    const before = query.by === 'seqno' ? null : header.prev.findLast(({ shard }) => shardContains(shard, query.shard));
    const prev_header = before === null ? new Uint8Array() : shortHeaderProof(requireBlock(ledger, before!));
    const committing = isMasterchain(block.id) ? block : committedBy(ledger, block);
    const links = isMasterchain(block.id) ? [] : shardBlockLinks(ledger, committing, block.id);
    const old = oldBlockProof(ledger, known, committing.id, isMasterchain(block.id));
    return {
      id: blockIdToTl(block.id),
      mode: args.mode,
      mc_block_id: blockIdToTl(committing.id),
      ...old,
      shard_links: links,
      header: serializeBoc(header.proof),
      prev_header,
    };
  },
};

function queryOf({ mode, id, lt, utime }: LiteServerLookupBlock): BlockQuery {
  const { workchain, shard, seqno } = blockPositionFromTl(id);
  const prefix: Shard = { workchain, shard };
  switch (mode & 7) {
    case BY_SEQNO:
      return { ...prefix, by: 'seqno', seqno };
    case BY_LT:
      return { ...prefix, by: 'lt', lt: BigInt.asUintN(64, lt ?? 0n) };
    case BY_UTIME:
      return { ...prefix, by: 'utime', utime: (utime ?? 0) >>> 0 };
    default:
      throw refused('exactly one of mode.0, mode.1 and mode.2 bits must be set');
  }
}

/** The masterchain block that commits a shard block. */
function committedBy(ledger: Ledger, block: LedgerBlock): LedgerBlock {
  return lookupBlock(ledger, { ...MASTERCHAIN_SHARD, by: 'seqno', seqno: block.mc_seqno });
}

/** The proof of nothing but a header. */
function shortHeaderProof({ root }: LedgerBlock): Uint8Array {
  const reader = new MerkleReader(root);
  openBlock(reader.root);
  return reader.proofBytes();
}

/** Proves that a known masterchain block remembers another one; both proofs are empty when it is that one. */
function oldBlockProof(ledger: Ledger, known: BlockId, old: BlockId, always: boolean) {
  const empty = { client_mc_state_proof: new Uint8Array(), mc_block_proof: new Uint8Array() };
  const same = sameBlock(known, old);
  if (same && !always) return empty;
  const block = loadMasterchainBlock(ledger, known);
  if (same) return empty;
  const reader = new MerkleReader(ledger.state(block));
  const { state } = openMcState(reader.root);
  checkOldBlock({ id: known, header: null, root: reader.root, state }, old);
  return {
    client_mc_state_proof: serializeBoc(stateRootProof(block.root)),
    mc_block_proof: reader.proofBytes(),
  };
}
