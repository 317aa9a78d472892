import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { type BlockId, blockOfRef, isMasterchain, printPosition, type Shard } from '#formats/proofs/block-id.js';
import { Block, McBlockExtra } from '#formats/tlb/block.js';
import { previousBlocks } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { addCurrency, CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import {
  type ShardDescr,
  ShardFees,
  type ShardHashes,
  shardDescrFees,
  shardDescrs,
} from '#formats/tlb/shard-hashes.js';
import { McStateExtra, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import {
  configOfAccounts,
  mcBlockExtra,
  nextMcStateExtra,
  prevKeyBlockSeqno,
} from '#localnet/producer/mc-state-extra.js';
import { nextShardBlock, registerShards, type ShardTopBlock, shardHashesOf } from '#localnet/producer/shard-config.js';
import { sessionOf } from '#localnet/producer/sign-block.js';
import {
  burnedOfFees,
  createdValue,
  globalBalanceAfter,
  importedFees,
  specialMessage,
  specialValues,
} from '#localnet/producer/value-flow.js';
import { blockIdOfName } from '#test/support/block-proof-files.js';
import type { Zerostates } from '#test/support/states-of-chain.js';
import { parseChainName, readBytes, readChain } from '#test/support/vector-files.js';

/** What is made again of each recorded masterchain block, and compared. */
export interface RulesReport {
  readonly masterchainBlocks: number;
  readonly shardBlocks: number;
  readonly keyBlocks: number;
  readonly splits: number;
  readonly merges: number;
  /** `what: block`, for all that came out another way. */
  readonly differences: readonly string[];
}

interface ReadBlock {
  readonly id: BlockId;
  readonly block: Block;
  readonly prev: readonly string[];
}

/** What is kept of each masterchain state: what later blocks refer to. */
interface Past {
  readonly extra: McStateExtra;
  readonly gen_utime: number;
}

/**
 * Makes anew, by the rules of the producer, what the masterchain blocks of a recorded chain have beside their accounts,
 * from the state before, the shard blocks that they commit, and their own time; and of each shard block what its header
 * follows from.
 *
 * @param descrs what all entries of shards are written as
 */
export function compareMasterchainRules(
  folder: string,
  zerostates: Zerostates,
  descrs: ShardDescr['kind'] = 'shard_descr_new',
): RulesReport {
  return new Comparison(folder, zerostates, descrs).run();
}

/** All entries as the software of 2019 wrote them. */
function oldDescrs(hashes: ShardHashes): ShardHashes {
  const entries = [...shardDescrs(hashes)];
  return shardHashesOf(
    entries.map(({ descr, ...shard }) => ({
      ...shard,
      descr: { ...descr, ...shardDescrFees(descr), kind: 'shard_descr' },
    })),
  );
}

class Comparison {
  readonly #blocks = new Map<string, ReadBlock>();
  readonly #past: Past[] = [];
  readonly #differences: string[] = [];
  readonly #descrs: ShardDescr['kind'];
  #state: Cell;

  constructor(folder: string, zerostates: Zerostates, descrs: ShardDescr['kind']) {
    this.#descrs = descrs;
    for (const { name, data } of readChain(folder)) {
      const named = parseChainName(name);
      if (named?.kind !== 'block') continue;
      const block = decodeCell(Block, parseBocRoot(data));
      const prev = previousBlocks(block.info.value.prev_ref.value).map(({ root_hash }) => toHex(root_hash));
      this.#blocks.set(named.rootHash, { id: blockIdOfName(named), block, prev });
    }
    this.#state = parseBocRoot(readBytes(`${folder}/${zerostates.masterchain}`));
  }

  run(): RulesReport {
    const all = [...this.#blocks.values()];
    const masterchain = all.filter(({ id }) => isMasterchain(id)).sort((a, b) => a.id.seqno - b.id.seqno);
    const shards = all.filter(({ id }) => !isMasterchain(id));
    const first = decodeCell(ShardStateUnsplit, this.#state);
    this.#past.push({ extra: first.custom!.value, gen_utime: first.gen_utime });
    for (const block of masterchain) this.#compareMasterchain(block);
    for (const block of shards) this.#compareShard(block);
    const headers = shards.map(({ block }) => block.info.value);
    return {
      masterchainBlocks: masterchain.length,
      shardBlocks: shards.length,
      keyBlocks: masterchain.filter(({ block }) => block.info.value.key_block).length,
      splits: headers.filter(({ before_split }) => before_split).length,
      merges: headers.filter(({ after_merge }) => after_merge).length,
      differences: this.#differences,
    };
  }

  #compareMasterchain({ id, block, prev }: ReadBlock): void {
    const info = block.info.value;
    const before = decodeCell(ShardStateUnsplit, this.#state);
    const extraBefore = before.custom!.value;
    this.#state = applyMerkleUpdate(this.#state, block.state_update.cell);
    const after = decodeCell(ShardStateUnsplit, this.#state);
    this.#past.push({ extra: after.custom!.value, gen_utime: info.gen_utime });
    const recorded = block.extra.value.custom!.value;
    const config = extraBefore.config.config;

    const tops = this.#topsOf(recorded.shard_hashes, id.seqno).map((top) => this.#sum(top, extraBefore.shard_hashes));
    const registered = registerShards(extraBefore.shard_hashes, tops, {
      config,
      mc_seqno: id.seqno,
      gen_utime: info.gen_utime,
    });
    this.#same(
      'shard_fees',
      id,
      encodeCell(ShardFees, registered.shard_fees),
      encodeCell(ShardFees, recorded.shard_fees),
    );

    const flow = block.value_flow.value;
    const { recovered, minted, created, fees_imported } = flow.fees.value;
    const imported = importedFees(config, registered.shard_fees);
    const own = flow.fees_collected.grams - created.grams - (fees_imported.grams - imported.burned.grams);
    const burned = flow.kind === 'value_flow_v2' ? flow.burned : NO_CURRENCY;
    const ownBurned = burned.grams - imported.burned.grams;
    this.#sameNumber('burned', id, burnedOfFees(config, own + ownBurned), ownBurned);
    this.#sameValue('created', id, createdValue(config, id), created);
    this.#sameValue('fees_imported', id, imported.fees_imported, fees_imported);
    const special = specialValues(
      config,
      { total_validator_fees: before.totals.value.total_validator_fees, global_balance: extraBefore.global_balance },
      registered.shard_fees,
    );
    this.#sameValue('recovered', id, special.recovered, recovered);
    this.#sameValue('minted', id, special.minted, minted);
    const { recover_create_msg, mint_msg } = recorded.messages.value;
    for (const [what, dest, value, inMsg] of [
      ['recover_create_msg', special.collector, special.recovered, recover_create_msg],
      ['mint_msg', special.minter, special.minted, mint_msg],
    ] as const) {
      const found = inMsg?.value;
      const message = found?.kind === 'msg_import_imm' ? found.in_msg.value.msg.cell : null;
      const made = dest === null ? null : specialMessage(dest, value, info.start_lt, info.gen_utime);
      this.#same(what, id, made, message);
    }

    const made = nextMcStateExtra({
      before: extraBefore,
      previous: { id: this.#previousId(prev[0]!, id), end_lt: before.gen_lt, gen_utime: before.gen_utime },
      registered: registered.shard_hashes,
      config: configOfAccounts(after.accounts.value, extraBefore.config),
      gen_utime: info.gen_utime,
      global_balance: globalBalanceAfter(extraBefore.global_balance, {
        created,
        minted,
        shard_fees: registered.shard_fees,
      }),
      creators: { masterchain: block.extra.value.created_by, shards: this.#creators },
    });
    const isOld = this.#descrs === 'shard_descr';
    const next = isOld ? { ...made, extra: { ...made.extra, shard_hashes: oldDescrs(made.extra.shard_hashes) } } : made;
    this.#same('McStateExtra', id, encodeCell(McStateExtra, next.extra), after.custom!.cell);
    this.#same(
      'McBlockExtra',
      id,
      encodeCell(McBlockExtra, mcBlockExtra(next, registered, recorded.messages.value)),
      block.extra.value.custom!.cell,
    );
    this.#sameText('key_block', id, String(next.key_block), String(info.key_block));
    this.#sameNumber(
      'prev_key_block_seqno',
      id,
      prevKeyBlockSeqno(extraBefore, { seqno: id.seqno - 1 }),
      info.prev_key_block_seqno,
    );
    const { catchain_seqno } = extraBefore.info.value.validator_info;
    this.#sameSession(id, block, extraBefore, catchain_seqno);
  }

  #compareShard({ id, block }: ReadBlock): void {
    const info = block.info.value;
    const past = this.#past[info.master_ref!.value.master.seq_no]!;
    const { created } = block.value_flow.value.fees.value;
    this.#sameValue('created', id, createdValue(past.extra.config.config, id), created);
    this.#sameNumber(
      'prev_key_block_seqno',
      id,
      prevKeyBlockSeqno(past.extra, { seqno: info.master_ref!.value.master.seq_no }),
      info.prev_key_block_seqno,
    );
    // A block that follows one that is not registered yet has what that one has.
    const next = nextShardBlock(past.extra.shard_hashes, id, info.gen_utime);
    const flags = ({ before_split, after_split, after_merge }: typeof info | typeof next): string =>
      JSON.stringify({ before_split, after_split, after_merge });
    if (next.seq_no === id.seqno) this.#sameText('flags', id, flags(next), flags(info));
    this.#sameSession(id, block, past.extra, next.gen_catchain_seqno);
  }

  #creators: Uint8Array[] = [];

  /** The newest blocks of shards that a masterchain block registers. */
  #topsOf(hashes: ShardHashes, mc_seqno: number): ReadBlock[] {
    this.#creators = [];
    return [...shardDescrs(hashes)]
      .filter(({ descr }) => descr.reg_mc_seqno === mc_seqno && descr.seq_no > 0)
      .map(({ descr }) => this.#blocks.get(toHex(descr.root_hash))!);
  }

  #sum(top: ReadBlock, before: ShardHashes): ShardTopBlock {
    const known = new Set(
      [...shardDescrs(before)].map(({ descr }: { readonly descr: ShardDescr }) => toHex(descr.root_hash)),
    );
    let fees_collected: CurrencyCollection = NO_CURRENCY;
    let funds_created: CurrencyCollection = NO_CURRENCY;
    for (let block: ReadBlock | undefined = top; block !== undefined; ) {
      const flow = block.block.value_flow.value;
      fees_collected = addCurrency(fees_collected, flow.fees_collected);
      funds_created = addCurrency(funds_created, flow.fees.value.created);
      this.#creators.push(block.block.extra.value.created_by);
      const [prev]: readonly string[] = block.prev;
      block = known.has(prev!) ? undefined : this.#blocks.get(prev!);
    }
    return { id: top.id, info: top.block.info.value, fees_collected, funds_created };
  }

  #previousId(rootHash: string, { workchain, shard, seqno }: BlockId): BlockId {
    const known = this.#blocks.get(rootHash);
    if (known !== undefined) return known.id;
    const [ref] = previousBlocks(this.#first().info.value.prev_ref.value);
    return blockOfRef({ workchain, shard }, { ...ref!, seq_no: seqno - 1 });
  }

  #first(): Block {
    for (const { id, block } of this.#blocks.values()) if (isMasterchain(id) && id.seqno === 1) return block;
    throw new TypeError('the chain has no masterchain block 1');
  }

  #sameSession(id: BlockId, block: Block, extra: McStateExtra, catchain_seqno: number): void {
    const { gen_catchain_seqno, gen_validator_list_hash_short } = block.info.value;
    const shard: Shard = id;
    this.#sameNumber('gen_catchain_seqno', id, catchain_seqno, gen_catchain_seqno);
    this.#sameNumber(
      'gen_validator_list_hash_short',
      id,
      sessionOf(extra, shard, catchain_seqno).hash,
      gen_validator_list_hash_short,
    );
  }

  #sameValue(what: string, id: BlockId, made: CurrencyCollection, found: CurrencyCollection): void {
    this.#same(what, id, encodeCell(CurrencyCollection, made), encodeCell(CurrencyCollection, found));
  }

  #same(what: string, id: BlockId, made: Cell | null, found: Cell | null): void {
    const hash = (cell: Cell | null): string => (cell === null ? 'none' : toHex(cell.hash(0)));
    this.#sameText(what, id, hash(made), hash(found));
  }

  #sameNumber(what: string, id: BlockId, made: number | bigint, found: number | bigint): void {
    this.#sameText(what, id, String(made), String(found));
  }

  #sameText(what: string, id: BlockId, made: string, found: string): void {
    if (made !== found) this.#differences.push(`${what}: ${printPosition(id)}`);
  }
}
