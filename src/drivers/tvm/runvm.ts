import { tvmErrors } from '#drivers/tvm/errors.js';
import {
  type GetMethodParts,
  type GetMethodRequest,
  type GetMethodResult,
  getMethodId,
} from '#drivers/tvm/get-method.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { VM_NULL, VmStack, type VmStackValue, vmCell, vmInt, vmSlice, vmTuple } from '#formats/tlb/vm-stack.js';
import { fromHex } from '#kernel/bytes.js';

/** A get method with its complete TVM context, as nodes run it, with exact gas. */
export interface ContextRun {
  readonly code: Cell;
  /** Null when the account has none; the contract then sees an empty cell. */
  readonly data: Cell | null;
  /** Method id: int257. */
  readonly method_id: bigint;
  /** Arguments, last one on top; at most 995. */
  readonly stack: VmStack;
  /** The tuple in `c7`; its first item is `SmartContractInfo`. */
  readonly c7: VmStackValue;
  /** Not lifted by `ACCEPT`. At most 900,000. */
  readonly gas_limit: number;
  /** Root of `Hashmap 32 ^Cell`. Determines the TVM rules; the contract itself sees the configuration in `c7`. */
  readonly config: Cell;
  /** Root of `HashmapE 256 ^Cell`, or of any library dictionary whose values start with a reference. */
  readonly libraries: Cell | null;
}

/** Result of a run. An exception of the contract is a result, too. */
export interface ContextResult {
  /** 0 and 1 mean success; -14 out of gas. */
  readonly exit_code: number;
  readonly gas_used: number;
  /** Last result on top; after an exception its argument, after out of gas the gas used. */
  readonly stack: VmStack;
}

/** A run wrapped in `RUNVM`: the request for the emulator and the decoder of its result. */
export interface RunvmCall {
  readonly request: GetMethodRequest;
  readonly unwrap: (result: ContextResult) => ContextResult;
}

/** First global version with `RUNVM`. */
export const RUNVM_VERSION = 4;

/** `DROP`, `RUNVM` with code as c3, data, gas limit, c7 and isolated gas, `NIP` (the data after the run). */
const RUNVM_CODE = new Builder().storeBytes(Uint8Array.of(0x30, 0xdb, 0x40, 0x9d, 0x31)).endCell();

/** `DROP`, `POPCTR c7`, `PUSHREFCONT`, `DUP`, `POPCTR c3`, `JMPX`, and the gas that they take. */
const PRELUDE = Uint8Array.of(0x30, 0xed, 0x57, 0x8a, 0x20, 0xed, 0x53, 0xd9);
const PRELUDE_GAS = 18 + 26 + 118 + 18 + 26 + 18;

/** The emulator's own limit minus the overhead of the outer VM. */
const MAX_CONTEXT_GAS = 900_000;

const OUT_OF_GAS = -14;
const NULL_ADDRESS = Address.ofParts(0, new Uint8Array(32));

/**
 * The emulator builds the context itself, with less data than nodes: no logical time, no due payment, 32-bit method ids, and
 * a gas limit that `ACCEPT` lifts unless it is 1,000,000. Therefore the run executes in a child VM (`RUNVM`) with the complete context. Networks
 * before global version 4 have no `RUNVM`: there a prelude before the code sets the context, and a run that exceeds the limit
 * is reported at its end as out of gas, one unit above the limit.
 *
 * @throws tvm/bad-request
 */
export function wrapInRunvm(run: ContextRun, globalVersion: number): RunvmCall {
  const { gas_limit, config, data } = run;
  if (!Number.isSafeInteger(gas_limit) || gas_limit < 1 || gas_limit > MAX_CONTEXT_GAS) {
    const accepted = `a whole number from 1 to ${MAX_CONTEXT_GAS}`;
    throw tvmErrors['bad-request']({ field: 'gas_limit', found: String(gas_limit), accepted });
  }
  const common = { method: 0, address: NULL_ADDRESS, now: 0, balance: 0n, config } as const;
  const code = ordinary(run.code);
  const stack = [...run.stack, vmInt(run.method_id)];
  if (globalVersion >= RUNVM_VERSION) {
    stack.push(vmInt(stack.length), vmSlice(code), vmCell(data ?? EMPTY_CELL), run.c7, vmInt(gas_limit));
    return { request: { ...common, code: RUNVM_CODE, data: null, stack }, unwrap: unwrapRunvm };
  }
  return {
    request: {
      ...common,
      code: new Builder().storeBytes(PRELUDE).storeRef(code).endCell(),
      data,
      stack: [...stack, run.c7],
    },
    unwrap: (result) => withoutPrelude(result, gas_limit),
  };
}

