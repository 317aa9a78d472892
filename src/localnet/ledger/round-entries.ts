import type { Cell } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/sha256.js';
import { type BlockHeader, checkBlockHeader, stateHash } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { keyBlockConfig } from '#formats/proofs/config.js';
import { checkSignedBlock } from '#formats/proofs/signed-block.js';
import { validatorConfigOf } from '#formats/proofs/validator-config.js';
import type { ValidatorConfig } from '#formats/proofs/validator-set.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { blockProofFile } from '#localnet/ledger/block-proof-file.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import type { NewEntry } from '#localnet/ledger/pack.js';
import type { NewBlock, Round } from '#localnet/ledger/round.js';

/** What a round follows. */
export interface RoundBefore {
  /** The newest masterchain block, or its zerostate. */
  readonly masterchain: BlockId;
  /** Who validates after it. */
  readonly validators: ValidatorConfig;
  /** The state after a block that may be followed: a newest one of a shard, or a zerostate. */
  readonly state: (id: BlockId) => Cell | null;
}

/** A round, ready to be written. */
export interface RoundEntries {
  /** That of the masterchain last. */
  readonly entries: readonly NewEntry[];
  /** Who validates after it. */
  readonly validators: ValidatorConfig;
}

/**
 * Checks what a round says of its blocks: hashes, headers, order, states, and signatures. Whether the blocks keep the rules
 * of the network is not looked at. Makes their proofs.
 *
 * @throws ledger/wrong-round
 */
export function roundEntries({ shards, masterchain, signatures }: Round, before: RoundBefore): RoundEntries {
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
