import type { Cell } from '#formats/cells/cell.js';
import {
  type ConfigDictionary,
  configDictionary,
  configParam,
  encodeConfigParam,
} from '#formats/tlb/config/config-params.js';
import type { GlobalVersion } from '#formats/tlb/global-version.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { forkErrors } from '#localnet/fork/errors.js';

/**
 * What a local network does by itself, and so never takes over: its config contract (0), elector (1) and minter (2) with
 * what it mints (7), its workchain with zerostate and timings of splits (12), how its one validator works (28 to 30) and
 * who that is (34).
 */
const OURS: readonly number[] = [0, 1, 2, 7, 12, 28, 29, 30, 34];

/** Where fees go that our elector is to get (3); validators before and after those of now, and their keys. */
const DROPPED: readonly number[] = [3, 32, 33, 35, 36, 37, 39];

/** Without these no block can be made. */
const NEEDED: readonly number[] = [14, 18, 20, 21, 22, 23, 24, 25];

/** Whether bounced messages have a body: the one capability that contracts see. */
const BOUNCE_BODY = 4n;

/**
 * The configuration of a fork: that of the forked network (prices, limits, names, bridges, all that contracts can see),
 * but for what the local network does by itself.
 *
 * The version of the rules and the capabilities are ours: the emulator has no newer rules, and blocks are made by these.
 *
 * @param theirs root of the forked network's configuration (`Hashmap 32 ^Cell`), whole
 * @param ours root of the configuration that the local network would have if it stood alone
 * @throws fork/bad-config
 */
export function forkConfig(theirs: Cell, ours: Cell): Cell {
  try {
    return merged(configDictionary(theirs), configDictionary(ours)).root!;
  } catch (error) {
    if (!isTernError(error) || error.code === forkErrors['bad-config'].code) throw error;
    throw forkErrors['bad-config']({ problem: error.message }, error);
  }
}

function merged(theirs: ConfigDictionary, ours: ConfigDictionary): ConfigDictionary {
  for (const index of NEEDED) {
    if (configParam(theirs, index as 14) === undefined) {
      throw forkErrors['bad-config']({ problem: `it has no parameter ${index}, which every block needs` });
    }
  }
  let config = theirs;
  for (const index of DROPPED) config = config.delete(index);
  for (const index of OURS) {
    const cell = ours.get(index);
    config = cell === undefined ? config.delete(index) : config.set(index, cell);
  }
  return config
    .set(8, encodeConfigParam(8, rules(configParam(theirs, 8), configParam(ours, 8)!)))
    .set(31, encodeConfigParam(31, specialAccounts(theirs, ours)));
}

function rules(theirs: GlobalVersion | undefined, { version, capabilities }: GlobalVersion): GlobalVersion {
  const bounced = (theirs?.capabilities ?? 0n) & BOUNCE_BODY;
  return { version, capabilities: (capabilities & ~BOUNCE_BODY) | bounced };
}

/** Theirs may be pulled, ours are there. */
function specialAccounts(theirs: ConfigDictionary, ours: ConfigDictionary) {
  let accounts = configParam(theirs, 31) ?? configParam(ours, 31)!;
  for (const [account, mark] of configParam(ours, 31) ?? []) accounts = accounts.set(account, mark);
  return accounts;
}
