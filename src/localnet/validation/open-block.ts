import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { sha256 } from '#formats/cells/sha256.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, printPosition } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import { isTernError, TernError } from '#kernel/errors/tern-error.js';
import type { NewBlock } from '#localnet/ledger/round.js';
import type { OpenBlock } from '#localnet/validation/block-context.js';
import { validationErrors } from '#localnet/validation/errors.js';
import type { ListedShard } from '#localnet/validation/neighbours.js';
import { RuleCheck } from '#localnet/validation/rule-check.js';

/** A known state, whole. */
export interface KnownState extends ListedShard {
  readonly root: Cell;
}

/**
 * Reads the file of a block, compares its hashes with the id, and applies its update to the states before. Of what is given
 * beside the bytes, nothing is taken over unchecked.
 *
 * @param stateAfter finds the state after a block
 * @throws validation/broken-rule, validation/malformed, validation/unknown-state
 */
export function openBlock(given: NewBlock, stateAfter: (id: BlockId) => KnownState | null): OpenBlock {
  const { id, bytes } = given;
  const rules = new RuleCheck(printPosition(id));
  rules.equal('file-hash', id.file_hash, sha256(bytes));
  const root = readable(rules.block, () => parseBocRoot(bytes));
  rules.equal('root-hash', id.root_hash, root.hash());
  rules.equal('root-hash', 0, root.level, 'level');
  rules.require(bytesEqual(serializeBoc(root, BLOCK_FILE), bytes), 'file-form', 'the form that nodes write', 'another');
  rules.equal('given-block', root.hash(), given.root.hash(), 'root');
  const { block, info, prev } = readable(rules.block, () => checkBlockHeader(root, id));
  const extra = readable(rules.block, () => block.extra.value);
  const mcExtra = readable(rules.block, () => extra.custom?.value ?? null);

  rules.equal('given-block', prev.length, given.prev.length, 'number of blocks before');
  const previous = prev.map((each, i) => {
    rules.equal('given-block', each, given.prev[i]!, 'block before');
    const known = stateAfter(each);
    if (known === null) throw validationErrors['unknown-state']({ block: rules.block, needed: printPosition(each) });
    return known;
  });
  const [first, second] = previous as [KnownState, KnownState?];
  const from = second === undefined ? first.root : splitState(first.root, second.root);
  let stateRoot: Cell;
  try {
    stateRoot = applyMerkleUpdate(from, block.state_update.cell);
  } catch (error) {
    if (!isTernError(error)) throw error;
    throw rules.broken('state-update', 'an update of the state before', error.message);
  }
  rules.equal('given-block', stateRoot.hash(), given.state.hash(), 'state');
  const after = readable(rules.block, () => decodeCell(ShardStateUnsplit, stateRoot));
  rules.equal('given-block', info.gen_utime, given.gen_utime, 'gen_utime');
  rules.equal('given-block', info.end_lt, given.end_lt, 'end_lt');
  const shard = { workchain: id.workchain, shard: id.shard };
  return { rules, id, shard, root, block, info, extra, mcExtra, previous, stateRoot, after };
}

/** `split_state#5f327da5 left:^ShardStateUnsplit right:^ShardStateUnsplit`: what the first block after a merge starts from. */
function splitState(left: Cell, right: Cell): Cell {
  return new Builder().storeUint(0x5f327da5, 32).storeRef(left).storeRef(right).endCell();
}

/** @throws validation/malformed in place of what decoding throws */
export function readable<T>(block: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TernError) || error.code.startsWith('validation/')) throw error;
    throw validationErrors.malformed({ block, problem: error.message }, error);
  }
}
