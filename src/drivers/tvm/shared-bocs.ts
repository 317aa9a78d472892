import { tvmErrors } from '#drivers/tvm/errors.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { type ConfigDictionary, configDictionary, configParam } from '#formats/tlb/config/config-params.js';
import { toBase64, toHex } from '#kernel/bytes.js';

/** A BoC in base64, as the emulator reads it, in memory shared by all threads. */
export interface SharedBoc {
  /** Cache key. */
  readonly key: string;
  readonly text: SharedArrayBuffer;
}

/** @param root without pruned parts */
export function sharedBoc(key: string, root: Cell): SharedBoc {
  const text = toBase64(serializeBoc(root));
  const shared = new SharedArrayBuffer(text.length);
  Buffer.from(shared).write(text, 'latin1');
  return { key, text: shared };
}

/** LRU cache of shared BoCs, for cells used by many runs. */
export class SharedBocCache {
  readonly #most: number;
  /** By hash, in order of use. */
  readonly #texts = new Map<string, SharedBoc>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @param root without pruned parts */
  get(root: Cell): SharedBoc {
    const key = toHex(root.hash());
    const known = this.#texts.get(key) ?? sharedBoc(key, root);
    this.#texts.delete(key);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size < this.#most) break;
      this.#texts.delete(oldest);
    }
    this.#texts.set(key, known);
    return known;
  }
}

/**
 * Configuration parameters that the TVM setup itself reads, independent of executed instructions: version, workchains,
 * prices, limits, special and precompiled contracts. Validator sets, the bulk of a configuration, are not among them.
 */
const READ_BY_TVM: ReadonlySet<number> = new Set([8, 12, 18, 19, 20, 21, 24, 25, 31, 43, 45]);

/** In earlier versions, price instructions read the configuration dictionary, with gas that depends on its size. */
const PRICES_UNPACKED_SINCE = 6;

/** A configuration in the form that the emulator reads. */
export interface EmulatorConfig {
  /** Parameter 8; 0 when there is none. */
  readonly globalVersion: number;
  readonly whole: SharedBoc;
  /**
   * Only the parameters that the TVM setup reads: sufficient for runs that do not access the configuration, and parsed many
   * times faster. Null when the global version of the network requires the whole configuration.
   */
  readonly short: SharedBoc | null;
}

/** LRU cache of emulator configurations. */
export class EmulatorConfigCache {
  readonly #most: number;
  /** By hash, in order of use. */
  readonly #images = new Map<string, EmulatorConfig>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @param root of `Hashmap 32 ^Cell` @throws tvm/bad-config */
  get(root: Cell): EmulatorConfig {
    const key = toHex(root.hash());
    const image = this.#images.get(key) ?? makeEmulatorConfig(root, key);
    this.#images.delete(key);
    for (const oldest of this.#images.keys()) {
      if (this.#images.size < this.#most) break;
      this.#images.delete(oldest);
    }
    this.#images.set(key, image);
    return image;
  }
}

function makeEmulatorConfig(root: Cell, key: string): EmulatorConfig {
  if (root.levelMask !== 0) throw tvmErrors['bad-config']({ problem: 'parts of it are pruned' });
  try {
    const config = configDictionary(root);
    const globalVersion = configParam(config, 8)?.version ?? 0;
    const whole = sharedBoc(key, root);
    if (globalVersion < PRICES_UNPACKED_SINCE) return { globalVersion, whole, short: null };
    return { globalVersion, whole, short: sharedBoc(`short:${key}`, shortRoot(config)) };
  } catch (error) {
    throw tvmErrors['bad-config']({ problem: (error as Error).message }, error);
  }
}

function shortRoot(config: ConfigDictionary): Cell {
  let short = config;
  for (const [index] of config) if (!READ_BY_TVM.has(index)) short = short.delete(index);
  return short.root as Cell;
}
