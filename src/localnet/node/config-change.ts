import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { configDictionary, decodeConfigParam } from '#formats/tlb/config/config-params.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { Intervention } from '#localnet/producer/round-request.js';

/** Parameters of which a network cannot do without, even for one block. */
const NEEDED: ReadonlySet<number> = new Set([0, 8, 12, 18, 20, 21, 22, 23, 24, 25, 28, 34]);

/**
 * Puts another value under a number of the configuration, as the contract that keeps it would after a vote: the next
 * masterchain block is a key block with the new configuration.
 *
 * @param masterchain state of the masterchain
 * @param value null takes the parameter out
 * @throws localnet/no-account, localnet/not-made
 */
export function changeConfig(masterchain: Cell, index: number, value: Cell | null): Intervention {
  const state = decodeCell(ShardStateUnsplit, masterchain);
  const { config_addr } = state.custom!.value.config;
  const address = Address.ofParts(MASTERCHAIN, config_addr);
  const account = state.accounts.value.get(config_addr)?.account.value;
  const data =
    account?.kind === 'account' && account.storage.state.kind === 'account_active'
      ? account.storage.state.state_init.data
      : null;
  if (data === null || data.refCount === 0) {
    throw localnetErrors['no-account']({ account: address.toRaw(), needed: 'keeps the configuration' });
  }
  requireForm(index, value);
  const slice = openCell(data);
  const dictionary = configDictionary(slice.loadRef());
  const changed = value === null ? dictionary.delete(index) : dictionary.set(index, value);
  return {
    kind: 'account',
    address,
    change: { data: new Builder().storeRef(changed.root!).storeSlice(slice).endCell() },
  };
}

/** What everything reads on every block must be readable. */
function requireForm(index: number, value: Cell | null): void {
  const wanted = `parameter ${index} of the configuration`;
  if (value === null) {
    if (NEEDED.has(index)) throw localnetErrors['not-made']({ wanted, problem: 'no block can be made without it' });
    return;
  }
  try {
    decodeConfigParam(index, value);
  } catch (error) {
    if (!isTernError(error)) throw error;
    throw localnetErrors['not-made']({ wanted, problem: error.message }, error);
  }
}
