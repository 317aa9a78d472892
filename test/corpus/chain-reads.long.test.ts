import { beforeAll, describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type BlockId, printBlockId } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/shard-block.js';
import { outMsgQueueSize } from '#formats/proofs/shard-state.js';
import type { ShardAccount } from '#formats/tlb/account.js';
import { accountPrefix, shardContains } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { Random } from '#test/fuzz/random.js';
import {
  type BlockFacts,
  blocksOfPrefix,
  type ChainFacts,
  chainFacts,
  type TransactionFacts,
  transactionsByAccount,
  where,
} from '#test/support/chain-facts.js';
import { FULL } from '#test/support/full-depth.js';
import { type ReplayedChain, replayedChain } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

/**
 * Reads of whole chains, compared with what their files say. Header, shards and transactions are read at every block; the
 * rest at a part of them, unless TERN_FULL=1 says to leave nothing out.
 */

const ELECTOR = '-1:'.padEnd(67, '3');

interface Expected {
  /** Accounts whose whole history is walked. */
  readonly histories: number;
  /** Masterchain blocks between two that the slower reads are made at. */
  readonly stride: number;
  readonly lookUps: number;
  /** Shards that blocks of are met. */
  readonly shards: readonly string[];
  /** In so many shards at least are transactions of the walked accounts; mainnet's basechain had none at first. */
  readonly historyShards: number;
  /** Whether states keep the size of their queue. */
  readonly queueSizes: boolean;
}

const CHAINS: Readonly<Record<string, Expected>> = {
  'mainnet-genesis': {
    histories: 40,
    stride: 10,
    lookUps: 400,
    shards: ['8000000000000000', '4000000000000000', 'c000000000000000'],
    historyShards: 1,
    queueSizes: false,
  },
  'recorded-net/chain': {
    histories: 40,
    stride: 60,
    lookUps: 400,
    shards: ['8000000000000000', '4000000000000000', 'c000000000000000'],
    historyShards: 3,
    queueSizes: true,
  },
};

