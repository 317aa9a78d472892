import { setTimeout as delay } from 'node:timers/promises';
import { toBase64, toHex } from '#kernel/bytes.js';
import type { BlockFacts } from '#test/support/chain-facts.js';
import { tonlibId } from '../block-checks.js';
import type { ChainTruth } from '../chain-truth.js';
import { expectSame } from '../same-answer.js';
import type { JsonObject, TonlibSession } from '../tonlib-session.js';
import { ask } from './tonlib-wallet.js';

const POLL_MS = 100;
const PAGE = 100;
const MASTERCHAIN = { workchain: -1, shard: '-9223372036854775808' };

/** What was read of a block while the chain went on. */
interface SeenBlock {
  readonly header: JsonObject;
  /** `lt hash` of each, as listed. */
  readonly transactions: readonly string[];
  /** Of a masterchain block. */
  readonly shards: readonly JsonObject[];
}

/** Follows a chain through tonlib, block after block of all shards, as indexers do. */
export class LiveBlocks {
  readonly #tonlib: TonlibSession;
  readonly #seen = new Map<string, SeenBlock>();
  /** Blocks that were there before. */
  readonly #old = new Set<string>();
  #first = 0;
  #last = 0;
  #until = Number.POSITIVE_INFINITY;

  constructor(tonlib: TonlibSession) {
    this.#tonlib = tonlib;
  }

  /** Follows from the head on, until told to stop. */
  async follow(): Promise<void> {
    const head = await ask(this.#tonlib, { '@type': 'sync' });
    for (const id of await this.#shards(head)) this.#old.add(nameOf(id));
    this.#first = (head.seqno as number) + 1;
    for (let next = this.#first; next <= this.#until; ) {
      const { seqno } = await ask(this.#tonlib, { '@type': 'sync' });
      for (; next <= Math.min(seqno as number, this.#until); next++) {
        await this.#read(next);
        this.#last = next;
      }
      if (next <= this.#until) await delay(POLL_MS);
    }
  }

  /** Lets it end after this masterchain block. */
  stopAt(seqno: number): void {
    this.#until = seqno;
  }

  /** Compares what was read with the files. @returns how much it was */
  compare({ masterchain, shards }: ChainTruth): string {
    const expected = masterchain.filter(({ id }) => id.seqno >= this.#first && id.seqno <= this.#last);
    const before = new Set<string>();
    const earlier = masterchain.find(({ id }) => id.seqno === this.#first - 1);
    for (const top of earlier?.tops ?? []) before.add(toBase64(top.root_hash));
    const since = expected[0]!;
    const reached = new Set(shardsSince(shards, since, expected.at(-1)!, before));
    const wanted = [...expected, ...reached];
    expectSame(wanted.map(nameOfFacts).sort(), [...this.#seen.keys()].sort(), 'the blocks that were followed');
    let transactions = 0;
    for (const block of wanted) {
      const seen = this.#seen.get(nameOfFacts(block))!;
      const { start_lt, end_lt, gen_utime, is_key_block } = seen.header;
      const name = `block ${block.id.workchain},${block.id.seqno}`;
      expectSame(
        [`${block.start_lt}`, `${block.end_lt}`, block.gen_utime, block.key_block],
        [start_lt!, end_lt!, gen_utime!, is_key_block!],
        `header of ${name}`,
      );
      const listed = block.transactions.map(({ lt, hash }) => `${lt} ${Buffer.from(hash, 'hex').toString('base64')}`);
      expectSame(listed, seen.transactions, `transactions of ${name}`);
      expectSame(block.tops.map(tonlibId), seen.shards, `shards of ${name}`);
      transactions += listed.length;
    }
    const of = new Set(wanted.map(({ id }) => `${id.workchain}:${id.shard}`)).size - 1;
    return `${expected.length} masterchain blocks and ${reached.size} of ${of} shards, ${transactions} transactions`;
  }

  async #read(seqno: number): Promise<void> {
    const id = await ask(this.#tonlib, {
      '@type': 'blocks.lookupBlock',
      ...{ mode: 1, id: { '@type': 'ton.blockId', ...MASTERCHAIN, seqno }, lt: '0', utime: 0 },
    });
    const shards = await this.#shards(id);
    await this.#keep(id, shards);
    const waiting = [...shards];
    for (let block = waiting.pop(); block !== undefined; block = waiting.pop()) {
      if (block.seqno === 0 || this.#old.has(nameOf(block)) || this.#seen.has(nameOf(block))) continue;
      const header = await this.#keep(block, []);
      waiting.push(...(header.prev_blocks as readonly JsonObject[]));
    }
  }

  async #keep(id: JsonObject, shards: readonly JsonObject[]): Promise<JsonObject> {
    const header = await ask(this.#tonlib, { '@type': 'blocks.getBlockHeader', id });
    const transactions: string[] = [];
    let after: JsonObject = { '@type': 'blocks.accountTransactionId', account: toBase64(new Uint8Array(32)), lt: '0' };
    for (let mode = 7, more = true; more; mode = 7 + 128) {
      const page = await ask(this.#tonlib, { '@type': 'blocks.getTransactions', id, mode, count: PAGE, after });
      const list = page.transactions as readonly JsonObject[];
      transactions.push(...list.map(({ lt, hash }) => `${lt} ${hash}`));
      more = page.incomplete as boolean;
      const last = list.at(-1);
      if (last !== undefined) after = { ...after, account: last.account!, lt: last.lt! };
    }
    this.#seen.set(nameOf(id), { header, transactions, shards });
    return header;
  }

  async #shards(id: JsonObject): Promise<readonly JsonObject[]> {
    return (await ask(this.#tonlib, { '@type': 'blocks.getShards', id })).shards as readonly JsonObject[];
  }
}

function nameOf({ root_hash }: JsonObject): string {
  return root_hash as string;
}

function nameOfFacts({ id }: BlockFacts): string {
  return toBase64(id.root_hash);
}

/** Blocks of shards that a masterchain block commits, and all before, but for those that an earlier one commits. */
function* shardsSince(
  shards: readonly BlockFacts[],
  first: BlockFacts,
  last: BlockFacts,
  before: ReadonlySet<string>,
): Generator<BlockFacts> {
  // Blocks come in the order in which masterchain blocks commit them.
  const at = (hash: Uint8Array): number => shards.findIndex(({ id }) => toHex(id.root_hash) === toHex(hash));
  const newest = Math.max(...last.tops.map((top) => at(top.root_hash)));
  const old = Math.max(-1, ...shards.map((each, i) => (before.has(nameOfFacts(each)) ? i : -1)));
  if (newest < 0) throw new Error(`block ${first.id.seqno} and those that follow commit no block of a shard`);
  for (let i = old + 1; i <= newest; i++) yield shards[i]!;
}
