import {
  type ConfigDictionary,
  type ConfigParams,
  configDictionary,
  configParam,
  decodeConfigParam,
  isConfigParamIndex,
} from '#formats/tlb/config/config-params.js';
import type { ShardAccounts } from '#formats/tlb/shard-account.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/**
 * The configuration after the transactions of a block: what the configuration contract has in the first reference of its
 * data, and its address. When parameter 0 names another contract that has a configuration, it is that one's.
 *
 * What is no valid configuration is passed over, as nodes do: all parameters with a form must have it, others must have a
 * negative number, and those of parameter 9, before and after, must be there. Then `before` stays.
 *
 * @param accounts the accounts of the masterchain after the block
 */
export function configOfAccounts(accounts: ShardAccounts, before: ConfigParams): ConfigParams {
  const config = configOfAccount(accounts, before.config_addr, before.config);
  if (config === null) return before;
  const successor = configParam(config, 0);
  if (successor === undefined || bytesEqual(successor, before.config_addr))
    return { config_addr: before.config_addr, config };
  const next = configOfAccount(accounts, successor, before.config);
  const isReady = next !== null && bytesEqual(configParam(next, 0) ?? before.config_addr, successor);
  return isReady ? { config_addr: successor, config: next } : { config_addr: before.config_addr, config };
}

function configOfAccount(accounts: ShardAccounts, id: Uint8Array, before: ConfigDictionary): ConfigDictionary | null {
  const account = accounts.get(id)?.account.value;
  const state = account?.kind === 'account' ? account.storage.state : null;
  const data = state?.kind === 'account_active' ? state.state_init.data : null;
  if (data === null || data.refCount === 0) return null;
  const root = data.ref(0);
  if (bytesEqual(root.hash(0), before.root!.hash(0))) return before;
  const config = configDictionary(root);
  return isValid(config, before) ? config : null;
}

function isValid(config: ConfigDictionary, before: ConfigDictionary): boolean {
  try {
    for (const [index, cell] of config) {
      if (index < 0) continue;
      if (!isConfigParamIndex(index)) return false;
      decodeConfigParam(index, cell);
    }
    const mandatory = [configParam(before, 9), configParam(config, 9)].flatMap((list) => [...(list ?? [])]);
    return mandatory.every(([index]) => config.has(index));
  } catch (error) {
    if (isTernError(error)) return false;
    throw error;
  }
}
