import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { computeValidatorGroup, validatorConfigOf } from '#formats/proofs/validators.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import {
  type ConfigDictionary,
  configDictionary,
  configParam,
  decodeConfigParam,
} from '#formats/tlb/config/config-params.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { Zerostate } from '#localnet/ledger/block-bundle.js';
import type { Genesis } from '#localnet/ledger/genesis.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { StateOverride } from '#localnet/producer/block-request.js';
import { configProblem } from '#localnet/producer/mc-state-extra.js';
import { validatorKey } from '#localnet/producer/sign-block.js';

/** Parameters that every block requires. */
const NEEDED: ReadonlySet<number> = new Set([0, 8, 12, 18, 20, 21, 22, 23, 24, 25, 28, 34]);

/**
 * Creates the override that sets a configuration parameter in the data of the config contract, as a vote would: the
 * next masterchain block is a key block with the new configuration. A dictionary in the contract that blocks ignore is replaced by the
 * configuration in force.
 *
 * @param masterchain state of the masterchain
 * @param genesis of the network
 * @param value null deletes the parameter
 * @throws localnet/no-account, localnet/not-made
 */
export function changeConfig(
  masterchain: Cell,
  genesis: Pick<Genesis, 'validatorSeed' | 'workchains'>,
  index: number,
  value: Cell | null,
): StateOverride {
  const state = decodeCell(ShardStateUnsplit, masterchain);
  const { config_addr, config: inForce } = state.custom!.value.config;
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
  const ofContract = configDictionary(slice.loadRef());
  // Blocks would ignore a change of what they ignore already.
  const dictionary = configProblem(ofContract, inForce) === null ? ofContract : inForce;
  const changed = value === null ? dictionary.delete(index) : dictionary.set(index, value);
  const problem =
    configProblem(changed, inForce) ??
    signingProblem(changed, genesis.validatorSeed) ??
    workchainProblem(changed, genesis.workchains);
  if (problem !== null) throw localnetErrors['not-made']({ wanted: wantedParam(index), problem });
  return {
    kind: 'account',
    address,
    change: { data: new Builder().storeRef(changed.root!).storeSlice(slice).endCell() },
  };
}

/** Parameters that are read in every block must decode. */
function requireForm(index: number, value: Cell | null): void {
  const wanted = wantedParam(index);
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

function wantedParam(index: number): string {
  return `parameter ${index} of the configuration`;
}

/** Why masterchain blocks could not be signed with the network's only key; null when they can. */
function signingProblem(config: ConfigDictionary, validatorSeed: Uint8Array): string | null {
  const { publicKey } = validatorKey(validatorSeed);
  try {
    const validators = validatorConfigOf(config);
    // All sessions of the masterchain have the same members.
    const group = computeValidatorGroup(validators, MASTERCHAIN_SHARD, 0);
    const own = group.validators.filter(({ public_key }) => bytesEqual(public_key, publicKey));
    if (own.length === 1 && own[0]!.weight * 3n > group.total_weight * 2n) return null;
    const first = validators.main === 1 ? 'as the first validator' : `among the first ${validators.main} validators`;
    return `no block could be signed; include the key ${toHex(publicKey)} of this network once, ${first}, with more than two thirds of their weight`;
  } catch (error) {
    if (!isTernError(error)) throw error;
    return error.message;
  }
}

/** Which workchain could not start; null when each can. */
function workchainProblem(config: ConfigDictionary, zerostates: readonly Zerostate[]): string | null {
  for (const [workchain, { active, zerostate_root_hash, zerostate_file_hash }] of configParam(config, 12) ?? []) {
    const known = zerostates.some(
      ({ id }) =>
        id.workchain === workchain &&
        bytesEqual(id.root_hash, zerostate_root_hash) &&
        bytesEqual(id.file_hash, zerostate_file_hash),
    );
    if (active && !known) {
      return `workchain ${workchain} is active, but the network has no zerostate with its hashes to start it from; leave it out, set active to false, or keep the hashes that it has`;
    }
  }
  return null;
}
