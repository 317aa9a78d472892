import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import { createMerkleProof, UsageTracker } from '#formats/cells/merkle-proof.js';
import { openExotic } from '#formats/cells/slice.js';
import { storeSnakeBytes } from '#formats/cells/snake.js';
import { type BlockHeader, checkBlockHeader, stateHash } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { keyBlockConfig } from '#formats/proofs/shard-state.js';
import { checkSignedBlock, type SignatureSet } from '#formats/proofs/signatures.js';
import { type ValidatorConfig, validatorConfigOf } from '#formats/proofs/validators.js';
import { Block } from '#formats/tlb/block.js';
import { shardIdent } from '#formats/tlb/block-id.js';
import { BlockProof, BlockSignatures, CryptoSignaturePair } from '#formats/tlb/block-proof.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { Dictionary, uintKey } from '#formats/tlb/codec/dictionary.js';
import { bytesEqual } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { NewBlock, NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import type { NewEntry } from '#localnet/ledger/pack.js';

/** What a bundle follows. */
export interface BundleBase {
  /** The newest masterchain block, or the zerostate. */
  readonly masterchain: BlockId;
  /** The validators after it. */
  readonly validators: ValidatorConfig;
  /** The state after a block that may be followed: the newest block of a shard, or a zerostate. */
  readonly state: (id: BlockId) => Cell | null;
}

/** A checked bundle with its proofs, ready to be written. */
export interface BundleEntries {
  /** The masterchain block last. */
  readonly entries: readonly NewEntry[];
  /** The validators after it. */
  readonly validators: ValidatorConfig;
}

/**
 * Checks hashes, headers, order, states and signatures of a bundle, but not the rules of the network, and creates the
 * block proofs.
 *
 * @throws ledger/wrong-round
 */
export function bundleEntries({ shards, masterchain, signatures }: NewBlockBundle, before: BundleBase): BundleEntries {
  const made: BlockId[] = [];
  const isKnown = (id: BlockId): boolean => made.some((each) => sameBlock(each, id)) || before.state(id) !== null;
  const entries: NewEntry[] = [];
  const mc_seqno = before.masterchain.seqno + 1;
  for (const block of shards) {
    inBlock(block.id, () => {
      if (isMasterchain(block.id)) throw wrong(block.id, 'it is not one of a shard');
      checkBlock(block);
      const unknown = block.prev.find((id) => !isKnown(id));
      if (unknown !== undefined)
        throw wrong(block.id, `it follows block ${printPosition(unknown)}, which is not there`);
      entries.push(entryOf(block, mc_seqno, false, blockProofFile(block.id, block.root, null)));
      made.push(block.id);
    });
  }
  let { validators } = before;
  inBlock(masterchain.id, () => {
    const { id, root, prev, key_block } = masterchain;
    if (!isMasterchain(id)) throw wrong(id, 'it is not one of the masterchain');
    const header = checkBlock(masterchain);
    if (!sameBlock(prev[0]!, before.masterchain)) {
      throw wrong(id, `it follows another block than ${printPosition(before.masterchain)}`);
    }
    if (header.info.key_block !== key_block) throw wrong(id, 'its header says otherwise whether it is a key block');
    const weight = checkSignedBlock(header, signatures, validators);
    entries.push(entryOf(masterchain, mc_seqno, key_block, blockProofFile(id, root, { signatures, weight })));
    if (key_block) validators = validatorConfigOf(keyBlockConfig(header).config);
  });
  return { entries, validators };
}

function checkBlock({ id, root, bytes, prev, state, gen_utime, end_lt }: NewBlock): BlockHeader {
  if (!bytesEqual(sha256(bytes), id.file_hash)) throw wrong(id, 'its file has another hash');
  const header = checkBlockHeader(root, id);
  const { info } = header;
  if (info.gen_utime !== gen_utime) throw wrong(id, `gen_utime is ${gen_utime}, and in its header ${info.gen_utime}`);
  if (info.end_lt !== end_lt) throw wrong(id, `end_lt is ${end_lt}, and in its header ${info.end_lt}`);
  if (header.prev.length !== prev.length || !header.prev.every((each, i) => sameBlock(each, prev[i]!))) {
    throw wrong(id, 'its header names other blocks before it');
  }
  if (!bytesEqual(stateHash(header), state.hash())) throw wrong(id, 'the state after it is another');
  return header;
}

function entryOf(
  { id, bytes, gen_utime, end_lt }: NewBlock,
  mc_seqno: number,
  key_block: boolean,
  proofBytes: Uint8Array,
): NewEntry {
  return { id, gen_utime, end_lt, mc_seqno, key_block, bytes, proofBytes };
}

function inBlock(id: BlockId, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!isTernError(error) || error.code.startsWith('ledger/')) throw error;
    throw ledgerErrors['wrong-round']({ block: printPosition(id), problem: error.message }, error);
  }
}

