import type { ContractView, ViewedContract } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import { nativeCodeOf } from '#domain/contracts/interface-registry.js';
import { runNatively } from '#domain/contracts/native-code.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { storeSnakeText } from '#formats/cells/snake.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { type VmStackValue, vmSlice } from '#formats/tlb/vm-stack.js';
import type { FakeContract } from '#test/support/fake-contracts.js';

const NO_METHOD = 11;

/** Contracts that are all made up; of known code they are read natively. It remembers what had to be run. */
export class FakeView implements ContractView {
  readonly #contracts: ReadonlyMap<string, FakeContract>;
  /** `0:83df… get_jetton_data` */
  readonly runs: string[] = [];

  constructor(contracts: readonly FakeContract[]) {
    this.#contracts = new Map(contracts.map((contract) => [contract.address.toRaw(), contract]));
  }

  async contract(address: Address): Promise<ViewedContract> {
    const { code, data } = this.#contracts.get(address.toRaw()) ?? {};
    return { address, account: code === undefined || data === undefined ? null : { address, code, data } };
  }

  async runGetMethod<Arguments extends readonly unknown[], Result>(
    { address, account }: ViewedContract,
    method: GetMethod<Arguments, Result>,
    ...given: Arguments
  ): Promise<Result> {
    const native = account === null ? null : runNatively(nativeCodeOf(account.code), account, method, given);
    if (native !== null) return native.result;
    const { name } = method;
    const question = `${address.toRaw()} ${name}`;
    this.runs.push(question);
    const answer = this.#contracts.get(address.toRaw())?.methods?.[name] ?? NO_METHOD;
    const said = typeof answer === 'function' ? answer(method.stack(...given)) : answer;
    if (typeof said !== 'number') return method.parse(said);
    throw contractDataErrors['method-failed']({ address: address.toRaw(), method: name, exit_code: said });
  }
}

/** An address of the basechain. */
export function addressOf(byte: number): Address {
  return Address.ofParts(0, new Uint8Array(32).fill(byte));
}

/** Null: `addr_none`. */
export function addressSlice(address: Address | null): VmStackValue {
  return vmSlice(encodeCell(MsgAddress, address));
}

/** Content of a token that is a link. */
export function linkContent(text: string): Cell {
  return storeSnakeText(text, new Builder().storeUint(1, 8)).endCell();
}
