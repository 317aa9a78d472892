import { Address, beginCell, type Cell, external, storeMessage } from '@ton/core';
import { expect } from 'vitest';
import { stateJson } from '#test/contract/against-chain/core-states.js';
import { ACTION_EFFECTS, SYSTEM_SENDER } from '#test/contract/against-chain/v3-action-effects.js';
import type { Json, V3Client } from '#test/contract/against-chain/v3-client.js';
import type { BlockFact, ChainFacts, TransactionFact } from '#test/contract/against-chain/v3-facts.js';
import type { ListSubject } from '#test/contract/against-chain/v3-list-suite.js';

/** What shows that a parameter acts: answers that are other ones without it, and as they must be with it. */
type Effect = (subject: ListSubject) => Promise<void>;

const ELECTOR = '-1:3333333333333333333333333333333333333333333333333333333333333333';
const CONFIG = '-1:5555555555555555555555555555555555555555555555555555555555555555';
const NOBODY = `0:${'C'.repeat(64)}`;

const blockName = ({ workchain, shard, seqno }: Json) => `${workchain}:${shard}:${seqno}`;
const names = (blocks: readonly BlockFact[]) => blocks.map(({ name }) => name);
const hashesOf = (transactions: readonly { readonly hash: string }[]) => transactions.map(({ hash }) => hash);
const base64 = (cell: Cell) => cell.toBoc().toString('base64');
const query = (values: Readonly<Record<string, string | number | boolean>>) =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

/** Masterchain seqnos of masterchain blocks with more than one block, and not only their transactions. */
function busyMcBlocks(facts: ChainFacts): readonly number[] {
  const known = busyMcBlocksOf.get(facts);
  if (known !== undefined) return known;
  const { blocks, transactions } = facts;
  const counts = new Map<number, number>();
  for (const { mc_seqno } of transactions) counts.set(mc_seqno, (counts.get(mc_seqno) ?? 0) + 1);
  const all = new Map<number, number>();
  for (const { mc_seqno } of blocks) all.set(mc_seqno, (all.get(mc_seqno) ?? 0) + 1);
  const found = [...counts].filter(([seqno, count]) => count > 20 && all.get(seqno)! > 2).map(([seqno]) => seqno);
  busyMcBlocksOf.set(facts, found);
  return found;
}

/** Each case of many asks for them. */
const busyMcBlocksOf = new WeakMap<ChainFacts, readonly number[]>();

/** A list with all of its parameters of pages: limit, offset, sort, cursor. */
function pages(
  request: (facts: ChainFacts) => string,
  read: (body: Json) => string[],
  expected: (facts: ChainFacts, way: number) => string[],
) {
  const ask = async ({ client, facts }: ListSubject, more: string) => {
    const { body, next } = await client.ask(`${request(facts)}&${more}`);
    return { rows: read(body), next };
  };
  return {
    limit: async (subject: ListSubject) => {
      const all = expected(subject.facts, -1);
      for (const limit of [1, 2, Math.min(all.length - 1, 999), 1000]) {
        const { rows, next } = await ask(subject, `limit=${limit}`);
        expect(rows).toEqual(all.slice(0, limit));
        expect(next !== null).toBe(limit < all.length);
      }
    },
    offset: async (subject: ListSubject) => {
      const all = expected(subject.facts, -1);
      expect((await ask(subject, 'offset=2&limit=1000')).rows).toEqual(all.slice(2, 1002));
      expect((await ask(subject, 'limit=1&offset=1')).rows).toEqual([all[1]]);
    },
    sort: async (subject: ListSubject) => {
      const [down, up] = [expected(subject.facts, -1), expected(subject.facts, 1)];
      expect(up).not.toEqual(down);
      for (const text of ['asc', 'ASC', 'a']) expect((await ask(subject, `limit=1000&sort=${text}`)).rows).toEqual(up);
      for (const text of ['desc', 'D']) expect((await ask(subject, `limit=1000&sort=${text}`)).rows).toEqual(down);
    },
    cursor: async (subject: ListSubject) => {
      const all = expected(subject.facts, -1);
      const found: string[] = [];
      const limit = Math.max(3, Math.ceil(all.length / 20));
      for (let cursor: string | null = ''; cursor !== null; ) {
        const behind = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { rows, next }: { rows: string[]; next: string | null } = await ask(subject, `limit=${limit}${behind}`);
        found.push(...rows);
        cursor = next;
      }
      expect(found).toEqual(all);
    },
  };
}

