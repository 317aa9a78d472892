import { tvmErrors } from '#drivers/tvm/errors.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { type ConfigDictionary, configDictionary, configParam } from '#formats/tlb/config/config-params.js';
import { toBase64, toHex } from '#kernel/bytes.js';

/** Base64 of a bag of cells, as the emulator reads them, in memory that all threads see. */
export interface SharedBoc {
  /** Tells it from others. */
  readonly key: string;
  readonly text: SharedArrayBuffer;
}

/** @param root whole */
export function sharedBoc(key: string, root: Cell): SharedBoc {
  const text = toBase64(serializeBoc(root));
  const shared = new SharedArrayBuffer(text.length);
  Buffer.from(shared).write(text, 'latin1');
  return { key, text: shared };
}

/** Texts of the cells asked for last: what is the same for many runs is made once. */
export class SharedBocCache {
  readonly #most: number;
  /** By hash; a map keeps the order of insertion, and what is used is inserted anew. */
  readonly #texts = new Map<string, SharedBoc>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @param root whole */
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
 * Parameters that the machine reads by itself, not by instructions of the code: version, workchains, prices, limits,
 * special and precompiled contracts. Validator sets, most of a configuration, are not among them.
 */
const READ_BY_TVM: ReadonlySet<number> = new Set([8, 12, 18, 19, 20, 21, 24, 25, 31, 43, 45]);

/** Before, instructions for prices look into the configuration itself, which costs gas by its size. */
const PRICES_UNPACKED_SINCE = 6;

/** A configuration, ready for the emulator. */
export interface EmulatorConfig {
  /** Parameter 8; 0 when there is none. */
  readonly globalVersion: number;
  readonly whole: SharedBoc;
  /**
   * What the machine reads by itself: enough for a run that does not look at the configuration, and read many times
   * faster. Null when runs of the network's version cannot do with it.
   */
  readonly short: SharedBoc | null;
}

/** Images of the configurations used last. */
export class EmulatorConfigCache {
  readonly #most: number;
  /** By hash; a map keeps the order of insertion, and what is used is inserted anew. */
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
  if (root.levelMask !== 0) throw tvmErrors['bad-config']({ problem: 'a part of it is left out' });
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
