import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { stateInitOf } from '#formats/tlb/account.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import type { AccountStateRead } from '#services/chain/accounts.js';
import type { BlockAt, ReadAt } from '#services/chain/read-context.js';
import type { ContractStateReads } from '#services/emulation/contract-data.js';
import type { GetMethodRead } from '#services/emulation/contract-reads.js';

/** An answer of a get method: its stack, an exit code, or how it comes to one of these. */
export type FakeAnswer = VmStack | number | ((stack: VmStack) => VmStack | number);

/** A contract: its code and data, and what its get methods answer; others end with exit code 11. */
export interface FakeContract {
  readonly address: Address;
  readonly code?: Cell;
  readonly data?: Cell;
  readonly methods?: Readonly<Record<string, FakeAnswer>>;
}

export const FAKE_BLOCK: BlockId = {
  workchain: -1,
  shard: 1n << 63n,
  seqno: 42,
  root_hash: new Uint8Array(32).fill(1),
  file_hash: new Uint8Array(32).fill(2),
};

const NO_METHOD = 11;
const NO_CODE = -13;

/** Reads of contracts that are all made up. It remembers what was asked, and about which block. */
export class FakeContracts implements ContractStateReads {
  readonly #contracts: ReadonlyMap<string, FakeContract>;
  readonly #libraries: ReadonlyMap<string, Cell>;
  /** `0:83df… get_jetton_data` */
  readonly runs: string[] = [];
  readonly blocks: (BlockAt | undefined)[] = [];

  constructor(contracts: readonly FakeContract[], libraries: ReadonlyMap<string, Cell> = new Map()) {
    this.#contracts = new Map(contracts.map((contract) => [contract.address.toRaw(), contract]));
    this.#libraries = libraries;
  }

  async runGetMethod(address: Address, method: string, stack: VmStack, { at }: ReadAt): Promise<GetMethodRead> {
    this.runs.push(`${address.toRaw()} ${method}`);
    this.blocks.push(at);
    const contract = this.#contracts.get(address.toRaw());
    const given = contract === undefined ? NO_CODE : (contract.methods?.[method] ?? NO_METHOD);
    const answer = typeof given === 'function' ? given(stack) : given;
    return {
      exit_code: typeof answer === 'number' ? answer : 0,
      gas_used: 1_000,
      stack: typeof answer === 'number' ? [] : answer,
      block: FAKE_BLOCK,
      last_transaction: null,
      ran_on: 'local',
      ran_on_reason: null,
      remembered_ms: null,
    };
  }

  async account(address: Address, { at }: ReadAt): Promise<AccountStateRead> {
    this.blocks.push(at);
    const contract = this.#contracts.get(address.toRaw());
    const known = address.workchain === 0 || address.workchain === -1;
    const read = {
      block: FAKE_BLOCK,
      gen_utime: 1,
      shard_block: known ? FAKE_BLOCK : null,
      shard_utime: known ? 1 : null,
      shard_lt: known ? 1n : null,
      cell: null,
      account: null,
      last_transaction: null,
      proof: null,
    };
    if (contract?.code === undefined || contract.data === undefined) return read;
    const state_init = stateInitOf(contract.code, contract.data);
    return {
      ...read,
      account: {
        kind: 'account',
        addr: address,
        storage_stat: {
          used: { cells: 1n, bits: 1n },
          storage_extra: { kind: 'storage_extra_none' },
          last_paid: 0,
          due_payment: null,
        },
        storage: {
          last_trans_lt: 1n,
          balance: onlyGrams(1n),
          state: { kind: 'account_active', state_init },
        },
      },
    };
  }

  async library(hash: Uint8Array, { at }: ReadAt): Promise<Cell | null> {
    this.blocks.push(at);
    return this.#libraries.get(Buffer.from(hash).toString('hex')) ?? null;
  }
}
