import { inner, ordinary } from '#drivers/tvm/context-run.js';
import type { GetMethodParts, GetMethodRequest, GetMethodResult } from '#drivers/tvm/get-method.js';
import { getMethodId } from '#drivers/tvm/get-method-id.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { VmStack } from '#formats/tlb/vm-stack.js';
import { vmCell, vmInt, vmSlice } from '#formats/tlb/vm-value.js';
import { fromHex } from '#kernel/bytes/bytes.js';

/**
 * `DROP`, `SWAP`, `PUSHCTR c7`, `DUP`, `FIRST`, `ROT`, `10 SETINDEX`, `0 SETINDEX`, `SWAP`: the context of this machine with
 * the code of the contract for its own; then `RUNVM` with code as c3, data, gas limit, c7 and gas of its own, and `NIP` (the
 * data after the run).
 */
const IN_MACHINE = serializeBoc(new Builder().storeBytes(fromHex('3001ed47206f10586f5a6f5001db409d31')!).endCell());

/** What the machine around takes, at most: instructions, and arguments that are handed over. */
const AROUND_GAS = 20_000;

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
    code: IN_MACHINE,
    stack: serializeBoc(encodeCell(VmStack, stack)),
    params: { ...parts.params, method_id: 0, gas_limit: String(gas_limit + AROUND_GAS) },
  };
}

/** The result of the contract, out of that of the machine around. @throws tvm/crashed */
export function resultWithMoreGas(result: GetMethodResult): GetMethodResult {
  return { ...result, ...inner(result) };
}
