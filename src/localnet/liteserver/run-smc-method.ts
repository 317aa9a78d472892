import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { previousBlocks } from '#formats/proofs/previous-blocks.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import { encodeBoxed } from '#formats/tl/boxed.js';
import { LiteServerAccountState, LiteServerRunMethodResult } from '#formats/tl/generated/lite-server.js';
import type { LiteServerRunSmcMethod } from '#formats/tl/generated/lite-server-functions.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { configParam } from '#formats/tlb/config/config-params.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { VmStack, VmStackValue } from '#formats/tlb/vm-stack.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { accountProof, findAccount, noWorkchain } from '#localnet/liteserver/account-state.js';
import { openMcState, openState } from '#localnet/liteserver/block-reading.js';
import { headOf, lookupBlock, refused } from '#localnet/liteserver/find-block.js';
import type { GetMethodRun, RunGetMethod } from '#localnet/liteserver/get-methods.js';
import { type ContractContext, initialC7 } from '#localnet/liteserver/initial-c7.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteContext } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader, visitAll } from '#localnet/liteserver/merkle-reader.js';
import { visibleLibraries } from '#localnet/liteserver/visible-libraries.js';

/** Bits of the mode: what the answer is to hold. */
const SHOW = { proofs: 1, stateProof: 2, result: 4, c7: 8, libExtras: 16, wholeC7: 32 };
const ALL_BITS = 0x3f;

const MAX_PARAMS = 65_536;
const GAS_LIMIT = 300_000;

/** `exit_code` where there is no account, or none that is active. */
const NOT_ACTIVE = -256;

const NOTHING = new Uint8Array();

/**
 * Runs a get method as `liteServer.runSmcMethod` asks. The proof of the account's state shows all of it.
 *
 * @returns `liteServer.runMethodResult`; where there is no such workchain, as the reference, `liteServer.accountState`
 * @throws liteserver/*, for the client; what the virtual machine throws
 */
export async function runSmcMethod(
  args: LiteServerRunSmcMethod,
  context: LiteContext,
  run: RunGetMethod,
): Promise<Uint8Array> {
  const { mode, account } = args;
  const { ledger } = context;
  if ((mode & ~ALL_BITS) !== 0) throw refused('unsupported mode in runSmcMethod');
  const stack = stackOf(args.params);
  const place = findAccount(ledger, blockIdFromTl(args.id), account);
  if (place.shardBlock === null) return encodeBoxed(LiteServerAccountState, noWorkchain(place));
  const { proof, account: cell } = accountProof(ledger, place.shardBlock, account.id);
  const found = cell === null ? null : findMethod(place.block, place.shardBlock, cell, context);
  const outcome = found === null ? null : await run({ ...found.run, method_id: args.method_id, stack });
  const shown = <T>(bit: number, value: () => T): T | null => ((mode & bit) === 0 ? null : value());
  return encodeBoxed(LiteServerRunMethodResult, {
    mode,
    id: blockIdToTl(place.block.id),
    shardblk: blockIdToTl(place.shardBlock.id),
    shard_proof: shown(SHOW.proofs, () => place.shard_proof),
    proof: shown(SHOW.proofs, () => proof),
    state_proof: shown(SHOW.stateProof, () => (cell === null || outcome === null ? NOTHING : wholeProof(cell))),
    init_c7: shown(SHOW.c7, () => {
      if (found === null) return NOTHING;
      const c7 = (mode & SHOW.wholeC7) === 0 ? initialC7(found.contract, null) : found.run.c7;
      return serializeBoc(encodeCell(VmStackValue, c7));
    }),
    lib_extras: shown(SHOW.libExtras, () => NOTHING),
    exit_code: outcome?.exit_code ?? NOT_ACTIVE,
    result: shown(SHOW.result, () => (outcome === null ? NOTHING : serializeBoc(encodeCell(VmStack, outcome.stack)))),
  });
}

/** What can be run, and what it will see. */
interface FoundMethod {
  readonly contract: ContractContext;
  readonly run: Omit<GetMethodRun, 'method_id' | 'stack'>;
}

/** Null for an account that is not active. */
function findMethod(
  block: LedgerBlock,
  shardBlock: LedgerBlock,
  cell: Cell,
  { ledger, randomBytes }: LiteContext,
): FoundMethod | null {
  const account = decodeCell(Account, cell);
  if (account.kind !== 'account') return null;
  const { state, balance } = account.storage;
  if (state.kind !== 'account_active' || state.state_init.code === null) return null;
  const { code, data, library } = state.state_init;
  const shardState = openState(ledger.state(shardBlock));
  const mcBlock = masterchainBlockOf(ledger, block);
  const { state: mcState, extra } = openMcState(ledger.state(mcBlock));
  const { config } = extra.config;
  const globalVersion = configParam(config, 8)?.version ?? 0;
  const contract: ContractContext = {
    now: shardState.gen_utime,
    block_lt: shardState.gen_lt,
    rand_seed: randomBytes?.(32) ?? new Uint8Array(32),
    balance,
    address: account.addr,
  };
  const c7 = initialC7(contract, {
    config,
    globalVersion,
    code,
    prev_blocks: previousBlocks(mcBlock.id, extra, globalVersion),
    due_payment: account.storage_stat.due_payment ?? 0n,
  });
  const libraries = visibleLibraries(mcState.totals.value.libraries.root, library, globalVersion);
  return { contract, run: { code, data, c7, gas_limit: GAS_LIMIT, config: config.root as Cell, libraries } };
}

/** The block itself, or for one of a shard the masterchain block that it belongs to. */
function masterchainBlockOf(ledger: Ledger, block: LedgerBlock): LedgerBlock {
  if (block.id.workchain === MASTERCHAIN) return block;
  const seqno = Math.min(block.mc_seqno, headOf(ledger).id.seqno);
  return lookupBlock(ledger, { workchain: MASTERCHAIN, shard: 1n << 63n, by: 'seqno', seqno });
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
