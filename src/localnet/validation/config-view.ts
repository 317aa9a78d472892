import type { Shard } from '#formats/proofs/block-id.js';
import { validatorConfigOf } from '#formats/proofs/validator-config.js';
import { computeValidatorGroup, type ValidatorConfig, type ValidatorGroup } from '#formats/proofs/validator-set.js';
import type { CatchainConfig } from '#formats/tlb/config/catchain-config.js';
import type { BurningConfig } from '#formats/tlb/config/coin-supply.js';
import { type ConfigDictionary, type ConfigParams, configParam } from '#formats/tlb/config/config-params.js';
import type { MsgForwardPrices } from '#formats/tlb/config/prices.js';
import type { WorkchainDescr } from '#formats/tlb/config/workchain-descr.js';
import type { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { shardHex } from '#formats/tlb/shard-ident.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** How long sessions last where there is no parameter 28, seconds. */
const DEFAULT_LIFETIMES = { mc_catchain_lifetime: 200, shard_catchain_lifetime: 200 };

/** What the configuration says, as far as the rules of blocks depend on it. Each parameter is read once, when asked for. */
export class ConfigView {
  readonly params: ConfigParams;
  readonly #read = new Map<string, unknown>();

  constructor(params: ConfigParams) {
    this.params = params;
  }

  get dictionary(): ConfigDictionary {
    return this.params.config;
  }

  /** Whether it is the configuration with this address and this root. */
  is(params: ConfigParams): boolean {
    const { params: own } = this;
    return bytesEqual(own.config_addr, params.config_addr) && bytesEqual(rootHash(own), rootHash(params));
  }

  /** Version of the rules. */
  get globalVersion(): number {
    return this.#once('version', () => configParam(this.dictionary, 8)?.version ?? 0);
  }

  get globalId(): number | undefined {
    return this.#once('id', () => configParam(this.dictionary, 19));
  }

  /** Whether something is switched on, by its bit among the capabilities. */
  hasCapability(bit: bigint): boolean {
    return (this.#once('capabilities', () => configParam(this.dictionary, 8)?.capabilities ?? 0n) & bit) !== 0n;
  }

  get burning(): BurningConfig | undefined {
    return this.#once('burning', () => configParam(this.dictionary, 5));
  }

  /** Extra currencies that there are to be. */
  get toMint(): ExtraCurrencyCollection | undefined {
    return this.#once('toMint', () => configParam(this.dictionary, 7));
  }

  get workchains(): ReadonlyMap<number, WorkchainDescr> {
    return this.#once('workchains', () => new Map(configParam(this.dictionary, 12) ?? []));
  }

  /** Nanotons created with each block. */
  get blockFees(): { readonly masterchain: bigint; readonly basechain: bigint } {
    return this.#once('blockFees', () => {
      const fees = configParam(this.dictionary, 14);
      return { masterchain: fees?.masterchain_block_fee ?? 0n, basechain: fees?.basechain_block_fee ?? 0n };
    });
  }

  get catchain(): Pick<CatchainConfig, 'mc_catchain_lifetime' | 'shard_catchain_lifetime'> {
    return this.#once('catchain', () => configParam(this.dictionary, 28) ?? DEFAULT_LIFETIMES);
  }

  /** Prices of messages outside of the masterchain. */
  get forwardPrices(): MsgForwardPrices | undefined {
    return this.#once('forwardPrices', () => configParam(this.dictionary, 25));
  }

  /** Ids of the accounts of the masterchain that may get tick and tock transactions: those listed, and the configuration. */
  get special(): readonly Uint8Array[] {
    return this.#once('special', () => [
      ...[...(configParam(this.dictionary, 31) ?? [])].map(([id]) => id),
      this.params.config_addr,
    ]);
  }

  /** Hex of the ids in {@link special}. */
  isSpecial(id: Uint8Array): boolean {
    return this.#once('specialIds', () => new Set(this.special.map(toHex))).has(toHex(id));
  }

  /** Who gets the fees of the masterchain's blocks: parameter 3, or else 1. */
  get feeCollector(): Uint8Array | undefined {
    return this.#once('collector', () => configParam(this.dictionary, 3) ?? configParam(this.dictionary, 1));
  }

  /** Who gets new extra currencies: parameter 2, or else 0. */
  get minter(): Uint8Array | undefined {
    return this.#once('minter', () => configParam(this.dictionary, 2) ?? configParam(this.dictionary, 0));
  }

  get validators(): ValidatorConfig {
    return this.#once('validators', () => validatorConfigOf(this.dictionary));
  }

  validatorGroup(shard: Shard, catchain_seqno: number): ValidatorGroup {
    const key = `group ${shard.workchain} ${shardHex(shard.shard)} ${catchain_seqno}`;
    return this.#once(key, () => computeValidatorGroup(this.validators, shard, catchain_seqno));
  }

  #once<T>(name: string, read: () => T): T {
    if (!this.#read.has(name)) this.#read.set(name, read());
    return this.#read.get(name) as T;
  }
}

/** Hash of the root of the parameters. */
export function rootHash({ config }: ConfigParams): Uint8Array {
  return config.root!.hash();
}