for (const [name, expected] of Object.entries(CHAINS)) {
  const folder = vectorPath(`collection/${name}`);
  describe(`reads of ${name} are proven and true`, { timeout: FULL ? 600_000 : 60_000 }, () => {
    let facts: ChainFacts;
    let replayed: ReplayedChain;
    let histories: ReadonlyMap<string, readonly TransactionFacts[]>;
    const random = new Random(name);

    beforeAll(() => {
      facts = chainFacts(folder);
      histories = transactionsByAccount(facts);
      replayed = replayedChain(folder);
    });

    const every = (stride: number): readonly BlockFacts[] =>
      facts.masterchain.filter(
        ({ id }) => FULL || id.seqno % stride === 1 || id.seqno === facts.masterchain.length - 1,
      );

    it('as the head goes from block to block', async () => {
      const { chain, ledger, source } = replayedChain(folder, 0);
      const basechain = busiest(histories, 0) ?? `0:${toHex(random.bytes(32))}`;
      for (const block of every(4)) {
        const waited = chain.waitForHead(block.id.seqno);
        ledger.advanceTo(block.id.seqno);
        source.headSeqno = block.id.seqno;
        expect(same((await waited).block, block.id), where(block)).toBe(true);
        const head = await chain.head();
        expect([head.gen_utime, head.end_lt], where(block)).toEqual([block.gen_utime, block.end_lt]);
        const header = await chain.header();
        expect([header.gen_utime, header.header.info.start_lt], where(block)).toEqual([
          block.gen_utime,
          block.start_lt,
        ]);
        expect(printIds((await chain.shards()).shards), where(block)).toEqual(block.tops.map(printBlockId));
        for (const account of [ELECTOR, basechain]) await expectAccount(replayed, chain, account, block);
      }
      expect(source.faults).toEqual([]);
    });

    it('at every block of the masterchain, by its number', async () => {
      const { chain, source } = replayed;
      for (const block of facts.masterchain.slice(1)) {
        const at = block.id.seqno;
        const header = await chain.header({ at });
        expect(same(header.block, block.id), where(block)).toBe(true);
        const { root } = await chain.blockData({ at });
        expect(toHex(header.state_hash), where(block)).toBe(toHex(root.ref(2).ref(1).hash(0)));
        expect(printIds((await chain.shards({ at })).shards), where(block)).toEqual(block.tops.map(printBlockId));
        await expectTransactions(chain, block);
      }
      expect(source.faults).toEqual([]);
    });

    it('at every block of every shard', async () => {
      const { chain, source } = replayed;
      const shards = new Set<string>();
      for (const block of facts.shards) {
        shards.add(block.id.shard.toString(16));
        expect((await chain.header({ at: block.id })).gen_utime, where(block)).toBe(block.gen_utime);
        await expectTransactions(chain, block);
        if (!FULL && !random.chance(1, 5)) continue;
        expect(toHex((await chain.blockData({ at: block.id })).data), where(block)).toBe(toHex(block.bytes));
        const proof = await chain.shardBlockProof({ at: block.id });
        expect(proof.links.at(-1)!.id.seqno, where(block)).toBe(block.id.seqno);
      }
      expect([...shards]).toEqual(expect.arrayContaining([...expected.shards]));
      expect(source.faults).toEqual([]);
    });

    it('when blocks are looked up by seqno, lt and time', async () => {
      const { chain, source } = replayed;
      const prefixes = [1n << 62n, 3n << 62n, 0x1234567812345678n, 0xfedcba9876543210n];
      const chains = [
        blocksOfPrefix(facts, -1, 1n << 63n),
        ...prefixes.map((prefix) => blocksOfPrefix(facts, 0, prefix)),
      ];
      for (let i = 0; i < expected.lookUps * (FULL ? 10 : 1); i++) {
        const which = i % chains.length;
        const blocks = chains[which]!;
        const shard = which === 0 ? { workchain: -1, shard: 1n << 63n } : { workchain: 0, shard: prefixes[which - 1]! };
        const target = random.pick(blocks);
        for (const query of queriesFor(shard, target, random)) {
          const found = await chain.findBlock(query);
          const wanted = scan(blocks, query)!;
          expect(printBlockId(found.block), printQuery(query)).toBe(printBlockId(wanted.id));
          expect(found.gen_utime).toBe(wanted.gen_utime);
        }
      }
      const last = chains[0]!.at(-1)!;
      for (const blocks of chains) {
        const { workchain } = blocks[0]!.id;
        const top = blocks.at(-1)!;
        const shard = { workchain, shard: top.id.shard };
        await expectNotFound(() => chain.findBlock({ ...shard, by: 'seqno', seqno: top.id.seqno + 1 }));
        await expectNotFound(() => chain.findBlock({ ...shard, by: 'lt', lt: last.end_lt + 1n }));
        await expectNotFound(() => chain.findBlock({ ...shard, by: 'utime', utime: last.gen_utime + 1 }));
      }
      await expectNotFound(() => chain.findBlock({ workchain: 5, shard: 1n << 63n, by: 'seqno', seqno: 1 }));
      expect(source.faults).toEqual([]);
    });

    it('when transactions of accounts are walked to the first, across splits and merges', async () => {
      const { chain, source } = replayed;
      const accounts = [ELECTOR, ...sample(histories, expected.histories, random)];
      const met = new Set<bigint>();
      for (const account of accounts) {
        const address = addressOf(account);
        const walked: TransactionFacts[] = [];
        for await (const { lt, hash, transaction } of chain.walkTransactions(address)) {
          expect(transaction.lt).toBe(lt);
          walked.push({ account, lt, hash: toHex(hash), first: transaction.prev_trans_lt === 0n });
        }
        const history = histories.get(account)!;
        const life = lastLife(history, stateAt(replayed, facts.masterchain.at(-1)!, address) !== null);
        expect(walked.length, account).toBe(life.length);
        expect(walked, account).toEqual(life);
        for (const { lt, hash } of FULL ? history : history.slice(0, 3)) {
          const read = await chain.transaction(address, lt);
          expect(toHex(read.cell.hash()), `${account} ${lt}`).toBe(hash);
          met.add(read.block.shard);
        }
        await expectNotFound(() => chain.transaction(address, history.at(-1)!.lt - 1n), 'chain/transaction-not-found');
      }
      expect(met.size).toBeGreaterThanOrEqual(expected.historyShards);
      expect(source.faults).toEqual([]);
    });

    it('of accounts, configuration, libraries, queues, proofs and signatures at blocks in between', async () => {
      const { chain, source, ledger } = replayed;
      const accounts = [...histories.keys()];
      for (const block of every(expected.stride)) {
        const at = block.id.seqno;
        for (let i = 0; i < 10; i++) await expectAccount(replayed, chain, random.pick(accounts), block);
        await expectAccount(replayed, chain, `0:${toHex(random.bytes(32))}`, block);
        const state = stateAfter(replayed, block.id);
        const { config } = state.custom!.value;
        const read = await chain.config({ at });
        expect(toHex(read.root.hash()), where(block)).toBe(toHex(config.config.root!.hash()));
        const numbers = [-71, 0, 8, 12, 17, 34, 35, 44, 100];
        const { params } = await chain.configParams(numbers, { at });
        for (const number of numbers)
          expect(params.get(number)?.hash(), String(number)).toEqual(config.config.get(number)?.hash());
        const { libraries } = state.totals.value;
        const hashes = [...libraries].map(([hash]) => hash);
        const found = await chain.libraries([random.bytes(32), ...hashes], { at });
        expect([...found.libraries.keys()].sort(), where(block)).toEqual(hashes.map(toHex).sort());
        await expectProofs(replayed, facts, block, random);
        if (!expected.queueSizes) continue;
        const { queues } = await chain.queueSizes({ at });
        for (const { block: id, size } of queues) {
          const wanted = outMsgQueueSize({
            id,
            header: null,
            root: ledger.state(ledger.block(id)!),
            state: stateAfter(replayed, id),
          });
          expect(size, printBlockId(id)).toBe(wanted);
        }
      }
      expect(source.faults).toEqual([]);
    });
  });
}

