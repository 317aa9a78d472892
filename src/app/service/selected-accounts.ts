import { configErrors } from '#app/config/errors.js';
import { loadAccounts } from '#app/config/index-settings.js';
import type { NamedNetwork } from '#app/config/networks.js';
import { type Environment, prepareDataFolder } from '#app/service/environment.js';
import { type OpenNetwork, openNetwork, PUBLIC_GROUP } from '#app/service/network.js';
import { isContractError } from '#domain/contracts/contract-view.js';
import { getWalletAddress } from '#domain/contracts/interfaces/jetton-master.js';
import type { Address } from '#formats/address/address.js';
import { pause } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';

const MIB = 2 ** 20;
/** For all wallets of one jetton. */
const DEADLINE_MS = 60_000;
/** Liteservers that are not reachable are waited for so long. */
const RETRY_FOR_MS = 60_000;
const RETRY_MS = 1_000;
const TVM = { workers: 1, slowWorkers: 1, rememberMs: 0, endedCpuMs: 0, cpuMs: DEADLINE_MS, keyCpuMs: DEADLINE_MS };

type OpenPool = ReturnType<OpenNetwork['poolOf']>;

interface SelectionSource {
  readonly network: NamedNetwork;
  /** Of proven key blocks. */
  readonly dataFolder: string;
}

/**
 * The accounts of a list, its jetton masters, and the wallets of the accounts for these: results of `get_wallet_address` (TEP-74) on
 * proven states of the newest block. Without jettons nothing is read.
 *
 * @param file as `--accounts`; null: all accounts are indexed
 * @throws config/account-list, also when an address is not that of a jetton master; lite/*, chain/* when liteservers do not answer for
 *   a minute
 */
export async function selectedAccounts(
  file: string | null,
  { network, dataFolder }: SelectionSource,
  modules: Environment,
): Promise<readonly Address[] | null> {
  if (file === null) return null;
  const { accounts, jettons } = await loadAccounts(file);
  if (jettons.length === 0) return accounts;
  await prepareDataFolder(dataFolder);
  const open = await openNetwork(
    {
      ...{ network, dataFolder, groups: [], getMethods: 'local', tvm: TVM },
      ...{ cacheBytes: 16 * MIB, deadlineMs: DEADLINE_MS, maxHeadAgeMs: 0 },
    },
    modules,
  );
  try {
    const all = [...accounts, ...jettons];
    for (const jetton of jettons) {
      try {
        all.push(
          ...(await retryUntilAnswered(() => walletsOf(jetton, accounts, open.pools.get(PUBLIC_GROUP)!), modules)),
        );
      } catch (error) {
        if (!isContractError(error)) throw error;
        const problem = `${jetton.toRaw()} is no jetton master: ${error.message}`;
        throw configErrors['account-list']({ file, problem }, error);
      }
    }
    return [...new Map(all.map((address) => [address.toRaw(), address])).values()];
  } finally {
    await open.close();
  }
}

async function walletsOf(
  jetton: Address,
  owners: readonly Address[],
  { chain, contracts }: Pick<OpenPool, 'chain' | 'contracts'>,
): Promise<readonly Address[]> {
  const { block: at } = await chain.head({ deadlineMs: DEADLINE_MS });
  const view = contracts.contractsAt({ at, deadlineMs: DEADLINE_MS });
  const master = await view.contract(jetton);
  const wallets: Address[] = [];
  for (const owner of owners) wallets.push(await view.runGetMethod(master, getWalletAddress, owner));
  return wallets;
}

/** Repeats a read until liteservers answer. */
async function retryUntilAnswered<T>(read: () => Promise<T>, { clock, logger }: Environment): Promise<T> {
  const began = clock.now();
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const isOver = clock.now() - began > RETRY_FOR_MS;
      if (isOver || !isTernError(error) || error.code.startsWith('contract-data/')) throw error;
      logger.warn('wallets of selected accounts cannot be read; retrying', { problem: error.message });
      await pause(RETRY_MS, clock, new AbortController().signal);
    }
  }
}
