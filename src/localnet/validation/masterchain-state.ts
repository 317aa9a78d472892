import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { blockOfRef, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { validatorSetHash } from '#formats/proofs/validators.js';
import type { Account, SimpleLibs } from '#formats/tlb/account.js';
import type { ExtBlkRef } from '#formats/tlb/block-id.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import type { Dictionary } from '#formats/tlb/codec/dictionary.js';
import {
  type ConfigDictionary,
  configDictionary,
  configParam,
  decodeConfigParam,
} from '#formats/tlb/config/config-params.js';
import { addCurrency } from '#formats/tlb/currency.js';
import { ShardHashes } from '#formats/tlb/shard-hashes.js';
import {
  type Counters,
  type CreatorStats,
  type LibDescr,
  OldMcBlocksInfo,
  type ShardStateUnsplit,
} from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { type ChangedAccount, sameRoot } from '#localnet/validation/accounts.js';
import type { BlockContext, OpenBlock } from '#localnet/validation/block-context.js';
import { configRootHash, type McStateView } from '#localnet/validation/masterchain-view.js';

/** Capability bit of block creation statistics. */
const CREATE_STATS = 2n;

/** Checks the masterchain part of a state, except configuration and shards. @throws validation/broken-rule */
export function checkMasterchainState(context: BlockContext): void {
  const { rules, info, mcExtra, reference, afterView, block } = context;
  const { extra, info: now } = afterView!;
  const inBlock = encodeCell(ShardHashes, mcExtra!.shard_hashes);
  rules.equal('shard-list', inBlock.hash(), encodeCell(ShardHashes, extra.shard_hashes).hash(), 'in the state');
  if (info.key_block) {
    const { config } = mcExtra!;
    rules.equal('key-block', config!.config_addr, extra.config.config_addr, 'config_addr');
    rules.equal('key-block', configRootHash(config!), configRootHash(extra.config), 'config');
  }
  const counts = reference.config.hasCapability(CREATE_STATS) ? 1 : 0;
  rules.equal('state-header', counts, now.flags, 'flags of the masterchain state');
  rules.equal('key-block', info.key_block, now.after_key_block, 'after_key_block');
  checkPreviousBlocks(context, afterView!);
  checkSession(context, afterView!);
  const { minted, created } = block.value_flow.value.fees.value;
  const { create } = mcExtra!.shard_fees.extra;
  // Burned value stays counted.
  const expected = [reference.extra.global_balance, minted, created, create].reduce(addCurrency);
  rules.equal('global-balance', expected, extra.global_balance);
}

function checkPreviousBlocks({ rules, reference }: BlockContext, { info }: McStateView): void {
  const { id, state, info: old } = reference;
  const { seqno: seq_no, root_hash, file_hash } = id;
  const blk_ref: ExtBlkRef = { end_lt: state.gen_lt, seq_no, root_hash, file_hash };
  const expected = old.prev_blocks.set(seq_no, { key: old.after_key_block, blk_ref });
  const found = encodeCell(OldMcBlocksInfo, info.prev_blocks);
  rules.equal('prev-blocks', encodeCell(OldMcBlocksInfo, expected).hash(), found.hash());
  const key = old.after_key_block ? blk_ref : old.last_key_block;
  rules.equal('last-key-block', key !== null, info.last_key_block !== null);
  if (key === null || info.last_key_block === null) return;
  rules.equal('last-key-block', blockOfRef(MASTERCHAIN_SHARD, key), blockOfRef(MASTERCHAIN_SHARD, info.last_key_block));
  rules.equal('last-key-block', key.end_lt, info.last_key_block.end_lt, 'end_lt');
}

/** Checks the validator session of the next blocks. */
function checkSession({ rules, info, reference }: BlockContext, { info: now, config }: McStateView): void {
  const { mc_catchain_lifetime, shard_catchain_lifetime } = config.catchain;
  const passed = (lifetime: number) =>
    info.key_block || Math.floor(info.gen_utime / lifetime) > Math.floor(reference.state.gen_utime / lifetime);
  const renewed = passed(mc_catchain_lifetime);
  const old = reference.info.validator_info;
  const { validator_info } = now;
  const seqno = old.catchain_seqno + (renewed ? 1 : 0);
  rules.equal('validator-info', seqno, validator_info.catchain_seqno, 'catchain_seqno');
  const { validators } = config.validatorGroup(MASTERCHAIN_SHARD, seqno);
  const hash = validatorSetHash(0, validators);
  rules.equal('validator-info', hash, validator_info.validator_list_hash_short, 'validator_list_hash_short');
  const both = renewed && passed(shard_catchain_lifetime);
  rules.equal('validator-info', both, validator_info.nx_cc_updated, 'nx_cc_updated');
}

/** Mandatory parameters. */
const NEEDED = [18, 20, 21, 22, 23, 24, 25, 28, 34] as const;

/**
 * Checks the configuration in the state: that it is the one in the config contract, that all parameters decode, and
 * that the block is a key block exactly when it changed.
 *
 * @throws validation/broken-rule
 */
export function checkConfigUpdate(context: BlockContext, accounts: readonly ChangedAccount[]): void {
  const { rules, info, reference, afterView } = context;
  const old = reference.extra.config;
  const now = afterView!.extra.config;
  const changed = !bytesEqual(configRootHash(old), configRootHash(now));
  const moved = !bytesEqual(old.config_addr, now.config_addr);
  rules.equal('key-block', changed || moved, info.key_block, 'a change of the configuration');
  if (changed) checkParameters(context, now.config, now.config_addr);
  const touched = accounts.some(({ account }) => bytesEqual(account, now.config_addr));
  if (!changed && !moved && !touched) return;
  const held = contractConfig(context, now.config_addr);
  const place = { what: 'account', hash: now.config_addr };
  const used = changed || (held !== null && isAcceptable(context, held));
  if (used) rules.equal('config-contract', held?.hash() ?? null, configRootHash(now), place);
  if (moved) rules.equal('config-contract', configParam(old.config, 0) ?? null, now.config_addr, 'config_addr');
}

/** The first reference in the data of the config contract; `null` when there is none. */
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
    // Parameters below 0 may have any form; nodes do not check unused ones.
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

type Libraries = Dictionary<Uint8Array, LibDescr>;

/**
 * Checks that the masterchain libraries are the previous ones, with those that accounts published and without those
 * that they withdrew.
 *
 * @throws validation/broken-rule
 */
export function checkLibraries(context: BlockContext, accounts: readonly ChangedAccount[]): void {
  const { rules, after, previous, deviations } = context;
  const before = librariesOf(previous[0]!.state);
  const now = librariesOf(after);
  const expected = new Map([...before].map(([hash, descr]) => [toHex(hash), publishersOf(descr)]));
  for (const changed of accounts) applyChanges(expected, changed);
  if (
    sameRoot(before.root, now.root) &&
    accounts.every(({ before: b, after: a }) => !hasLibraries(b) && !hasLibraries(a))
  )
    return;
  const found = new Map([...now].map(([hash, descr]) => [toHex(hash), descr]));
  for (const [hash, descr] of found) {
    const place = `library ${hash}`;
    rules.equal('libraries', hash, toHex(descr.lib.hash()), place);
    const publishers = expected.get(hash);
    if (publishers === undefined) {
      deviations.push({ kind: 'library-published', block: rules.block, subject: hash });
      continue;
    }
    rules.equal('libraries', list(publishers), list(publishersOf(descr)), place);
  }
  for (const [hash, publishers] of expected)
    rules.require(publishers.size === 0 || found.has(hash), 'libraries', 'published', 'not there', `library ${hash}`);
}

function librariesOf(state: ShardStateUnsplit): Libraries {
  return state.totals.value.libraries;
}

function applyChanges(libraries: Map<string, Set<string>>, { account, before, after }: ChangedAccount): void {
  if (!hasLibraries(before) && !hasLibraries(after)) return;
  const old = publicOf(before);
  const now = publicOf(after);
  const id = toHex(account);
  for (const hash of old) {
    const publishers = libraries.get(hash);
    if (now.has(hash) || publishers === undefined) continue;
    publishers.delete(id);
    if (publishers.size === 0) libraries.delete(hash);
  }
  for (const hash of now) {
    if (old.has(hash)) continue;
    const publishers = libraries.get(hash) ?? new Set<string>();
    libraries.set(hash, publishers.add(id));
  }
}

function hasLibraries(account: Account): boolean {
  return libsOf(account)?.isEmpty === false;
}

function libsOf(account: Account): SimpleLibs | null {
  if (account.kind === 'account_none' || account.storage.state.kind !== 'account_active') return null;
  return account.storage.state.state_init.library;
}

/** Hashes, in hex, of the public libraries of an account. */
function publicOf(account: Account): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [hash, { public: isPublic, root }] of libsOf(account) ?? [])
    if (isPublic && bytesEqual(root.hash(), hash)) found.add(toHex(hash));
  return found;
}

