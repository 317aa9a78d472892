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

/** The network that a local one is a fork of, as far as its accounts have a life here. */
export class ForkedAccounts {
  readonly #modules: ForkedAccountsModules;
  readonly #gone: DeletedAccounts;
  readonly #accounts: AccountImporter;
  /** Accounts that are on their way here. */
  readonly #touched = new Map<string, Promise<MinedIn | null>>();
  #loop: BlockLoop | null = null;

  constructor(modules: ForkedAccountsModules) {
    const { folder, ledger, source } = modules;
    this.#modules = modules;
    this.#gone = DeletedAccounts.open(join(folder, 'gone-accounts.txt'), (id) => ledger.block(id) !== null);
    this.#accounts = new AccountImporter(source, {
      isGone: (address) => this.#gone.has(address),
      hasLibrary: (hash) =>
        decodeCell(ShardStateUnsplit, ledger.tip.masterchain.state).totals.value.libraries.has(hash),
    });
  }

  /** What makes the rounds into which accounts are brought. */
  use(loop: BlockLoop): void {
    this.#loop = loop;
  }

  /** For runs of contracts. */
  get forRuns(): Required<Pick<ProducerModules, 'foreignAccount' | 'foreignLibrary'>> {
    return {
      foreignAccount: (address) => this.#accounts.account(address),
      foreignLibrary: (hash) => this.#accounts.library(hash),
    };
  }

  /** For the liteserver. */
  get forReads(): Pick<LiteContext, 'importAccount' | 'olderTransactions'> {
    const { ledger, source } = this.#modules;
    const { gen_lt } = decodeCell(ShardStateUnsplit, ledger.genesis.masterchain.state);
    return {
      importAccount: async ({ workchain, id }) => void (await this.touch(Address.ofParts(workchain, id))),
      olderTransactions: async ({ account: { workchain, id }, lt, hash, count }) =>
        lt > gen_lt ? null : source.transactions(Address.ofParts(workchain, id), { lt, hash }, Math.max(count, 1)),
    };
  }

  /** A round is about to be written. */
  note(round: NewBlockBundle): void {
    this.#gone.note(round);
  }

  /** Publishes what was lent for runs, so that all find it here. */
  publishLent(): void {
    const lent = this.#accounts.takeLent();
    if (lent.length === 0) return;
    this.#loop?.intervene(lent).catch((error: unknown) => {
      const problem = String(error);
      this.#modules.logger.warn('libraries of the forked network could not be published', { problem });
    });
  }

  /** Brings an account here, once however many ask for it; null when there is no such account. @throws fork/unreachable */
  touch(address: Address): Promise<MinedIn | null> {
    const key = address.toRaw();
    const under = this.#touched.get(key) ?? this.#bring(address).finally(() => this.#touched.delete(key));
    this.#touched.set(key, under);
    return under;
  }

  async #bring(address: Address): Promise<MinedIn | null> {
    const { ledger } = this.#modules;
    const here = (): MinedIn | null => (hasAccount(ledger.tip, address) ? { block: ledger.tip.masterchain.id } : null);
    if (here() !== null) return here();
    const made = await this.#accounts.bring(address);
    if (made === null || here() !== null) return here();
    try {
      const { masterchain } = await this.#loop!.intervene(made);
      return { block: masterchain.id };
    } catch (error) {
      // A message may have brought it in the same round.
      const found = here();
      if (found === null) throw error;
      return found;
    }
  }
}