const byTime = (way: number) => (a: BlockFact, b: BlockFact) =>
  way * (a.gen_utime - b.gen_utime || (a.id < b.id ? -1 : 1));
const byLt = (way: number) => (a: TransactionFact, b: TransactionFact) =>
  way * Number(a.lt - b.lt) || (a.id < b.id ? -1 : 1);

const committed = ({ blocks }: ChainFacts, seqno: number, way: number) =>
  names(blocks.filter(({ mc_seqno }) => mc_seqno === seqno).sort(byTime(way)));

/** Shards are ordered as signed numbers. */
const signed = (shard: string) => BigInt.asIntN(64, BigInt(`0x${shard}`));

/** The newest blocks of all shards: those of which none indexed up to there is a child. */
function shardState({ blocks }: ChainFacts, seqno: number): string[] {
  const until = blocks.filter(({ mc_seqno, workchain }) => mc_seqno <= seqno && workchain !== -1);
  const parents = new Set(until.flatMap(({ json }) => (json.prev_blocks as Json[]).map(blockName)));
  const tops = until
    .filter(({ name }) => !parents.has(name))
    .sort((a, b) => (signed(a.shard) < signed(b.shard) ? -1 : 1));
  return [`-1:8000000000000000:${seqno}`, ...names(tops)];
}

/** What sent the message of a transaction, and what received those that it sent. */
function neighbours({ messages, transactions }: ChainFacts, hash: string) {
  const before = messages.find(({ receiver, sender }) => receiver?.hash === hash && sender !== null)?.sender ?? null;
  const after = messages.flatMap(({ sender, receiver }) =>
    sender?.hash === hash && receiver !== null ? [receiver] : [],
  );
  const all = [...(before === null ? [] : [before]), ...after].sort(byLt(1));
  return {
    before: before === null ? [] : [before.hash],
    after: hashesOf([...after].sort(byLt(1))),
    all: hashesOf(all),
    transactions,
  };
}

/** A transaction with one before and several after it. */
function middle(facts: ChainFacts): string {
  const { hash } = facts.transactions.find((one) => {
    if (one.out_msgs.length < 2) return false;
    const { before, after } = neighbours(facts, one.hash);
    return before.length === 1 && after.length > 1;
  })!;
  return hash;
}

const adjacent = (facts: ChainFacts) => `adjacentTransactions?${query({ hash: middle(facts) })}`;

async function adjacentHashes({ client, facts }: ListSubject, more: string): Promise<string[]> {
  return hashesOf((await client.ask(`${adjacent(facts)}${more}`)).body.transactions);
}

/** Accounts by balance, the greatest first. */
function richest({ chain }: ChainFacts): string[] {
  const accounts = chain.accounts.map((account) => ({
    address: account.address,
    amount: BigInt(stateJson(account).balance as string),
  }));
  const place = (address: string) => {
    const [workchain, id] = address.split(':') as [string, string];
    return `${workchain === '-1' ? 'f' : workchain}:${id}`;
  };
  accounts.sort((a, b) =>
    a.amount === b.amount ? (place(a.address) < place(b.address) ? -1 : 1) : a.amount < b.amount ? 1 : -1,
  );
  return accounts.map(({ address }) => address);
}

const { sort: _, ...pagesOfAccounts } = pages(
  () => 'topAccountsByBalance?',
  (body) => body.map(({ account }: Json) => account),
  (facts) => richest(facts),
);

