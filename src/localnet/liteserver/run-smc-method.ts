import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import { encodeBoxed } from '#formats/tl/boxed.js';
import { LiteServerAccountState, LiteServerRunMethodResult } from '#formats/tl/generated/lite-server.js';
import type { LiteServerRunSmcMethod } from '#formats/tl/generated/lite-server-functions.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { VmStack, type VmStackValue } from '#formats/tlb/vm-stack.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { type AccountPlace, accountProof, findAccount, noWorkchain } from '#localnet/liteserver/account-state.js';
import { openMcState, openState } from '#localnet/liteserver/block-reading.js';
import { headOf, lookupBlock, refused } from '#localnet/liteserver/find-block.js';
import type { GetMethodOutcome, RunGetMethod } from '#localnet/liteserver/get-methods.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';
import type { LiteContext } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader, visitAll } from '#localnet/liteserver/merkle-reader.js';
import { previousBlocks } from '#localnet/liteserver/previous-blocks.js';

/** Bits of the mode: what the answer is to hold. */
const SHOW = { proofs: 1, stateProof: 2, result: 4, c7: 8, libExtras: 16 };
const ALL_BITS = 0x3f;

const MAX_PARAMS = 65_536;
const GAS_LIMIT = 300_000;

/** `exit_code` where there is no account, or none that is active. */
const NOT_ACTIVE = -256;

const NOTHING = new Uint8Array();

/**
 * Runs a get method as `liteServer.runSmcMethod` asks.
 *
 * The proof of the account's state shows all of it; `init_c7` is empty.
 *
 * @returns `liteServer.runMethodResult`; where there is no such workchain, as the reference, `liteServer.accountState`
 * @throws liteserver/*, for the client; what the virtual machine throws
 */
export async function runSmcMethod(
  args: LiteServerRunSmcMethod,
  { ledger }: LiteContext,
  run: RunGetMethod,
): Promise<Uint8Array> {
  const { mode, account } = args;
  if ((mode & ~ALL_BITS) !== 0) throw refused('unsupported mode in runSmcMethod');
  const stack = stackOf(args.params);
  const place = findAccount(ledger, blockIdFromTl(args.id), account);
  if (place.shardBlock === null) return encodeBoxed(LiteServerAccountState, noWorkchain(place));
  const { proof, account: cell } = accountProof(ledger, place.shardBlock, account.id);
  const outcome = cell === null ? null : await runOf(args, place, cell, stack, ledger, run);
  const shown = <T>(bit: number, value: () => T): T | null => ((mode & bit) === 0 ? null : value());
  return encodeBoxed(LiteServerRunMethodResult, {
    mode,
    id: blockIdToTl(place.block.id),
    shardblk: blockIdToTl(place.shardBlock.id),
    shard_proof: shown(SHOW.proofs, () => place.shard_proof),
    proof: shown(SHOW.proofs, () => proof),
    state_proof: shown(SHOW.stateProof, () => (cell === null || outcome === null ? NOTHING : wholeProof(cell))),
    init_c7: shown(SHOW.c7, () => NOTHING),
    lib_extras: shown(SHOW.libExtras, () => NOTHING),
    exit_code: outcome?.exit_code ?? NOT_ACTIVE,
    result: shown(SHOW.result, () => (outcome === null ? NOTHING : serializeBoc(encodeCell(VmStack, outcome.stack)))),
  });
}

/** Runs the method; null for an account that is not active. */
async function runOf(
  { account: { workchain, id }, method_id }: LiteServerRunSmcMethod,
  { block, shardBlock }: AccountPlace,
  cell: Cell,
  stack: VmStack,
  ledger: Ledger,
  run: RunGetMethod,
): Promise<GetMethodOutcome | null> {
  const account = decodeCell(Account, cell);
  if (account.kind !== 'account') return null;
  const { state, balance } = account.storage;
  if (state.kind !== 'account_active' || state.state_init.code === null || shardBlock === null) return null;
  if (BigInt.asIntN(32, method_id) !== method_id) throw refused('ids of methods beyond 32 bits are not supported');
  const shardState = openState(ledger.state(shardBlock));
  const mcBlock =
    block.id.workchain === MASTERCHAIN
      ? block
      : lookupBlock(ledger, {
          workchain: MASTERCHAIN,
          shard: 1n << 63n,
          by: 'seqno',
          seqno: Math.min(block.mc_seqno, headOf(ledger).id.seqno),
        });
  const { state: mcState, extra } = openMcState(ledger.state(mcBlock));
  return await run({
    code: state.state_init.code,
    data: state.state_init.data,
    address: Address.ofParts(workchain, id),
    balance: balance.grams,
    extra_currencies: balance.other,
    method_id,
    stack,
    gas_limit: GAS_LIMIT,
    now: shardState.gen_utime,
    block_lt: shardState.gen_lt,
    config: extra.config.config.root as Cell,
    libraries: mcState.totals.value.libraries.root,
    prev_blocks_info: previousBlocks(mcBlock.id, extra),
  });
}

function wholeProof(cell: Cell): Uint8Array {
  const reader = new MerkleReader(cell);
  visitAll(reader.root);
  return reader.proofBytes();
}

/** @throws liteserver/refused */
function stackOf(params: Uint8Array): VmStack {
  if (params.length >= MAX_PARAMS) throw refused('more than 64k parameter bytes passed');
  if (params.length === 0) return [];
  let stack: VmStack;
  try {
    stack = decodeCell(VmStack, parseBocRoot(params));
  } catch (error) {
    if (!isTernError(error)) throw error;
    throw refused(`parameter list cannot be deserialized from its bag of cells: ${error.message}`);
  }
  if (hasContinuation(stack)) throw refused('continuations are not allowed among the parameters');
  return stack;
}

function hasContinuation(values: readonly VmStackValue[]): boolean {
  const left = [...values];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (value.kind === 'vm_stk_cont') return true;
    if (value.kind === 'vm_stk_tuple') for (const item of value.data) left.push(item);
  }
  return false;
}