function publishersOf({ publishers }: LibDescr): Set<string> {
  return new Set([...publishers].map(([id]) => toHex(id)));
}

function list(publishers: ReadonlySet<string>): string {
  return [...publishers].sort().join(' ');
}

const NOBODY = '00'.repeat(32);
const ONE = 1n << 32n;
const NOTHING: Counters = { last_updated: 0, total: 0n, cnt2048: 0n, cnt65536: 0n };

type Stats = Dictionary<Uint8Array, CreatorStats>;

/**
 * Checks the block creation statistics: the blocks of this bundle are added, and only entries that have decayed to zero
 * may be removed.
 *
 * @param open the shard blocks of this bundle
 * @throws validation/broken-rule
 */
export function checkBlockCreateStats(context: BlockContext, open: Iterable<OpenBlock>): void {
  const { rules, reference, afterView, extra, info } = context;
  const before = statsOf(reference);
  const now = statsOf(afterView!);
  if (now === null) return;
  const shards = new Map<string, bigint>();
  let all = 0n;
  for (const each of open) {
    const key = toHex(each.extra.created_by);
    if (key === NOBODY) continue;
    shards.set(key, (shards.get(key) ?? 0n) + 1n);
    all++;
  }
  const creator = toHex(extra.created_by);
  const made = new Map([...shards].map(([key, count]) => [key, { masterchain: 0n, shards: count }]));
  if (creator !== NOBODY) made.set(creator, { masterchain: 1n, shards: shards.get(creator) ?? 0n });
  if (creator !== NOBODY || all > 0n) made.set(NOBODY, { masterchain: creator === NOBODY ? 0n : 1n, shards: all });
  if (made.size === 0 && sameRoot(before?.root ?? null, now.root)) return;

  const old = new Map([...(before ?? [])].map(([key, value]) => [toHex(key), value]));
  const fresh = new Map([...now].map(([key, value]) => [toHex(key), value]));
  for (const key of new Set([...old.keys(), ...fresh.keys(), ...made.keys()])) {
    const from = old.get(key);
    const to = fresh.get(key);
    const added = made.get(key) ?? { masterchain: 0n, shards: 0n };
    const check = (part: 'mc_blocks' | 'shard_blocks', count: bigint): void => {
      const place = `${part} of ${key}`;
      const expected = count === 0n ? (from?.[part] ?? NOTHING) : grown(from?.[part] ?? NOTHING, count, info.gen_utime);
      const found = to?.[part] ?? NOTHING;
      if (count === 0n && found.total === 0n) {
        const rest = grown(expected, 0n, info.gen_utime);
        rules.require(rest.cnt65536 <= 1n, 'block-create-stats', 'what has not faded', 'none', place);
        return;
      }
      rules.equal('block-create-stats', expected.total, found.total, place);
      rules.equal('block-create-stats', expected.last_updated, found.last_updated, place);
      // Decayed values are rounded differently by the block's creator.
      rules.require(
        isNear(expected.cnt2048, found.cnt2048),
        'block-create-stats',
        expected.cnt2048,
        found.cnt2048,
        place,
      );
      rules.require(
        isNear(expected.cnt65536, found.cnt65536),
        'block-create-stats',
        expected.cnt65536,
        found.cnt65536,
        place,
      );
    };
    check('mc_blocks', added.masterchain);
    check('shard_blocks', added.shards);
  }
}

function statsOf({ info }: McStateView): Stats | null {
  const stats = info.block_create_stats;
  return stats === null || stats.kind !== 'block_create_stats' ? null : stats.counters;
}

/** Adds blocks: earlier counts decay by a factor of e in 2048 or 65536 seconds. */
function grown(old: Counters, count: bigint, now: number): Counters {
  const more = count * ONE;
  if (old.total === 0n) return { last_updated: now, total: count, cnt2048: more, cnt65536: more };
  const seconds = Math.max(0, now - old.last_updated);
  return {
    last_updated: now,
    total: old.total + count,
    cnt2048: faded(old.cnt2048, seconds / 2048) + more,
    cnt65536: faded(old.cnt65536, seconds / 65536) + more,
  };
}

function faded(count: bigint, lifetimes: number): bigint {
  return lifetimes === 0 ? count : BigInt(Math.round(Number(count) * Math.exp(-lifetimes)));
}

/** Two units per rounding, and the precision of a double for large counts. */
function isNear(a: bigint, b: bigint): boolean {
  const difference = a < b ? b - a : a - b;
  return difference <= 2n + (a >> 52n);
}
