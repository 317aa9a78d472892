import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openMerkleProof } from '#formats/cells/merkle-proof.js';
import { type BlockId, printPosition, printShard, sameBlock } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, readRoots } from '#formats/proofs/proof-part.js';
import { verifyShardBlock, verifyShardOfPrefix } from '#formats/proofs/shard-block.js';
import { type ProvenState, verifyTwoRootState } from '#formats/proofs/shard-state.js';
import type { ShardAccount } from '#formats/tlb/account.js';
import { accountPrefix, MASTERCHAIN, shardContains } from '#formats/tlb/block-id.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** The parts of an answer that prove the entry of an account in the state of its shard. */
export interface AccountProofs {
  /**
   * The newest block of the account's shard according to the requested block; may be that block itself.
   * Shard 0 when there is no such workchain.
   */
  readonly shard_block: BlockId;
  /** Two roots: header of the masterchain block, state after it. Ignored when the blocks are the same. */
  readonly shard_proof: Uint8Array;
  /** Two roots: header of the shard block, state after it. */
  readonly proof: Uint8Array;
}

/** An answer with the state of an account (`liteServer.accountState`). */
export interface AccountAnswer extends AccountProofs {
  /** Bag with the `Account` cell; empty when there is no such account. */
  readonly state: Uint8Array;
}

/** The verified entry of an account in the state of its shard. */
export interface ProvenAccount {
  /** The state after the shard block; its header has time and lt. `null` when there is no such workchain. */
  readonly shard_state: ProvenState | null;
  /** The entry of the account: last transaction, hash of the account's cell. `null` when there is no such account. */
  readonly shard_account: ShardAccount | null;
}

/** {@link ProvenAccount} with the account itself. */
export interface ProvenAccountState extends ProvenAccount {
  /** The `Account` cell, or its visible part; `null` when there is no such account. */
  readonly account: Cell | null;
}

/**
 * Verifies the proof of an account's entry, or of its absence, without the account's own cell.
 *
 * @param block the trusted block of the request: of the masterchain, or of the account's shard
 * @throws proofs/shard-of-account, proofs/shard-present, proofs/shard-missing, proofs/shard-block, proofs/root-count, proofs/root-hash,
 *   proofs/header, proofs/state-hash, proofs/malformed, proofs/incomplete
 */
export function verifyAccount(block: BlockId, address: Address, answer: AccountProofs): ProvenAccount {
  const { shard_block, shard_proof, proof } = answer;
  // The shard configuration does not list the masterchain, so its absence there proves nothing.
  if (shard_block.shard === 0n && address.workchain !== MASTERCHAIN) {
    const shard = { workchain: address.workchain, shard: accountPrefix(address.hash) };
    if (verifyShardOfPrefix(block, shard, shard_proof) === null) return { shard_state: null, shard_account: null };
    throw proofsErrors['shard-present']({ shard: printShard(shard), block: printPosition(block) });
  }
  if (!inPart('shard_block', () => holdsAccount(shard_block, address))) {
    throw proofsErrors['shard-of-account']({ block: printPosition(shard_block), account: address.toRaw() });
  }
  if (!sameBlock(block, shard_block)) verifyShardBlock(block, shard_block, shard_proof);
  const shard_state = verifyTwoRootState('proof', shard_block, proof);
  const shard_account = inPart(
    'proof.state.accounts',
    () => shard_state.state.accounts.value.get(address.hash) ?? null,
  );
  return { shard_state, shard_account };
}

function holdsAccount({ workchain, shard }: BlockId, address: Address): boolean {
  return workchain === address.workchain && shard !== 0n && shardContains(shard, accountPrefix(address.hash));
}

/**
 * Verifies an answer with the state of an account, or its absence.
 *
 * @param block the trusted block of the request: of the masterchain, or of the account's shard
 * @throws as {@link verifyAccount}, proofs/account-state, proofs/account-present, proofs/account-absent
 */
export function verifyAccountState(block: BlockId, address: Address, answer: AccountAnswer): ProvenAccountState {
  return withState(block, address, answer, (bytes) => readRoots(bytes, 1)[0]!);
}

/**
 * As {@link verifyAccountState} for a state given as a Merkle proof, in which parts such as code and data are pruned.
 * @throws as {@link verifyAccountState}
 */
export function verifyPrunedAccountState(block: BlockId, address: Address, answer: AccountAnswer): ProvenAccountState {
  return withState(block, address, answer, (bytes) => openMerkleProof(readRoots(bytes, 1)[0]!));
}

function withState(
  block: BlockId,
  address: Address,
  answer: AccountAnswer,
  read: (bytes: Uint8Array) => Cell,
): ProvenAccountState {
  const proven = verifyAccount(block, address, answer);
  const account = address.toRaw();
  if (proven.shard_account === null) {
    if (answer.state.length > 0) throw proofsErrors['account-absent']({ account });
    return { ...proven, account: null };
  }
  if (answer.state.length === 0) throw proofsErrors['account-present']({ account });
  const cell = inPart('state', () => read(answer.state));
  const expected = proven.shard_account.account.cell.hash(0);
  if (!bytesEqual(cell.hash(0), expected)) {
    throw proofsErrors['account-state']({ account, expected: toHex(expected), found: toHex(cell.hash(0)) });
  }
  return { ...proven, account: cell };
}
