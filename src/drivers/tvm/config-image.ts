import { tvmErrors } from '#drivers/tvm/errors.js';
import { type SharedText, sharedText } from '#drivers/tvm/shared-text.js';
import type { Cell } from '#formats/cells/cell.js';
import { type ConfigDictionary, configDictionary, configParam } from '#formats/tlb/config/config-params.js';
import { toHex } from '#kernel/bytes/bytes.js';

/**
 * Parameters that the machine reads by itself, not by instructions of the code: version, workchains, prices, limits,
 * special and precompiled contracts. Validator sets, most of a configuration, are not among them.
 */
const READ_BY_MACHINE: ReadonlySet<number> = new Set([8, 12, 18, 19, 20, 21, 24, 25, 31, 43, 45]);

/** Before, instructions for prices look into the configuration itself, which costs gas by its size. */
const PRICES_UNPACKED_SINCE = 6;

/** A configuration, ready for the emulator. */
export interface ConfigImage {
  /** Parameter 8; 0 when there is none. */
  readonly globalVersion: number;
  readonly whole: SharedText;
  /**
   * What the machine reads by itself: enough for a run that does not look at the configuration, and read many times
   * faster. Null when runs of the network's version cannot do with it.
   */
  readonly short: SharedText | null;
}

/** Images of the configurations used last. */
export class ConfigImages {
  readonly #most: number;
  /** By hash; a map keeps the order of insertion, and what is used is inserted anew. */
  readonly #images = new Map<string, ConfigImage>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @param root of `Hashmap 32 ^Cell` @throws tvm/bad-config */
  get(root: Cell): ConfigImage {
    const key = toHex(root.hash());
    const image = this.#images.get(key) ?? makeImage(root, key);
    this.#images.delete(key);
    for (const oldest of this.#images.keys()) {
      if (this.#images.size < this.#most) break;
      this.#images.delete(oldest);
    }
    this.#images.set(key, image);
    return image;
  }
}

function makeImage(root: Cell, key: string): ConfigImage {
  if (root.levelMask !== 0) throw tvmErrors['bad-config']({ problem: 'a part of it is left out' });
  try {
    const config = configDictionary(root);
    const globalVersion = configParam(config, 8)?.version ?? 0;
    const whole = sharedText(key, root);
    if (globalVersion < PRICES_UNPACKED_SINCE) return { globalVersion, whole, short: null };
    return { globalVersion, whole, short: sharedText(`short:${key}`, shortRoot(config)) };
  } catch (error) {
    throw tvmErrors['bad-config']({ problem: (error as Error).message }, error);
  }
}

function shortRoot(config: ConfigDictionary): Cell {
  let short = config;
  for (const [index] of config) if (!READ_BY_MACHINE.has(index)) short = short.delete(index);
  return short.root as Cell;
}