async function statesOf({ client }: ListSubject, method: string, list: string, request: string): Promise<Json[]> {
  return (await client.ask(`${method}?${request}`)).body[list];
}

async function post({ client }: ListSubject, method: string, body: Json): Promise<{ status: number; body: Json }> {
  const headers = { 'content-type': 'application/json' };
  const answer = await client.send(method, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, body: await answer.json() };
}

const num = (value: string) => ({ type: 'num', value });
/** `compute_returned_stake` of the elector: the address of a wallet. */
const getMethod = { address: ELECTOR, method: 'compute_returned_stake', stack: [num('0x5')] };

async function run(subject: ListSubject, changes: Json): Promise<Json> {
  const { status, body } = await post(subject, 'runGetMethod', { ...getMethod, ...changes });
  expect([status, body.error]).toEqual([200, undefined]);
  return body;
}

const EMPTY = beginCell().endCell();
const LARGE = beginCell()
  .storeBuffer(Buffer.alloc(100, 1))
  .storeRef(beginCell().storeBuffer(Buffer.alloc(100, 2)).endCell())
  .endCell();

async function fees(subject: ListSubject, changes: Json): Promise<Json> {
  const { status, body } = await post(subject, 'estimateFee', { address: CONFIG, body: base64(EMPTY), ...changes });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.source_fees;
}

/** A wallet v3, and an order to it that is right but for its signature. */
async function unsignedOrder(client: V3Client, { chain }: ChainFacts) {
  for (let at = 0; at < chain.accounts.length; at += 100) {
    const asked = chain.accounts.slice(at, at + 100).map(({ address }) => address);
    const { body } = await client.ask(`walletStates?address=${asked.join()}`);
    const wallet = body.wallets.find(
      ({ wallet_type, status }: Json) => wallet_type?.startsWith('wallet v3') && status === 'active',
    );
    if (wallet === undefined) continue;
    const { address, wallet_id, seqno } = wallet;
    const order = beginCell()
      .storeBuffer(Buffer.alloc(64))
      .storeUint(wallet_id, 32)
      .storeUint(0xffff_ffff, 32)
      .storeUint(seqno, 32);
    return { address, body: base64(order.endCell()) };
  }
  throw new RangeError('there is no wallet v3');
}

const greater =
  (name: string, changes: Json): Effect =>
  async (subject) => {
    const [less, more] = [await fees(subject, {}), await fees(subject, changes)];
    expect(more[name]).toBeGreaterThan(less[name]);
  };

/** All rows of a list, and those that are none of the machinery of the masterchain. */
const withoutSystem =
  (method: string, list: string, isSystem: (row: Json) => boolean): Effect =>
  async ({ client }) => {
    const request = `${method}?sort=asc&x_no_address_book=true&x_no_metadata=true`;
    const all = await client.all(request, list);
    const expected = all.filter((row) => !isSystem(row));
    expect([expected.length > 0, expected.length < all.length]).toEqual([true, true]);
    expect(await client.all(`${request}&exclude_system=true`, list)).toEqual(expected);
    expect((await client.ask(`${method}?sort=asc&limit=50&exclude_system=false`)).body[list]).toEqual(all.slice(0, 50));
  };

const isSystemTransaction = ({ account, in_msg }: Json) =>
  account.startsWith('-1:') && (in_msg === null || in_msg === undefined || in_msg.source === SYSTEM_SENDER);

