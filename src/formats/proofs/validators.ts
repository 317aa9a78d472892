import { createHash } from 'node:crypto';
import { crc32c } from '#formats/cells/digests.js';
import { isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart } from '#formats/proofs/proof-part.js';
import { type Codec, decodeCell } from '#formats/tlb/codec/codec.js';
import type { ConfigDictionary } from '#formats/tlb/config/config-params.js';
import { CatchainConfig, ValidatorSet } from '#formats/tlb/config/validators.js';

const CATCHAIN_CONFIG = 28;
const CURRENT_VALIDATORS = 34;
const CURRENT_TEMPORARY_VALIDATORS = 35;

/** The default of nodes when there is no parameter 28. */
const DEFAULT_SHARD_VALIDATORS = 7;

/**
 * The validators of a configuration: parameter 35 if present, else 34, and parameter 28.
 * @throws proofs/config-param, proofs/validator-set, proofs/malformed, proofs/incomplete
 */
export function validatorConfigOf(params: ConfigDictionary): ValidatorConfig {
  const temporary = decodeParam(params, CURRENT_TEMPORARY_VALIDATORS, ValidatorSet);
  const set = temporary ?? decodeParam(params, CURRENT_VALIDATORS, ValidatorSet);
  if (set === null) throw proofsErrors['config-param']({ param: CURRENT_VALIDATORS, problem: 'is missing' });
  const catchain = decodeParam(params, CATCHAIN_CONFIG, CatchainConfig);
  return {
    validators: validatorsOf(set),
    main: set.main,
    shuffle_mc_validators: catchain?.kind === 'catchain_config_new' && catchain.shuffle_mc_validators,
    shard_validators_num: catchain?.shard_validators_num ?? DEFAULT_SHARD_VALIDATORS,
  };
}

/** A config parameter, or `null` when the configuration does not contain it. @throws proofs/malformed, proofs/incomplete */
export function decodeParam<T>(params: ConfigDictionary, param: number, codec: Codec<T>): T | null {
  return inPart(`config[${param}]`, () => {
    const cell = params.get(param);
    return cell === undefined ? null : decodeCell(codec, cell);
  });
}

/** The members of a set in order. @throws proofs/validator-set when it is inconsistent */
export function validatorsOf(set: ValidatorSet): readonly Validator[] {
  const validators: Validator[] = [];
  let sum = 0n;
  for (const [index, descr] of set.list) {
    if (index !== validators.length) throw wrong(`it has number ${index} where ${validators.length} is next`);
    if (descr.weight === 0n) throw wrong(`number ${index} has no weight`);
    sum += descr.weight;
    const adnl_addr = descr.kind === 'validator_addr' ? descr.adnl_addr : null;
    validators.push({ public_key: descr.public_key.pubkey, weight: descr.weight, adnl_addr });
  }
  if (validators.length !== set.total) throw wrong(`it has ${validators.length} members instead of ${set.total}`);
  if (set.kind === 'validators_ext' && set.total_weight !== sum) {
    throw wrong(`its members weigh ${sum} instead of ${set.total_weight}`);
  }
  return validators;
}

function wrong(problem: string): Error {
  return proofsErrors['validator-set']({ problem });
}

/** A member of a validator set. */
export interface Validator {
  /** Ed25519 key, 32 bytes. */
  readonly public_key: Uint8Array;
  /** uint64 */
  readonly weight: bigint;
  /** ADNL address, 32 bytes; `null` in sets without addresses, where it follows from the key. */
  readonly adnl_addr: Uint8Array | null;
}

/** The validators of a configuration in order, and how validator groups are drawn from them. */
export interface ValidatorConfig {
  readonly validators: readonly Validator[];
  /** How many of them, from the first on, validate the masterchain. */
  readonly main: number;
  readonly shuffle_mc_validators: boolean;
  /** How many of them are drawn for each shard. */
  readonly shard_validators_num: number;
}

/** The validators of one session of one shard. */
export interface ValidatorGroup extends Shard {
  readonly catchain_seqno: number;
  /** In the order of the session. In shards of workchains all weights are 1. */
  readonly validators: readonly Validator[];
  readonly total_weight: bigint;
  /** `validator_list_hash_short`: CRC-32C over session and validators; block headers and signature sets name it. */
  readonly hash: number;
}

const TWO_64 = 1n << 64n;

/**
 * Computes the validators of a session from the configuration of the last key block, as all nodes do: for the
 * masterchain the first `main` ones (shuffled if configured), for a shard a random sample by weight.
 *
 * @throws proofs/validator-set when the group is empty, or weights overflow
 */
