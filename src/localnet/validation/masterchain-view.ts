import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import {
  computeValidatorGroup,
  type ValidatorConfig,
  type ValidatorGroup,
  validatorConfigOf,
} from '#formats/proofs/validators.js';
import { MASTERCHAIN, shardHex } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type ConfigDictionary, type ConfigParams, configParam } from '#formats/tlb/config/config-params.js';
import type { BurningConfig, MsgForwardPrices } from '#formats/tlb/config/limits-and-prices.js';
import type { WorkchainDescr } from '#formats/tlb/config/network.js';
import type { CatchainConfig } from '#formats/tlb/config/validators.js';
import type { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { findShard, type ShardEntry, type ShardHashes, shardDescrs } from '#formats/tlb/shard-hashes.js';
import { type McStateExtra, type McStateInfo, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { isShardHalf, type Prefix } from '#localnet/validation/routing.js';

/** A masterchain state, as seen by blocks that refer to it. */
export class McStateView {
  /** The block whose state it is. */
  readonly id: BlockId;
  readonly state: ShardStateUnsplit;
  readonly extra: McStateExtra;
  readonly info: McStateInfo;
  readonly config: ConfigView;
  #shards: readonly ShardEntry[] | null = null;

  /** @param known a view whose configuration is shared if it is the same */
  constructor(id: BlockId, state: ShardStateUnsplit, extra: McStateExtra, known: McStateView | null) {
    this.id = id;
    this.state = state;
    this.extra = extra;
    this.info = extra.info.value;
    this.config = known?.config.is(extra.config) === true ? known.config : new ConfigView(extra.config);
  }

  /** @param root a trusted state (of a zerostate or a checked block) */
  static of(id: BlockId, root: Cell, known: McStateView | null = null): McStateView {
    const state = decodeCell(ShardStateUnsplit, root);
    return new McStateView(id, state, state.custom!.value, known);
  }

  get shardHashes(): ShardHashes {
    return this.extra.shard_hashes;
  }

  /** All shards, in their order. */
  get shards(): readonly ShardEntry[] {
    this.#shards ??= [...shardDescrs(this.shardHashes)];
    return this.#shards;
  }

  /** The entry of exactly this shard; `null` if there is none. */
  shard({ workchain, shard }: Shard): ShardEntry | null {
    return this.shards.find((entry) => entry.workchain === workchain && entry.shard === shard) ?? null;
  }

  /** The end lt of the newest listed block that contains this prefix; 0 if there is none. */
  endLt({ workchain, prefix }: Prefix): bigint {
    if (workchain === MASTERCHAIN) return this.state.gen_lt;
    return findShard(this.shardHashes, workchain, prefix)?.descr.end_lt ?? 0n;
  }

  /** Seqno of the newest key block up to this one; 0 if there is none after the zerostate. */
  get lastKeySeqno(): number {
    const { after_key_block, last_key_block } = this.info;
    return after_key_block ? this.id.seqno : (last_key_block?.seq_no ?? 0);
  }

  /**
   * Catchain seqno of the next block of a shard. Halves continue the session of their parent, a merged shard has a new
   * one. `null` when there is no such shard.
   */
  nextCatchainSeqno(shard: Shard): number | null {
    if (isMasterchain(shard)) return this.info.validator_info.catchain_seqno;
    const same = this.shard(shard);
    if (same !== null) return same.descr.next_catchain_seqno;
    const around = findShard(this.shardHashes, shard.workchain, shard.shard);
    if (around === null) return null;
    const parts = this.shards.filter(
      (entry) => entry.workchain === shard.workchain && isShardHalf(entry.shard, shard.shard),
    );
    if (parts.length === 0) return around.descr.next_catchain_seqno;
    return Math.max(...parts.map(({ descr }) => descr.next_catchain_seqno)) + 1;
  }
}

/** Defaults without parameter 28, in seconds. */
const DEFAULT_LIFETIMES = { mc_catchain_lifetime: 200, shard_catchain_lifetime: 200 };

/** The parts of the configuration that the rules of blocks depend on. Each parameter is decoded once, on demand. */
export class ConfigView {
  readonly params: ConfigParams;
  readonly #read = new Map<string, unknown>();

  constructor(params: ConfigParams) {
    this.params = params;
  }

  get dictionary(): ConfigDictionary {
    return this.params.config;
  }

  /** Whether it is the configuration with this address and root. */
  is(params: ConfigParams): boolean {
    const { params: own } = this;
    return bytesEqual(own.config_addr, params.config_addr) && bytesEqual(configRootHash(own), configRootHash(params));
  }

  /** Version of the rules (parameter 8). */
  get globalVersion(): number {
    return this.#once('version', () => configParam(this.dictionary, 8)?.version ?? 0);
  }

  get globalId(): number | undefined {
    return this.#once('id', () => configParam(this.dictionary, 19));
  }

  /** Whether a capability is enabled. */
  hasCapability(bit: bigint): boolean {
    return (this.#once('capabilities', () => configParam(this.dictionary, 8)?.capabilities ?? 0n) & bit) !== 0n;
  }

  get burning(): BurningConfig | undefined {
    return this.#once('burning', () => configParam(this.dictionary, 5));
  }

  /** Target amounts of extra currencies (parameter 7). */
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

  /** Message prices outside of the masterchain. */
  get forwardPrices(): MsgForwardPrices | undefined {
    return this.#once('forwardPrices', () => configParam(this.dictionary, 25));
  }

  /**
   * Ids of the masterchain accounts that may have tick-tock transactions: the special accounts and the config contract.
   */
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

  /** Receiver of the masterchain's fees: parameter 3, or else 1. */
  get feeCollector(): Uint8Array | undefined {
    return this.#once('collector', () => configParam(this.dictionary, 3) ?? configParam(this.dictionary, 1));
  }

  /** Receiver of new extra currencies: parameter 2, or else 0. */
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

/** Hash of the root of the configuration. */
export function configRootHash({ config }: ConfigParams): Uint8Array {
  return config.root!.hash();
}
