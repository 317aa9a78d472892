import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { setEntry } from '#formats/cells/dict-edit.js';
import { iterateEntries, lookup } from '#formats/cells/dict-read.js';
import type { Slice } from '#formats/cells/slice.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { type PrevMcBlocks, prevMcBlocks } from '#formats/proofs/shard-state.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import { encodeBoxed } from '#formats/tl/constructor.js';
import {
  LiteServerAccountState,
  LiteServerRunMethodResult,
  type LiteServerRunSmcMethod,
} from '#formats/tl/lite-api.js';
import { Account, type SimpleLibs } from '#formats/tlb/account.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import { MsgAddressInt } from '#formats/tlb/msg-address.js';
import { VM_NULL, VmStack, VmStackValue, vmCell, vmInt, vmSlice, vmTuple } from '#formats/tlb/vm-stack.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { accountProof, findAccount, noWorkchain } from '#localnet/liteserver/account-state.js';
import {
  headOf,
  lookupBlock,
  MerkleReader,
  openMcState,
  openState,
  refused,
  visitAll,
} from '#localnet/liteserver/block-access.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { GetMethodRun, LiteContext, RunGetMethod } from '#localnet/liteserver/lite-handler.js';

/** Bits of `mode`: parts of the answer. */
const SHOW = { proofs: 1, stateProof: 2, result: 4, c7: 8, libExtras: 16, wholeC7: 32 };
const ALL_BITS = 0x3f;

const MAX_PARAMS = 65_536;
const GAS_LIMIT = 300_000;

/** `exit_code` for an account that does not exist or is not active. */
const NOT_ACTIVE = -256;

const NOTHING = new Uint8Array();

/**
 * Runs a get method for `liteServer.runSmcMethod`. The proof of the account state contains all of it.
 *
 * @returns `liteServer.runMethodResult`; when the workchain does not exist, `liteServer.accountState`, as the reference
 * implementation
 * @throws liteserver/*, for the client; what the TVM throws
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

/** A run and its context. */
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
    prev_blocks: prevMcBlocks(mcBlock.id, extra, globalVersion),
    due_payment: account.storage_stat.due_payment ?? 0n,
  });
  const libraries = visibleLibraries(mcState.totals.value.libraries.root, library, globalVersion);
  return { contract, run: { code, data, c7, gas_limit: GAS_LIMIT, config: config.root as Cell, libraries } };
}

/** The block itself, or the masterchain block that commits a shard block. */
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

/** What a contract sees of itself. */
interface ContractContext {
  /** Unix seconds. */
  readonly now: number;
  readonly block_lt: bigint;
  /** 32 bytes. */
  readonly rand_seed: Uint8Array;
  readonly balance: CurrencyCollection;
  readonly address: MsgAddressInt;
}

/** What a contract sees of the network and its account. */
interface NetworkContext {
  readonly config: ConfigDictionary;
  readonly globalVersion: number;
  readonly code: Cell;
  readonly prev_blocks: PrevMcBlocks;
  /** Nanotons. */
  readonly due_payment: bigint;
}

const MAGIC = 0x076ef1ea;

/** Global versions that add fields to `c7`. */
const SINCE = { code: 4, unpackedConfig: 6, hundreds: 9, messageParams: 11 };

/** Parameters whose cells contracts see, after the storage prices. */
const UNPACKED = [19, 20, 21, 24, 25, 43];

const NO_MONEY = vmTuple([vmInt(0), VM_NULL]);

/** `addr_none$00` */
const NO_ADDRESS = new Builder().storeUint(0, 2).endCell();

/** A get method has no inbound message. */
const MESSAGE_PARAMS = vmTuple([
  vmInt(0), // bounce
  vmInt(0), // bounced
  vmSlice(NO_ADDRESS), // src
  vmInt(0), // fwd_fee
  vmInt(0), // created_lt
  vmInt(0), // created_at
  vmInt(0), // original value
  vmInt(0), // value
  VM_NULL, // extra currencies
  VM_NULL, // state init
]);

/**
 * `c7` of a get method: a tuple with `SmartContractInfo` as its only item.
 *
 * @param network null for the short form that servers return
 */
