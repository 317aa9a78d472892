import { join } from 'node:path';
import { Address } from '#formats/address/address.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { Logger } from '#kernel/logger.js';
import { AccountImporter, DeletedAccounts } from '#localnet/fork/account-import.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';
import type { NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import type { LiveLedger } from '#localnet/ledger/live-ledger.js';
import type { LiteContext } from '#localnet/liteserver/lite-handler.js';
import type { BlockLoop } from '#localnet/node/block-loop.js';
import { hasAccount } from '#localnet/node/external-messages.js';
import type { MinedIn } from '#localnet/node/local-node.js';
import type { ProducerModules } from '#localnet/producer/block-request.js';

export interface ForkedAccountsModules {
  readonly folder: string;
  readonly ledger: LiveLedger;
  readonly source: ForkSource;
  readonly logger: Logger;
}

/** Imports accounts of the forked network into the local chain. */
export class ForkedAccounts {
  readonly #modules: ForkedAccountsModules;
  readonly #deleted: DeletedAccounts;
  readonly #accounts: AccountImporter;
  /** Imports in progress, by raw address. */
  readonly #importing = new Map<string, Promise<MinedIn | null>>();
  #loop: BlockLoop | null = null;

  constructor(modules: ForkedAccountsModules) {
    const { folder, ledger, source } = modules;
    this.#modules = modules;
    this.#deleted = DeletedAccounts.open(join(folder, 'gone-accounts.txt'), (id) => ledger.block(id) !== null);
    this.#accounts = new AccountImporter(source, {
      isDeleted: (address) => this.#deleted.has(address),
      hasLibrary: (hash) =>
        decodeCell(ShardStateUnsplit, ledger.tip.masterchain.state).totals.value.libraries.has(hash),
    });
  }

  /** Sets the block loop that applies the imports. */
  setBlockLoop(loop: BlockLoop): void {
    this.#loop = loop;
  }

  /** For executing contracts. */
  get forExecution(): Required<Pick<ProducerModules, 'forkedAccount' | 'forkedLibrary'>> {
    return {
      forkedAccount: (address) => this.#accounts.account(address),
      forkedLibrary: (hash) => this.#accounts.library(hash),
    };
  }

  /** For the liteserver. */
  get forLiteserver(): Pick<LiteContext, 'importAccount' | 'forkedTransactions'> {
    const { ledger, source } = this.#modules;
    const { gen_lt } = decodeCell(ShardStateUnsplit, ledger.genesis.masterchain.state);
    return {
      importAccount: async ({ workchain, id }) => void (await this.touch(Address.ofParts(workchain, id))),
      forkedTransactions: async ({ account: { workchain, id }, lt, hash, count }) =>
        lt > gen_lt ? null : source.transactions(Address.ofParts(workchain, id), { lt, hash }, Math.max(count, 1)),
    };
  }

  /** Call it before a bundle is appended. */
  recordDeleted(bundle: NewBlockBundle): void {
    this.#deleted.record(bundle);
  }

  /** Raw addresses of the accounts that have been deleted. */
  deleted(): ReadonlySet<string> {
    return this.#deleted.all();
  }

  /** Call it when the chain has returned to a former state. @param deleted what {@link ForkedAccounts.deleted} gave then */
  returnTo(deleted: ReadonlySet<string>): void {
    this.#deleted.returnTo(deleted, this.#modules.ledger.tip.masterchain.id);
  }

  /** Publishes the libraries that runs have used, so that all contracts find them. */
  publishLentLibraries(): void {
    const lent = this.#accounts.takeLentLibraries();
    if (lent.length === 0) return;
    this.#loop?.makeBlockWith(lent).catch((error: unknown) => {
      const problem = String(error);
      this.#modules.logger.warn('libraries of the forked network could not be published', { problem });
    });
  }

  /** Imports an account, once for all concurrent calls; null when there is no such account. @throws fork/unreachable */
  touch(address: Address): Promise<MinedIn | null> {
    const key = address.toRaw();
    const under = this.#importing.get(key) ?? this.#import(address).finally(() => this.#importing.delete(key));
    this.#importing.set(key, under);
    return under;
  }

  async #import(address: Address): Promise<MinedIn | null> {
    const { ledger } = this.#modules;
    const here = (): MinedIn | null => (hasAccount(ledger.tip, address) ? { block: ledger.tip.masterchain.id } : null);
    if (here() !== null) return here();
    const made = await this.#accounts.importOverrides(address);
    if (made === null || here() !== null) return here();
    try {
      const { masterchain } = await this.#loop!.makeBlockWith(made);
      return { block: masterchain.id };
    } catch (error) {
      // A message may have caused its import in the same block.
      const found = here();
      if (found === null) throw error;
      return found;
    }
  }
}