/** Every parameter of every method that is not one of the large lists: how to see that it acts. */
export const EFFECTS: Readonly<Record<string, Readonly<Record<string, Effect>>>> = {
  actions: ACTION_EFFECTS,
  transactions: { exclude_system: withoutSystem('transactions', 'transactions', isSystemTransaction) },
  messages: { exclude_system: withoutSystem('messages', 'messages', ({ source }) => source === SYSTEM_SENDER) },
  masterchainBlockShardState: {
    seqno: async ({ client, facts }) => {
      for (const seqno of [1, 2, 200, ...busyMcBlocks(facts).slice(0, 20)]) {
        const { body } = await client.ask(`masterchainBlockShardState?seqno=${seqno}`);
        expect(body.blocks.map(blockName), `${seqno}`).toEqual(shardState(facts, seqno));
      }
    },
  },
  masterchainBlockShards: {
    seqno: async ({ client, facts }) => {
      for (const seqno of [1, 2, 200, ...busyMcBlocks(facts).slice(0, 20)]) {
        const { body } = await client.ask(`masterchainBlockShards?seqno=${seqno}`);
        expect(body.blocks.map(blockName), `${seqno}`).toEqual(committed(facts, seqno, -1));
      }
    },
    include_mc_block: async ({ client, facts }) => {
      const seqno = busyMcBlocks(facts)[0]!;
      const { body } = await client.ask(`masterchainBlockShards?seqno=${seqno}&include_mc_block=false`);
      expect(body.blocks.map(blockName)).toEqual(committed(facts, seqno, -1).filter((name) => !name.startsWith('-1:')));
    },
    ...pages(
      (facts) => `masterchainBlockShards?seqno=${busyMcBlocks(facts)[0]}`,
      ({ blocks }) => blocks.map(blockName),
      (facts, way) => committed(facts, busyMcBlocks(facts)[0]!, way),
    ),
  },
  transactionsByMasterchainBlock: {
    seqno: async ({ client, facts }) => {
      for (const seqno of busyMcBlocks(facts).slice(0, 10)) {
        const { body } = await client.ask(`transactionsByMasterchainBlock?seqno=${seqno}&limit=1000`);
        const expected = facts.transactions.filter(({ mc_seqno }) => mc_seqno === seqno).sort(byLt(-1));
        expect(hashesOf(body.transactions), `${seqno}`).toEqual(hashesOf(expected));
      }
    },
    ...pages(
      (facts) => `transactionsByMasterchainBlock?seqno=${busyMcBlocks(facts)[0]}`,
      ({ transactions }) => hashesOf(transactions),
      (facts, way) =>
        hashesOf(facts.transactions.filter(({ mc_seqno }) => mc_seqno === busyMcBlocks(facts)[0]).sort(byLt(way))),
    ),
  },
  adjacentTransactions: {
    hash: async ({ client, facts }) => {
      let found = 0;
      for (const { hash } of facts.transactions.filter((_one, i) => i % 31 === 0)) {
        const request = `adjacentTransactions?${query({ hash })}`;
        const { all } = neighbours(facts, hash);
        if (all.length === 0) expect((await client.refused(request)).status).toBe(404);
        else expect(hashesOf((await client.ask(request)).body.transactions), hash).toEqual(all);
        found += all.length;
      }
      expect(found).toBeGreaterThan(50);
    },
    direction: async (subject) => {
      const { before, after, all } = neighbours(subject.facts, middle(subject.facts));
      expect(await adjacentHashes(subject, '&direction=in')).toEqual(before);
      expect(await adjacentHashes(subject, '&direction=out')).toEqual(after);
      expect(await adjacentHashes(subject, '&direction=both')).toEqual(all);
    },
    limit: async (subject) => {
      const { all } = neighbours(subject.facts, middle(subject.facts));
      expect(await adjacentHashes(subject, '&limit=2')).toEqual(all.slice(0, 2));
    },
    offset: async (subject) => {
      const { all } = neighbours(subject.facts, middle(subject.facts));
      expect(await adjacentHashes(subject, '&offset=1')).toEqual(all.slice(1));
    },
    sort: async (subject) => {
      const { all } = neighbours(subject.facts, middle(subject.facts));
      expect(await adjacentHashes(subject, '&sort=desc')).toEqual([...all].reverse());
    },
  },
  topAccountsByBalance: pagesOfAccounts,
  accountStates: {
    address: async (subject) => {
      const [a, b, c] = richest(subject.facts).slice(3, 6) as [string, string, string];
      const found = async (request: string) =>
        (await statesOf(subject, 'accountStates', 'accounts', request)).map(({ address }) => address);
      expect(await found(`address=${a}`)).toEqual([a]);
      expect(await found(`address=${b},${a}`)).toEqual([b, a]);
      expect(await found(`address[]=${c}&Address=${a}&address=${NOBODY}`)).toEqual([c, a]);
    },
    include_boc: async (subject) => {
      const asked = richest(subject.facts).slice(0, 50).join();
      const [whole, bare] = await Promise.all(
        ['1', '0'].map((flag) =>
          statesOf(subject, 'accountStates', 'accounts', `address=${asked}&include_boc=${flag}`),
        ),
      );
      const has = (rows: Json[]) => rows.some((row) => 'data_boc' in row || 'code_boc' in row);
      expect([has(whole!), has(bare!)]).toEqual([true, false]);
      const without = whole!.map(({ data_boc: _data, code_boc: _code, ...row }) => row);
      expect(bare).toEqual(without);
    },
    code_hash: async (subject) => {
      const asked = `address=${richest(subject.facts).slice(0, 100).join()}&include_boc=0`;
      const all = await statesOf(subject, 'accountStates', 'accounts', asked);
      const codes = [...new Set(all.map(({ code_hash }) => code_hash))]
        .filter((code) => code !== undefined)
        .slice(0, 2);
      expect(codes.length).toBe(2);
      for (const wanted of [[codes[0]], codes]) {
        const hashes = wanted.map((code) => query({ code_hash: code })).join('&');
        const rows = await statesOf(subject, 'accountStates', 'accounts', `${asked}&${hashes}`);
        expect(rows).toEqual(all.filter(({ code_hash }) => wanted.includes(code_hash)));
      }
    },
  },
  walletStates: {
    address: async (subject) => {
      const [a, b] = richest(subject.facts).slice(3, 5) as [string, string];
      const rows = await statesOf(subject, 'walletStates', 'wallets', `address=${b}&address=${a}`);
      expect(rows.map(({ address }) => address)).toEqual([b, a]);
    },
  },
  addressBook: {
    address: async ({ client, facts }) => {
      const [a, b] = richest(facts).slice(3, 5) as [string, string];
      const { body } = await client.ask(`addressBook?address=${a}&address=${b}&address=junk`);
      expect(Object.keys(body).sort()).toEqual([a, b, 'junk'].sort());
      for (const raw of [a, b]) expect(Address.parse(body[raw].user_friendly).equals(Address.parse(raw))).toBe(true);
      expect(body.junk.user_friendly).toBeNull();
    },
  },
  metadata: {
    // There are no tokens in an index yet: accounts are told from what is none, and have nothing.
    address: async ({ client }) => {
      expect((await client.ask(`metadata?address=${ELECTOR}&address=junk`)).body).toEqual({});
      expect((await client.refused('metadata?address=junk')).status).toBe(422);
    },
  },
  addressInformation: {
    address: async ({ client, facts }) => {
      for (const account of facts.chain.accounts.slice(0, 5)) {
        const { body } = await client.ask(`addressInformation?address=${account.address}`);
        expect(body.balance).toBe(stateJson(account).balance);
      }
    },
    use_v2: async ({ client }) => {
      const status = async (use_v2: boolean) =>
        (await client.ask(`addressInformation?address=${NOBODY}&use_v2=${use_v2}`)).body.status;
      expect([await status(true), await status(false)]).toEqual(['uninitialized', 'uninit']);
    },
  },
  walletInformation: {
    address: async ({ client, facts }) => {
      const { address } = await unsignedOrder(client, facts);
      const { body } = await client.ask(`walletInformation?address=${address}`);
      expect(body.wallet_type).toMatch(/^wallet v3/);
      expect((await client.refused(`walletInformation?address=${ELECTOR}`)).status).toBe(409);
    },
    use_v2: async ({ client }) => {
      const status = async (use_v2: boolean) =>
        (await client.ask(`walletInformation?address=${NOBODY}&use_v2=${use_v2}`)).body.status;
      expect([await status(true), await status(false)]).toEqual(['uninitialized', 'uninit']);
    },
  },
  decode: {
    opcodes: async ({ client }) => {
      const { body } = await client.ask('decode?opcodes=0x0f8a7ea5&opcodes=0x7362d09c,0xabcdef01');
      expect(body).toEqual({ opcodes: ['jetton_transfer', 'jetton_notify', 'unknown'], bodies: [] });
    },
    bodies: async ({ client }) => {
      const comment = beginCell().storeUint(0, 32).storeStringTail('hello').endCell();
      const { body } = await client.ask(`decode?${query({ bodies: base64(comment) })}`);
      expect(body).toEqual({ opcodes: [], bodies: [{ '@type': 'text_comment', text: 'hello' }] });
    },
  },
  message: {
    boc: async (subject) => {
      const message = beginCell()
        .store(storeMessage(external({ to: Address.parse(ELECTOR), body: EMPTY })))
        .endCell();
      // A recorded chain takes none; but it was read and sent.
      const { status, body } = await post(subject, 'message', { boc: base64(message) });
      expect(status).toBe(500);
      expect(body.error).not.toMatch(/parameter/);
    },
  },
  runGetMethod: {
    address: async (subject) => {
      expect((await run(subject, {})).exit_code).toBe(0);
      expect((await run(subject, { address: NOBODY })).exit_code).toBe(-13);
    },
    method: async (subject) => {
      expect((await run(subject, { method: 'nosuch', stack: [] })).exit_code).toBe(11);
      expect((await run(subject, { method: 'active_election_id', stack: [] })).exit_code).toBe(0);
    },
    stack: async (subject) => {
      expect((await run(subject, { stack: [] })).exit_code).toBe(2);
      expect((await run(subject, { stack: [num('1')] })).stack).toEqual([{ type: 'num', value: '0x0' }]);
    },
  },
  estimateFee: {
    address: async (subject) => {
      const all = await Promise.all([CONFIG, NOBODY].map((address) => fees(subject, { address })));
      expect(all[0]).not.toEqual(all[1]);
    },
    body: greater('in_fwd_fee', { body: base64(LARGE) }),
    init_code: greater('in_fwd_fee', { init_code: base64(LARGE) }),
    init_data: greater('in_fwd_fee', { init_data: base64(LARGE) }),
    ignore_chksig: async (subject) => {
      const order = await unsignedOrder(subject.client, subject.facts);
      const [checked, taken] = [
        await fees(subject, { ...order, ignore_chksig: false }),
        await fees(subject, { ...order, ignore_chksig: true }),
      ];
      expect(taken.gas_fee).toBeGreaterThan(0);
      expect(checked.gas_fee).not.toBe(taken.gas_fee);
    },
  },
  traces: {
    exclude_system: withoutSystem('traces', 'traces', ({ trace, transactions }) =>
      isSystemTransaction(transactions[trace.tx_hash]),
    ),
    include_actions: async ({ client }) => {
      const has = async (more: string) => 'actions' in (await client.ask(`traces?limit=1${more}`)).body.traces[0];
      expect([await has(''), await has('&include_actions=1'), await has('&include_actions=0')]).toEqual([
        false,
        true,
        false,
      ]);
    },
    supported_action_types: async ({ client }) => {
      const request = 'traces?limit=100&include_actions=true';
      const { body } = await client.ask(request);
      const actions = body.traces.flatMap((trace: Json) => trace.actions);
      expect(actions.length).toBeGreaterThan(0);
      expect((await client.ask(`${request}&supported_action_types=latest`)).body).toEqual(body);
      const types = new Set(actions.map(({ type }: Json) => type));
      const old = (await client.ask(`${request}&supported_action_types=v1`)).body;
      for (const { type } of old.traces.flatMap((trace: Json) => trace.actions)) {
        expect(types.has(type) || type === 'call_contract' || type === 'ton_transfer').toBe(true);
      }
    },
  },
};