function wrong(id: BlockId, problem: string): Error {
  return ledgerErrors['wrong-round']({ block: printPosition(id), problem });
}

/** The signatures of a masterchain block, and their total weight. */
export interface SignedWith {
  readonly signatures: SignatureSet;
  readonly weight: bigint;
}

/**
 * The block proof file (`BlockProof`) as nodes write it: header, value flow and state hashes of the block, and for
 * masterchain blocks (`proof_…`) the signatures. For shard blocks it is a proof link (`prooflink_…`), without
 * signatures.
 */
export function blockProofFile(id: BlockId, root: Cell, signed: SignedWith | null): Uint8Array {
  const { workchain, shard, seqno: seq_no, root_hash, file_hash } = id;
  const proof: BlockProof = {
    proof_for: { shard_id: shardIdent(workchain, shard), seq_no, root_hash, file_hash },
    root: headerProof(root),
    signatures: signed === null ? null : Lazy.ofValue(BlockSignatures, blockSignatures(signed)),
  };
  return serializeBoc(encodeCell(BlockProof, proof));
}

function headerProof(root: Cell): Cell {
  const tracker = new UsageTracker();
  const block = decodeCell(Block, tracker.track(root));
  const { info, value_flow, state_update, extra } = block;
  for (const part of [info.value.master_ref?.cell, info.value.prev_ref.cell, value_flow.cell]) {
    if (part !== undefined) showAll(part);
  }
  openExotic(state_update.cell, CellType.merkleUpdate);
  extra.cell.touch();
  // A key block proof also contains the new validators.
  const config = info.value.key_block ? extra.value.custom?.value.config?.config : undefined;
  if (config !== undefined) validatorConfigOf(config);
  return createMerkleProof(root, tracker);
}

function showAll(cell: Cell): void {
  cell.touch();
  for (let r = 0, count = cell.refCount; r < count; r++) showAll(cell.ref(r));
}

function blockSignatures({ signatures: set, weight }: SignedWith): BlockSignatures {
  const pairs = set.signatures.map(({ node_id_short, signature }, index) => {
    const sign = {
      kind: 'ed25519_signature' as const,
      R: signature.subarray(0, 32),
      s: signature.subarray(32),
    };
    return [index, { node_id_short, sign }] as const;
  });
  const base = {
    validator_list_hash_short: set.validator_set_hash,
    catchain_seqno: set.catchain_seqno,
    sig_count: pairs.length,
    sig_weight: weight,
    signatures: Dictionary.of({ key: uintKey(16), value: CryptoSignaturePair }, pairs),
  };
  if (set.kind === 'ordinary') return { kind: 'block_signatures_ordinary', ...base };
  return {
    kind: 'block_signatures_simplex',
    ...base,
    session_id: set.session_id,
    slot: set.slot >>> 0,
    candidate_data: storeSnakeBytes(set.candidate, new Builder()).endCell(),
  };
}
