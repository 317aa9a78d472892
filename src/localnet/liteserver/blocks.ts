import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { CellType } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import { openExotic } from '#formats/cells/slice.js';
import { type BlockId, isMasterchain, MASTERCHAIN_SHARD, type Shard, sameBlock } from '#formats/proofs/block-id.js';
import { checkOldBlock } from '#formats/proofs/block-proof.js';
import type { BlockQuery } from '#formats/proofs/shard-block.js';
import { blockIdFromTl, blockIdToTl, blockPositionFromTl } from '#formats/tl/block-id.js';
import type { LiteServerLookupBlock } from '#formats/tl/lite-api.js';
import { shardContains } from '#formats/tlb/block-id.js';
import {
  headOf,
  isValidId,
  loadMasterchainBlock,
  lookupBlock,
  MerkleReader,
  notReady,
  openBlockHeader,
  openMcBlockExtra,
  openMcState,
  refused,
  requireBlock,
  requireValidBlock,
  stateRootProof,
  visitAll,
  visitEach,
} from '#localnet/liteserver/block-access.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteContext, LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { headerLinkProof, shardBlockLinks } from '#localnet/liteserver/shard-links.js';

/** Version of the lite API: minor 1, major 1. */
const VERSION = 0x101;
/** 1 chains of block proofs, 2 getMasterchainInfoExt, 4 runSmcMethod, 8 mode 1 of getMasterchainInfoExt. */
const CAPABILITIES = 11n;
const CAN_RUN_METHODS = 4n;

/** Server information and the head. */
export const headHandlers: LiteHandlers<
  'liteServer.getMasterchainInfo' | 'liteServer.getMasterchainInfoExt' | 'liteServer.getTime' | 'liteServer.getVersion'
> = {
  'liteServer.getMasterchainInfo': (_, context) => masterchainInfo(context),

  'liteServer.getMasterchainInfoExt': ({ mode }, context) => {
    if (mode > 1) throw refused('unsupported getMasterchainInfo mode');
    const last_utime = headOf(context.ledger).gen_utime;
    const own = { mode, version: VERSION, capabilities: capabilitiesOf(context), last_utime, now: context.unixTime() };
    return { ...own, ...masterchainInfo(context) };
  },

  'liteServer.getTime': (_, { unixTime }) => ({ now: unixTime() }),

  'liteServer.getVersion': (_, context) => ({
    mode: 0,
    version: VERSION,
    capabilities: capabilitiesOf(context),
    now: context.unixTime(),
  }),
};

function capabilitiesOf({ runGetMethod }: LiteContext): bigint {
  return runGetMethod === undefined ? CAPABILITIES : CAPABILITIES | CAN_RUN_METHODS;
}

function masterchainInfo({ ledger }: LiteContext) {
  const head = headOf(ledger);
  const { workchain, root_hash, file_hash } = ledger.zerostate;
  return {
    last: blockIdToTl(head.id),
    state_root_hash: ledger.state(head).hash(),
    init: { workchain, root_hash, file_hash },
  };
}

/** Whole states are not returned above this seqno. */
const LAST_WHOLE_STATE = 1000;

/** Parts of a block that a header proof contains besides the header (`mode` of getBlockHeader). */
const SHOW = { stateUpdate: 1, valueFlow: 2, extra: 16, shardHashes: 32, prevBlkSignatures: 64 } as const;

/** Whole blocks and states, and headers. */
export const blockDataHandlers: LiteHandlers<
  'liteServer.getBlock' | 'liteServer.getState' | 'liteServer.getBlockHeader'
> = {
  'liteServer.getBlock': ({ id }, { ledger }) => {
    const block = requireValidBlock(ledger, blockIdFromTl(id));
    return { id, data: block.bytes };
  },

  'liteServer.getState': ({ id }, { ledger }) => {
    const wanted = blockIdFromTl(id);
    if (!isValidId(wanted)) throw refused('invalid BlockIdExt');
    if (wanted.seqno > LAST_WHOLE_STATE) throw refused('cannot request total state: possibly too large');
    if (wanted.seqno === 0) return zerostate(ledger, wanted);
    const root = ledger.state(requireValidBlock(ledger, wanted));
    const data = serializeBoc(root, BLOCK_FILE);
    return { id, root_hash: root.hash(), file_hash: sha256(data), data };
  },

  'liteServer.getBlockHeader': ({ id, mode }, { ledger }) =>
    headerWithProof(requireValidBlock(ledger, blockIdFromTl(id)), mode),
};

function zerostate(ledger: Ledger, id: BlockId) {
  const data = ledger.zerostateFile(id);
  if (data === null) throw notReady('zerostate not in db');
  return { id: blockIdToTl(id), root_hash: id.root_hash, file_hash: id.file_hash, data };
}

/** A block with the proof of its header (`liteServer.blockHeader`). */
function headerWithProof({ id, root }: LedgerBlock, mode: number) {
  const reader = new MerkleReader(root);
  const { block, info } = openBlockHeader(reader.root);
  if ((mode & SHOW.stateUpdate) !== 0) openExotic(block.state_update.cell, CellType.merkleUpdate);
  visitEach([info.master_ref?.cell, info.prev_ref.cell, info.prev_vert_ref?.cell]);
  if ((mode & SHOW.valueFlow) !== 0) visitAll(block.value_flow.cell);
  if ((mode & SHOW.extra) !== 0) {
    block.extra.cell.touch();
    if (isMasterchain(id)) {
      const extra = openMcBlockExtra(reader.root);
      if ((mode & SHOW.shardHashes) !== 0) visitEach([extra.shard_hashes.root]);
      if ((mode & SHOW.prevBlkSignatures) !== 0) visitEach([extra.messages.value.prev_blk_signatures.root]);
    }
  }
  return { id: blockIdToTl(id), mode, header_proof: reader.proofBytes() };
}

/** Low bits of `mode`: the lookup key. */
const BY_SEQNO = 1;
const BY_LT = 2;
const BY_UTIME = 4;

/** Blocks by seqno, lt or time. */
export const lookupHandlers: LiteHandlers<'liteServer.lookupBlock' | 'liteServer.lookupBlockWithProof'> = {
  'liteServer.lookupBlock': (args, { ledger }) => headerWithProof(lookupBlock(ledger, queryOf(args)), args.mode >> 4),

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

/** A proof of the header only. */
function shortHeaderProof({ root }: LedgerBlock): Uint8Array {
  const reader = new MerkleReader(root);
  openBlockHeader(reader.root);
  return reader.proofBytes();
}

/** Proves that a known masterchain block refers to an older one; both proofs are empty when they are the same. */
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