type Chain = ReplayedChain['chain'];

function same(a: BlockId, b: BlockId): boolean {
  return printBlockId(a) === printBlockId(b);
}

function printIds(shards: readonly { readonly block: BlockId }[]): string[] {
  return shards.map(({ block }) => printBlockId(block));
}

function addressOf(raw: string): Address {
  const [workchain, hash] = raw.split(':') as [string, string];
  return Address.ofParts(Number(workchain), fromHex(hash)!);
}

function stateAfter({ ledger }: ReplayedChain, id: BlockId): ShardStateUnsplit {
  const root = id.seqno === 0 ? parseBocRoot(ledger.zerostateFile(id)!) : ledger.state(ledger.block(id)!);
  return decodeCell(ShardStateUnsplit, root);
}

/** The account in the state of its shard's newest block, as a walk over the state finds it. */
async function expectAccount(replayed: ReplayedChain, chain: Chain, raw: string, block: BlockFacts): Promise<void> {
  const address = addressOf(raw);
  const { id } = block;
  const message = `${raw} at ${id.seqno}`;
  const top = topOf(block, address);
  const state = top === undefined ? null : stateAfter(replayed, top);
  const wanted = stateAt(replayed, block, address);
  for (const pruned of [false, true]) {
    const read = await chain.account(address, { at: id, pruned });
    expect(read.cell === null ? null : toHex(read.cell.hash(0)), message).toBe(
      wanted === null ? null : toHex(wanted.account.cell.hash(0)),
    );
    const last = read.last_transaction;
    expect(last?.lt ?? 0n, message).toBe(wanted?.last_trans_lt ?? 0n);
    if (last !== null) expect(toHex(last.hash), message).toBe(toHex(wanted!.last_trans_hash));
    expect(read.shard_block?.seqno, message).toBe(top?.seqno);
    if (state !== null) expect(read.shard_utime, message).toBe(state.gen_utime);
  }
}

function stateAt(replayed: ReplayedChain, block: BlockFacts, address: Address): ShardAccount | null {
  const top = topOf(block, address);
  return (top && stateAfter(replayed, top).accounts.value.get(address.hash)) ?? null;
}

/** The transactions since an account last came to be; none when there is no account any more. */
function lastLife(history: readonly TransactionFacts[], exists: boolean): readonly TransactionFacts[] {
  return exists ? history.slice(0, history.findIndex(({ first }) => first) + 1) : [];
}

function topOf({ id, tops }: BlockFacts, address: Address): BlockId | undefined {
  if (address.workchain === -1) return id;
  const prefix = accountPrefix(address.hash);
  return tops.find(({ workchain, shard }) => workchain === address.workchain && shardContains(shard, prefix));
}

