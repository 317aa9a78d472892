import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { iterateEntries } from '#formats/cells/dict-iterate.js';
import type { Slice } from '#formats/cells/slice.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { PreviousBlocks } from '#formats/proofs/previous-blocks.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import { MsgAddressInt } from '#formats/tlb/msg-address.js';
import type { VmStackValue } from '#formats/tlb/vm-stack.js';
import { VM_NULL, vmCell, vmInt, vmSlice, vmTuple } from '#formats/tlb/vm-value.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** What a contract may know of itself. */
export interface ContractContext {
  /** Unix seconds. */
  readonly now: number;
  readonly block_lt: bigint;
  /** 32 bytes. */
  readonly rand_seed: Uint8Array;
  readonly balance: CurrencyCollection;
  readonly address: MsgAddressInt;
}

/** What it may know of the network and of its account. */
export interface NetworkContext {
  readonly config: ConfigDictionary;
  readonly globalVersion: number;
  readonly code: Cell;
  readonly prev_blocks: PreviousBlocks;
  /** Nanotons. */
  readonly due_payment: bigint;
}

const MAGIC = 0x076ef1ea;

/** Global versions from which on there is more in it. */
const SINCE = { code: 4, unpackedConfig: 6, hundreds: 9, messageParams: 11 };

/** Parameters of which contracts see the cells, after the prices of storage. */
const UNPACKED = [19, 20, 21, 24, 25, 43];

const NO_MONEY = vmTuple([vmInt(0), VM_NULL]);

/** `addr_none$00` */
const NO_ADDRESS = new Builder().storeUint(0, 2).endCell();

/** Of a get method: there is no message. */
const MESSAGE_PARAMS = vmTuple([
  vmInt(0), // bounce
  vmInt(0), // bounced
  vmSlice(NO_ADDRESS), // src
  vmInt(0), // fwd_fee
  vmInt(0), // created_lt
  vmInt(0), // created_at
  vmInt(0), // value as it was sent
  vmInt(0), // value
  VM_NULL, // extra currencies
  VM_NULL, // state init
]);

/**
 * `c7` as a get method finds it: a tuple with `SmartContractInfo` as its only item.
 *
 * @param network null leaves it out, as in the short form that servers show
 */
export function initialC7(contract: ContractContext, network: NetworkContext | null): VmStackValue {
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
  // Value of the message and storage fees are 0.
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

/** The prices that hold at a time: of parameter 18, the entry with the greatest key up to it. */
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

function prevBlocksTuple(blocks: PreviousBlocks, globalVersion: number): VmStackValue {
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
