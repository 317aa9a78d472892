import type { ContractView, ViewedContract } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { Address } from '#formats/address/address.js';
import { type RecordedAccount, runRecorded } from '#test/support/contract-accounts.js';

/** Recorded contracts, asked by running them only. */
export class RunningView implements ContractView {
  readonly #pool: TvmPool;
  readonly #accounts: ReadonlyMap<string, RecordedAccount>;

  constructor(pool: TvmPool, accounts: readonly RecordedAccount[]) {
    this.#pool = pool;
    this.#accounts = new Map(accounts.map((account) => [account.address.toRaw(), account]));
  }

  async contract(address: Address): Promise<ViewedContract> {
    return { address, account: this.#accounts.get(address.toRaw()) ?? null };
  }

  async runGetMethod<Arguments extends readonly unknown[], Result>(
    { address }: ViewedContract,
    { name: method, stack, parse }: GetMethod<Arguments, Result>,
    ...given: Arguments
  ): Promise<Result> {
    const account = this.#accounts.get(address.toRaw());
    const run = account === undefined ? null : await runRecorded(this.#pool, account, method, stack(...given));
    if (run !== null && run.exit_code <= 1 && run.exit_code >= 0) return parse(run.stack);
    const exit_code = run?.exit_code ?? -13;
    throw contractDataErrors['method-failed']({ address: address.toRaw(), method, exit_code });
  }
}