async function expectTransactions(chain: Chain, block: BlockFacts): Promise<void> {
  const at = block.id;
  const { transactions } = await chain.allBlockTransactions({ at });
  const found = transactions.map(({ account, lt, cell }) => ({
    account: `${at.workchain}:${toHex(account)}`,
    lt,
    hash: toHex(cell.hash()),
  }));
  expect(found, where(block)).toEqual(block.transactions.map(({ account, lt, hash }) => ({ account, lt, hash })));
  const reverse = await chain.transactionIds({ at, reverse: true, count: 7 });
  expect(
    reverse.transactions.map(({ hash }) => toHex(hash)),
    where(block),
  ).toEqual(
    block.transactions
      .toReversed()
      .slice(0, 7)
      .map(({ hash }) => hash),
  );
  const [, after] = block.transactions;
  if (after === undefined) return;
  const rest = await chain.blockTransactions({
    at,
    count: 2,
    after: { account: addressOf(after.account).hash, lt: after.lt },
  });
  expect(
    rest.transactions.map(({ hash }) => toHex(hash)),
    where(block),
  ).toEqual(block.transactions.slice(2, 4).map(({ hash }) => hash));
}

function queriesFor(
  shard: { readonly workchain: number; readonly shard: bigint },
  { id, start_lt, end_lt, gen_utime }: BlockFacts,
  random: Random,
): BlockQuery[] {
  return [
    { ...shard, by: 'seqno', seqno: id.seqno },
    { ...shard, by: 'lt', lt: random.pick([start_lt, start_lt + 1n, end_lt - 1n, end_lt]) },
    { ...shard, by: 'utime', utime: random.pick([gen_utime - 1, gen_utime]) },
  ];
}

/** The first block that fits. */
function scan(blocks: readonly BlockFacts[], query: BlockQuery): BlockFacts | undefined {
  if (query.by === 'seqno') return blocks.find(({ id }) => id.seqno === query.seqno);
  if (query.by === 'lt') return blocks.find(({ end_lt }) => end_lt >= query.lt);
  return blocks.find(({ gen_utime }) => gen_utime >= query.utime);
}

function printQuery(query: BlockQuery): string {
  return JSON.stringify(query, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}

async function expectNotFound(read: () => Promise<unknown>, code = 'chain/block-not-found'): Promise<void> {
  try {
    await read();
  } catch (error) {
    expect(isTernError(error) ? error.code : error).toBe(code);
    return;
  }
  expect.fail(`expected ${code}`);
}

/** Proofs from and to some other blocks, and the signatures as the archive has them. */
async function expectProofs({ chain }: ReplayedChain, facts: ChainFacts, block: BlockFacts, random: Random) {
  const other = random.pick(facts.masterchain.slice(1)).id;
  for (const own_state of [false, true]) {
    const { links } = await chain.blockProof(other.seqno, block.id, { own_state });
    expect(links.length === 0 ? other.seqno : links.at(-1)!.to.seqno, where(block)).toBe(block.id.seqno);
  }
  const { signatures } = await chain.blockSignatures({ at: block.id });
  const wanted = block.signatures!;
  expect({ ...signatures, signatures: [] }, where(block)).toEqual({ ...wanted, signatures: [] });
  const print = ({ node_id_short, signature }: (typeof wanted.signatures)[number]) =>
    `${toHex(node_id_short)} ${toHex(signature)}`;
  expect(signatures.signatures.map(print).sort()).toEqual(wanted.signatures.map(print).sort());
}

/** The account of a workchain with the most transactions. */
function busiest(histories: ReadonlyMap<string, readonly TransactionFacts[]>, workchain: number): string | null {
  let best: string | null = null;
  for (const [account, { length }] of histories) {
    if (account.startsWith(`${workchain}:`) && length > (histories.get(best ?? '')?.length ?? 0)) best = account;
  }
  return best;
}

/** The busiest accounts of both halves of the basechain, and others by chance. */
function sample(histories: ReadonlyMap<string, readonly TransactionFacts[]>, count: number, random: Random): string[] {
  if (FULL) return [...histories.keys()];
  const accounts = [...histories.keys()].filter((account) => account.startsWith('0:'));
  const half = (digit: RegExp) =>
    accounts
      .filter((account) => digit.test(account[2]!))
      .sort((a, b) => histories.get(b)!.length - histories.get(a)!.length)
      .slice(0, count / 4);
  const chosen = new Set([...half(/[0-7]/), ...half(/[8-f]/)]);
  while (chosen.size < Math.min(count, accounts.length)) chosen.add(random.pick(accounts));
  return [...chosen];
}