export function computeValidatorGroup(config: ValidatorConfig, shard: Shard, catchain_seqno: number): ValidatorGroup {
  const { validators, main, shuffle_mc_validators, shard_validators_num } = config;
  const masterchain = isMasterchain(shard);
  const count = Math.min(masterchain ? main : shard_validators_num, validators.length);
  if (count === 0) throw proofsErrors['validator-set']({ problem: 'it is empty' });
  const random = new SessionRandom(shard, catchain_seqno);
  let chosen: readonly Validator[];
  if (!masterchain) chosen = drawByWeight(validators, count, random);
  else if (shuffle_mc_validators) chosen = shuffle(count, random).map((index) => validators[index]!);
  else chosen = validators.slice(0, count);
  const total_weight = sumWeights(chosen);
  const hash = validatorSetHash(catchain_seqno, chosen);
  return { workchain: shard.workchain, shard: shard.shard, catchain_seqno, validators: chosen, total_weight, hash };
}

/** @throws proofs/validator-set when the sum does not fit 64 bits */
function sumWeights(validators: readonly Validator[]): bigint {
  let sum = 0n;
  for (const { weight } of validators) sum += weight;
  if (sum >= TWO_64) throw proofsErrors['validator-set']({ problem: `its total weight ${sum} does not fit 64 bits` });
  return sum;
}

/** Numbers 0 … count-1, shuffled from the head. */
function shuffle(count: number, random: SessionRandom): number[] {
  const order: number[] = [];
  for (let i = 0; i < count; i++) {
    const j = Number(random.below(BigInt(i + 1)));
    order[i] = order[j]!;
    order[j] = i;
  }
  return order;
}

/** Draws without replacement, with probabilities proportional to weight. Within a shard all weights are 1. */
function drawByWeight(validators: readonly Validator[], count: number, random: SessionRandom): Validator[] {
  const starts: bigint[] = [];
  let total = 0n;
  for (const { weight } of validators) {
    starts.push(total);
    total += weight;
  }
  if (total >= TWO_64)
    throw proofsErrors['validator-set']({ problem: `its total weight ${total} does not fit 64 bits` });
  const drawn: { readonly start: bigint; readonly weight: bigint }[] = [];
  const chosen: Validator[] = [];
  for (let i = 0; i < count; i++) {
    if (total === 0n) throw proofsErrors['validator-set']({ problem: 'too few validators have a weight' });
    let position = random.below(total);
    for (const { start, weight } of drawn) {
      if (position < start) break;
      position += weight;
    }
    const index = lastAtOrBefore(starts, position);
    const { public_key, weight, adnl_addr } = validators[index]!;
    chosen.push({ public_key, weight: 1n, adnl_addr });
    total -= weight;
    const start = starts[index]!;
    const place = drawn.findIndex((other) => other.start > start);
    drawn.splice(place < 0 ? drawn.length : place, 0, { start, weight });
  }
  return chosen;
}

/** Index of the last value that is not greater; `sorted[0]` must not be greater. */
function lastAtOrBefore(sorted: readonly bigint[], value: bigint): number {
  let low = 0;
  let high = sorted.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= value) low = middle;
    else high = middle;
  }
  return low;
}

const SET_HASH_MAGIC = 0x901660ed;

/** `validator_list_hash_short` of a session's validators. */
export function validatorSetHash(catchain_seqno: number, validators: readonly Validator[]): number {
  const bytes = new Uint8Array(12 + validators.length * 72);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, SET_HASH_MAGIC, true);
  view.setUint32(4, catchain_seqno, true);
  view.setUint32(8, validators.length, true);
  let at = 12;
  for (const { public_key, weight, adnl_addr } of validators) {
    bytes.set(public_key, at);
    view.setBigUint64(at + 32, weight, true);
    if (adnl_addr !== null) bytes.set(adnl_addr, at + 40);
    at += 72;
  }
  return crc32c(bytes);
}

/**
 * The random numbers of a session: SHA-512 of a counter of 32 bytes, shard (uint64), workchain (int32) and catchain
 * seqno (uint32), all big-endian; eight numbers for each value of the counter.
 */
class SessionRandom {
  readonly #input = new Uint8Array(48);
  #output: DataView = new DataView(new ArrayBuffer(0));
  #next = 64;

  constructor({ workchain, shard }: Shard, catchainSeqno: number) {
    const view = new DataView(this.#input.buffer);
    view.setBigUint64(32, shard);
    view.setInt32(40, workchain);
    view.setUint32(44, catchainSeqno);
  }

  /** A number from 0 to `range` - 1. */
  below(range: bigint): bigint {
    if (this.#next === 64) this.#refill();
    const value = this.#output.getBigUint64(this.#next);
    this.#next += 8;
    return (value * range) >> 64n;
  }

  #refill(): void {
    const digest = createHash('sha512').update(this.#input).digest();
    this.#output = new DataView(digest.buffer, digest.byteOffset, 64);
    this.#next = 0;
    const counter = this.#input;
    for (let i = 31; i >= 0; i--) {
      counter[i] = (counter[i]! + 1) & 0xff;
      if (counter[i] !== 0) break;
    }
  }
}