/** Items of `SmartContractInfo`: configuration and previous blocks. */
const NETWORK_ITEMS = [9, 13];

/** The context without the items that are slow to transfer and that most contracts do not read. */
export function withoutNetworkContext(c7: VmStackValue): VmStackValue {
  const [info, ...more] = c7.kind === 'vm_stk_tuple' ? c7.data : [];
  if (info?.kind !== 'vm_stk_tuple') return c7;
  const data = info.data.map((item, index) => (NETWORK_ITEMS.includes(index) ? VM_NULL : item));
  return vmTuple([vmTuple(data), ...more]);
}

/** Wraps exotic (library) code in an ordinary cell that jumps to it, as nodes do. */
function ordinary(code: Cell): Cell {
  return code.type === CellType.ordinary ? code : new Builder().storeRef(code).endCell();
}

/** Decodes results, exit code and gas of the child VM from the stack of the outer VM. @throws tvm/crashed */
function unwrapRunvm({ exit_code, stack }: Omit<ContextResult, 'gas_used'>): ContextResult {
  const [code, gas] = stack.slice(-2).map((value) => (value.kind === 'vm_stk_tinyint' ? Number(value.value) : null));
  if (exit_code !== 0 || code == null || gas == null) {
    throw tvmErrors.crashed({ problem: `the VM around RUNVM ended with exit code ${exit_code}` });
  }
  return { exit_code: code, gas_used: gas, stack: stack.slice(0, -2) };
}

function withoutPrelude({ exit_code, gas_used, stack }: ContextResult, limit: number): ContextResult {
  return withinGas({ exit_code, gas_used: gas_used - PRELUDE_GAS, stack }, limit);
}

/** The result that the run would have had with a lower limit, where the emulator cannot be given one. */
export function withinGas<Result extends ContextResult>(result: Result, limit: number): Result {
  if (result.gas_used <= limit) return result;
  const gas_used = limit + 1;
  return { ...result, exit_code: OUT_OF_GAS, gas_used, stack: [vmInt(gas_used)] };
}

/**
 * `DROP`, `SWAP`, `PUSHCTR c7`, `DUP`, `FIRST`, `ROT`, `10 SETINDEX`, `0 SETINDEX`, `SWAP`: the context of the outer VM with
 * the code of the contract; then `RUNVM` with code as c3, data, gas limit, c7 and isolated gas, and `NIP` (the
 * data after the run).
 */
const RUNVM_WITH_OWN_CODE = serializeBoc(
  new Builder().storeBytes(fromHex('3001ed47206f10586f5a6f5001db409d31')!).endCell(),
);

/** Maximum gas of the outer VM: instructions and passing of arguments. */
const RUNVM_OVERHEAD_GAS = 20_000;

/**
 * The same run with another gas limit than the emulator's default of 1,000,000. `ACCEPT` lifts any other limit of the
 * emulator, so the contract runs in a child VM (`RUNVM`) with a fixed limit.
 */
export function withGasLimit(
  { stack: given, method, data }: GetMethodRequest,
  code: Cell,
  parts: GetMethodParts,
  gas_limit: number,
): GetMethodParts {
  const stack = [...given, vmInt(getMethodId(method))];
  stack.push(vmInt(stack.length), vmSlice(ordinary(code)), vmCell(data ?? EMPTY_CELL), vmCell(code), vmInt(gas_limit));
  return {
    ...parts,
    code: RUNVM_WITH_OWN_CODE,
    stack: serializeBoc(encodeCell(VmStack, stack)),
    params: { ...parts.params, method_id: 0, gas_limit: String(gas_limit + RUNVM_OVERHEAD_GAS) },
  };
}

/** The result of the contract, from the result of the outer VM. @throws tvm/crashed */
export function resultWithGasLimit(result: GetMethodResult): GetMethodResult {
  return { ...result, ...unwrapRunvm(result) };
}
