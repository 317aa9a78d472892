import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import {
  type ConfigDictionary,
  configDictionary,
  configParam,
  decodeConfigParam,
} from '#formats/tlb/config/config-params.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { ChangedAccount } from '#localnet/validation/accounts.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { rootHash } from '#localnet/validation/config-view.js';

/** Parameters that no configuration can do without. */
const NEEDED = [18, 20, 21, 22, 23, 24, 25, 28, 34] as const;

/**
 * Checks the configuration in the state: that it is what the configuration contract holds, that all parameters can be read,
 * and that the block is a key block exactly when it changed.
 *
 * @throws validation/broken-rule
 */
export function checkConfigUpdate(context: BlockContext, accounts: readonly ChangedAccount[]): void {
  const { rules, info, reference, afterView } = context;
  const old = reference.extra.config;
  const now = afterView!.extra.config;
  const changed = !bytesEqual(rootHash(old), rootHash(now));
  const moved = !bytesEqual(old.config_addr, now.config_addr);
  rules.equal('key-block', changed || moved, info.key_block, 'a change of the configuration');
  if (changed) checkParameters(context, now.config, now.config_addr);
  const touched = accounts.some(({ account }) => bytesEqual(account, now.config_addr));
  if (!changed && !moved && !touched) return;
  const held = contractConfig(context, now.config_addr);
  const place = { what: 'account', hash: now.config_addr };
  const used = changed || (held !== null && isAcceptable(context, held));
  if (used) rules.equal('config-contract', held?.hash() ?? null, rootHash(now), place);
  if (moved) rules.equal('config-contract', configParam(old.config, 0) ?? null, now.config_addr, 'config_addr');
}

/** What the configuration contract has in the first reference of its data; `null` when there is none. */
function contractConfig({ after }: BlockContext, address: Uint8Array): Cell | null {
  const account = after.accounts.value.get(address)?.account.value;
  if (account === undefined || account.kind === 'account_none' || account.storage.state.kind !== 'account_active')
    return null;
  const { data } = account.storage.state.state_init;
  if (data === null || data.refCount === 0) return null;
  return openCell(data).loadRef();
}

function isAcceptable(context: BlockContext, root: Cell): boolean {
  try {
    checkParameters(context, configDictionary(root), null);
    return true;
  } catch (error) {
    if (isTernError(error)) return false;
    throw error;
  }
}

function checkParameters({ rules }: BlockContext, params: ConfigDictionary, address: Uint8Array | null): void {
  for (const index of NEEDED) rules.require(params.has(index), 'config-parameters', `parameter ${index}`, 'none');
  for (const [index, cell] of params) {
    // Parameters below 0 are free for anything; what is no longer used, nodes do not look at.
    if (index < 0) continue;
    try {
      decodeConfigParam(index, cell);
    } catch (error) {
      if (!isTernError(error)) throw error;
      throw rules.broken('config-parameters', 'a parameter of its form', error.message, `parameter ${index}`);
    }
    if (index === 0 && address !== null)
      rules.equal('config-parameters', toHex(address), toHex(openCell(cell).loadBytes(32)), 'parameter 0');
  }
}
