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
import { VmStack, type VmStackValue } from '#formats/tlb/vm-stack.js';
import { VM_NULL, vmCell, vmInt, vmSlice, vmTuple } from '#formats/tlb/vm-value.js';
import { fromHex } from '#kernel/bytes.js';

/** A get method, and its context as the machine holds it: what nodes run, to the last unit of gas. */
export interface ContextRun {
  readonly code: Cell;
  /** Null where the account has none; the contract then sees an empty cell. */
  readonly data: Cell | null;
  /** Id of the method: int257. */
  readonly method_id: bigint;
  /** Arguments, the last one on top; 995 at most. */
  readonly stack: VmStack;
  /** The tuple that the contract finds in `c7`; its first item is `SmartContractInfo`. */
  readonly c7: VmStackValue;
  /** `ACCEPT` does not lift it. Up to 900,000. */
  readonly gas_limit: number;
  /** Root of `Hashmap 32 ^Cell`. The machine's own rules come from here; what the contract sees is in `c7`. */
  readonly config: Cell;
  /** Root of `HashmapE 256 ^Cell`, or of any dictionary of libraries with a reference first in its values. */
  readonly libraries: Cell | null;
}

/** What came of it. A contract that throws is a result, too. */
export interface ContextResult {
  /** 0 and 1 are success; -14 is out of gas. */
  readonly exit_code: number;
  readonly gas_used: number;
  /** The last result on top; after an exception its argument, without gas how much was used. */
  readonly stack: VmStack;
}

/** A run that makes another one: what the emulator is to do, and how its result is read. */
export interface RunvmCall {
  readonly request: GetMethodRequest;
  readonly unwrap: (result: ContextResult) => ContextResult;
}

/** Machines can run machines (`RUNVM`). */
export const RUNVM_VERSION = 4;

/** `DROP`, `RUNVM` with code as c3, data, gas limit, c7 and gas of its own, `NIP` (the data after the run). */
const RUNVM_CODE = new Builder().storeBytes(Uint8Array.of(0x30, 0xdb, 0x40, 0x9d, 0x31)).endCell();

/** `DROP`, `POPCTR c7`, `PUSHREFCONT`, `DUP`, `POPCTR c3`, `JMPX`, and the gas that they take. */
const PRELUDE = Uint8Array.of(0x30, 0xed, 0x57, 0x8a, 0x20, 0xed, 0x53, 0xd9);
const PRELUDE_GAS = 18 + 26 + 118 + 18 + 26 + 18;

/** The emulator's own limit, less what the machine around takes. */
const MAX_CONTEXT_GAS = 900_000;

const OUT_OF_GAS = -14;
const NULL_ADDRESS = Address.ofParts(0, new Uint8Array(32));

/**
 * The emulator makes the context by itself, from less than nodes do: no logical time, no due payment, ids of 32 bits, a
 * gas limit that `ACCEPT` lifts. So the run happens in a machine within the machine, which is given all of it. Networks
 * before global version 4 have none: a few instructions in front of the code do the same there, except that a run that
 * lifts the limit and goes beyond it is seen at its end, as out of gas one unit above the limit.
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
      gas_limit: gas_limit + PRELUDE_GAS,
    },
    unwrap: (result) => withoutPrelude(result, gas_limit),
  };
}

/** Items of `SmartContractInfo`: the configuration, previous blocks. */
const NETWORK_ITEMS = [9, 13];

/** The context without what takes long to pass on, and what most contracts never look at. */
export function withoutNetworkContext(c7: VmStackValue): VmStackValue {
  const [info, ...more] = c7.kind === 'vm_stk_tuple' ? c7.data : [];
  if (info?.kind !== 'vm_stk_tuple') return c7;
  const data = info.data.map((item, index) => (NETWORK_ITEMS.includes(index) ? VM_NULL : item));
  return vmTuple([vmTuple(data), ...more]);
}

/** Code that is a library is run by a jump to it, as in nodes. */
export function ordinary(code: Cell): Cell {
  return code.type === CellType.ordinary ? code : new Builder().storeRef(code).endCell();
}

/** From the stack of the machine around: results, exit code, gas. @throws tvm/crashed */
export function unwrapRunvm({ exit_code, stack }: Omit<ContextResult, 'gas_used'>): ContextResult {
  const [code, gas] = stack.slice(-2).map((value) => (value.kind === 'vm_stk_tinyint' ? Number(value.value) : null));
  if (exit_code !== 0 || code == null || gas == null) {
    throw tvmErrors.crashed({ problem: `a machine within the machine ended with exit code ${exit_code}` });
  }
  return { exit_code: code, gas_used: gas, stack: stack.slice(0, -2) };
}

function withoutPrelude({ exit_code, gas_used, stack }: ContextResult, limit: number): ContextResult {
  const gas = gas_used - PRELUDE_GAS;
  if (gas <= limit) return { exit_code, gas_used: gas, stack };
  const used = exit_code === OUT_OF_GAS ? gas : limit + 1;
  return { exit_code: OUT_OF_GAS, gas_used: used, stack: [vmInt(used)] };
}

/**
 * `DROP`, `SWAP`, `PUSHCTR c7`, `DUP`, `FIRST`, `ROT`, `10 SETINDEX`, `0 SETINDEX`, `SWAP`: the context of this machine with
 * the code of the contract for its own; then `RUNVM` with code as c3, data, gas limit, c7 and gas of its own, and `NIP` (the
 * data after the run).
 */
const RUNVM_WITH_OWN_CODE = serializeBoc(
  new Builder().storeBytes(fromHex('3001ed47206f10586f5a6f5001db409d31')!).endCell(),
);

/** What the machine around takes, at most: instructions, and arguments that are handed over. */
const RUNVM_OVERHEAD_GAS = 20_000;

/**
 * The same run with more gas than the emulator's usual 1,000,000. Any other limit the emulator lifts on `ACCEPT`, so the
 * contract runs in a machine within the machine, whose limit nothing lifts.
 */
export function withMoreGas(
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

/** The result of the contract, out of that of the machine around. @throws tvm/crashed */
export function resultWithMoreGas(result: GetMethodResult): GetMethodResult {
  return { ...result, ...unwrapRunvm(result) };
}