function initialC7(contract: ContractContext, network: NetworkContext | null): VmStackValue {
  const { now, block_lt, rand_seed, balance, address } = contract;
  const info = [
    vmInt(MAGIC),
    vmInt(0), // actions
    vmInt(0), // msgs_sent
    vmInt(now),
    vmInt(block_lt),
    vmInt(block_lt), // trans_lt
    hashInt(rand_seed),
    vmTuple([vmInt(balance.grams), maybeCell(balance.other.root)]),
    vmSlice(encodeCell(MsgAddressInt, address)),
    maybeCell(network?.config.root ?? null),
  ];
  if (network !== null) info.push(...networkInfo(network, now));
  return vmTuple([vmTuple(info)]);
}

function networkInfo(network: NetworkContext, now: number): VmStackValue[] {
  const { config, globalVersion, code, prev_blocks, due_payment } = network;
  const info: VmStackValue[] = [];
  if (globalVersion < SINCE.code) return info;
  // Message value and storage fees are 0.
  info.push(vmCell(code), NO_MONEY, vmInt(0), prevBlocksTuple(prev_blocks, globalVersion));
  if (globalVersion < SINCE.unpackedConfig) return info;
  const gas = configParam(config, 45)?.list.get(code.hash())?.gas_usage;
  info.push(unpackedConfig(config, now), vmInt(due_payment), gas === undefined ? VM_NULL : vmInt(gas));
  if (globalVersion >= SINCE.messageParams) info.push(MESSAGE_PARAMS);
  return info;
}

function unpackedConfig(config: ConfigDictionary, now: number): VmStackValue {
  const params = UNPACKED.map((index) => {
    const cell = config.get(index);
    return cell === undefined ? VM_NULL : vmSlice(cell);
  });
  return vmTuple([storagePrices(config, now), ...params]);
}

/** The storage prices at a time: the entry of parameter 18 with the greatest key up to it. */
function storagePrices(config: ConfigDictionary, now: number): VmStackValue {
  let found: Slice | null = null;
  for (const [key, value] of iterateEntries(config.get(18) ?? null, 32)) {
    if (new DataView(key.buffer, key.byteOffset).getUint32(0) > now) break;
    found = value;
  }
  if (found === null) return VM_NULL;
  const { cell, bitOffset, refOffset, remainingBits, remainingRefs } = found;
  const ends = { end_bits: bitOffset + remainingBits, end_ref: refOffset + remainingRefs };
  return { kind: 'vm_stk_slice', slice: { cell, st_bits: bitOffset, st_ref: refOffset, ...ends } };
}

function prevBlocksTuple(blocks: PrevMcBlocks, globalVersion: number): VmStackValue {
  const lists = [vmTuple(blocks.last_mc_blocks.map(blockTuple)), blockTuple(blocks.prev_key_block)];
  if (globalVersion >= SINCE.hundreds) lists.push(vmTuple(blocks.last_mc_blocks_100.map(blockTuple)));
  return vmTuple(lists);
}

/** `[wc:Integer shard:Integer seqno:Integer root_hash:Integer file_hash:Integer]` */
function blockTuple({ workchain, shard, seqno, root_hash, file_hash }: BlockId): VmStackValue {
  return vmTuple([vmInt(workchain), vmInt(shard), vmInt(seqno), hashInt(root_hash), hashInt(file_hash)]);
}

function hashInt(hash: Uint8Array): VmStackValue {
  return vmInt(BigInt(`0x${toHex(hash)}`));
}

function maybeCell(cell: Cell | null): VmStackValue {
  return cell === null ? VM_NULL : vmCell(cell);
}

/** Global version since which contracts find only published libraries, not those of their account. */
const ONLY_PUBLISHED = 15;

/**
 * The libraries that a contract finds, as a dictionary by hash; each value starts with a reference to the library.
 *
 * @param published root of the masterchain libraries
 * @param own libraries of the account; those stored under a wrong hash are not found
 */
export function visibleLibraries(published: Cell | null, own: SimpleLibs, globalVersion: number): Cell | null {
  if (globalVersion >= ONLY_PUBLISHED) return published;
  let libraries = published;
  for (const [hash, { root }] of own) {
    if (!bytesEqual(root.hash(), hash) || lookup(libraries, 256, hash) !== null) continue;
    libraries = setEntry(libraries, 256, hash, new Builder().storeRef(root));
  }
  return libraries;
}
