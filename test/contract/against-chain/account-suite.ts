import { Address, type Cell as CoreCell } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { type BlockId, sameShard } from '#formats/proofs/block-id.js';
import { type AccountMoment, type ChainRecord, some } from '#test/contract/against-chain/chain-record.js';
import type { NamedTransaction } from '#test/contract/against-chain/client.js';
import { coreCell, friendly, hexToBase64, withHashes } from '#test/contract/against-chain/core.js';
import {
  expectedBalance,
  expectedExtended,
  expectedInformation,
  expectedState,
  expectedWallet,
  suspendedBy,
  viewOf,
} from '#test/contract/against-chain/expected-account.js';
import { expectedTransaction } from '#test/contract/against-chain/expected-transaction.js';
import type { Subject } from '#test/contract/against-chain/subject.js';
import type { TransactionFacts } from '#test/support/chain-facts.js';
import { FULL } from '#test/support/full-depth.js';

/** Accounts and their transactions. */
export function describeAccounts(subject: () => Subject): void {
  describe('accounts', () => {
    it('are as the states have them, now and then', async () => {
      const { client, record, highload } = subject();
      const seen = new Map<string, number>();
      for (const seqno of [...record.seqnos, null]) {
        const suspended = suspendedAt(subject(), seqno ?? record.head.id.seqno);
        for (const [i, address] of chosenAt(subject(), seqno).entries()) {
          const moment = record.account(seqno ?? record.head.id.seqno, address);
          const at = seqno === null ? {} : { seqno };
          const where = `${address} at ${seqno ?? 'the head'}`;
          const asked = i % 2 === 0 ? address : Address.parseRaw(address).toString({ bounceable: false });
          const question = { address: asked, ...at };
          const status = viewOf(moment).account === null ? 'none' : expectedState(moment);
          seen.set(status, (seen.get(status) ?? 0) + 1);

          const isSuspended = suspended.addresses.has(address) && moment.shard_utime < suspended.until;
          const echoed = i % 2 === 0 ? friendly(address) : asked;
          const methods: readonly (readonly [string, () => unknown])[] = [
            ['getAddressInformation', () => ({ ...expectedInformation(moment), suspended: isSuspended })],
            ['getExtendedAddressInformation', () => expectedExtended(moment, echoed, highload)],
            ['getWalletInformation', () => expectedWallet(moment)],
            ['getAddressBalance', () => expectedBalance(moment)],
            ['getAddressState', () => expectedState(moment)],
          ];
          for (const [n, [method, expected]] of methods.entries()) {
            // Of the past, each time the first and one of the others.
            if (!FULL && seqno !== null && n !== 0 && n !== 1 + ((i + seqno) % 4)) continue;
            expect(withHashes(await client.ask(method, question)), `${method} ${where}`).toEqual(expected());
          }
        }
      }
      expect(Object.fromEntries(seen)).toMatchObject({ active: expect.any(Number), none: expect.any(Number) });
      const { seqno } = record.head.id;
      const refusal = await client.refused('getAddressInformation', {
        address: friendly(NOBODY[0]!),
        seqno: seqno + 1,
      });
      expect(refusal.status).toBe(404);
    });
  });

  describe('transactions of accounts', () => {
    it('getTransactions and getTransactionsStd give whole histories by pages', async () => {
      const { client, record } = subject();
      let compared = 0;
      for (const [i, address] of withHistory(subject(), 18).entries()) {
        const workchain = Number(address.split(':')[0]);
        const all = lifeOf(subject(), address);
        const history = all.slice(0, HISTORY);
        const limit = [7, 16, 40][i % 3]!;
        const isStd = i % 2 === 1;
        const found: string[] = [];
        // An account that is gone has a history, but nothing leads there from the newest state.
        const isThere = record.account(record.head.id.seqno, address).account !== null;
        if (!isThere) expect(await client.ask('getTransactions', { address })).toEqual([]);
        let cursor: Record<string, unknown> = isThere ? {} : cursorOf(all[0]!);
        while (found.length < history.length) {
          const params = { address, limit, ...cursor };
          const std = isStd ? await client.ask<StdPage>('getTransactionsStd', params) : null;
          const page = std?.transactions ?? (await client.ask<Transactions>('getTransactions', params));
          // Without a cursor at hand the last one of a page is listed again.
          const fresh = isStd || found.length === 0 ? page : page.slice(1);
          expect(page.length, `${address} after ${found.length}`).toBeGreaterThan(isStd || found.length === 0 ? 0 : 1);
          const wanted = all.slice(found.length, found.length + fresh.length);
          for (const [at, transaction] of fresh.entries()) {
            found.push(nameOf(transaction));
            if (at !== 0 && at !== fresh.length - 1 && compared % 3 !== 0) continue;
            const cell = record.transaction(wanted[at]!.hash);
            const expected = expectedTransaction(cell, workchain, isStd ? 'std' : 'ext');
            expect(withHashes(transaction), `${address} ${wanted[at]!.lt}`).toEqual(expected);
            compared++;
          }
          if (std !== null) {
            expect(std['@type']).toBe('raw.transactions');
            const next = all[found.length];
            expect(std.previous_transaction_id, address).toEqual({
              '@type': 'internal.transactionId',
              lt: (next?.lt ?? 0n).toString(),
              hash: next === undefined ? hexToBase64('00'.repeat(32)) : hexToBase64(next.hash),
            });
            const { lt, hash } = std.previous_transaction_id;
            cursor = { lt, hash };
          } else {
            const { lt, hash } = page.at(-1)!.transaction_id;
            cursor = { lt, hash };
          }
        }
        expect(found.slice(0, history.length), address).toEqual(history.map(nameOfFacts));
        if (history.length === all.length) expect(found.length).toBe(all.length);
      }
      expect(compared).toBeGreaterThan(40);
    });

    it('begin, end and are as many as asked for', async () => {
      const { client } = subject();
      const addresses = withHistory(subject(), 12);
      for (const [i, address] of addresses.entries()) {
        const all = lifeOf(subject(), address);
        const from = all[Math.floor(all.length / 3)]!;
        const rest = all.slice(all.indexOf(from));
        const cursor = { ...cursorOf(from), ...(i % 2 === 0 ? {} : { hash: from.hash }) };
        const one = await client.ask<Transactions>('getTransactions', { address, limit: 1, ...cursor });
        expect(one.map(nameOf)).toEqual([nameOfFacts(from)]);
        const to = rest[Math.min(rest.length - 1, 4)]!;
        const until = await client.ask<Transactions>('getTransactions', {
          address,
          ...cursor,
          to_lt: to.lt.toString(),
          limit: 100,
        });
        expect(until.map(nameOf), address).toEqual(rest.filter(({ lt }) => lt > to.lt).map(nameOfFacts));
        const few = await client.ask<Transactions>('getTransactions', { address, ...cursorOf(all[0]!) });
        expect(few.map(nameOf)).toEqual(all.slice(0, 10).map(nameOfFacts));
        const wrong = { ...cursor, hash: hexToBase64('11'.repeat(32)) };
        expect((await client.refused('getTransactions', { address, ...wrong })).status).toBeGreaterThanOrEqual(400);
      }
      const longest = addresses.reduce((a, b) => (lifeOf(subject(), a).length >= lifeOf(subject(), b).length ? a : b));
      const many = await client.ask<Transactions>('getTransactions', { address: longest, limit: 1000 });
      expect(many.map(nameOf)).toEqual(lifeOf(subject(), longest).slice(0, 1000).map(nameOfFacts));
      for (const limit of [0, 1001, -1]) {
        expect((await client.refused('getTransactions', { address: longest, limit })).status).toBe(422);
      }
      expect(await client.ask('getTransactions', { address: NOBODY[0]! })).toEqual([]);
      expect(await client.ask('getTransactionsStd', { address: NOBODY[1]! })).toMatchObject({
        transactions: [],
        previous_transaction_id: { lt: '0' },
      });
    });

    it('tryLocateTx, tryLocateResultTx and tryLocateSourceTx find both ends of messages', async () => {
      const { client, record, named } = subject();
      const messages = sentMessages(subject(), 24);
      let crossing = 0;
      for (const [i, { source, destination, created_lt, sender, receiver }] of messages.entries()) {
        const params = { source: friendly(source), destination, created_lt: created_lt.toString() };
        const where = JSON.stringify(params);
        for (const [method, address, { hash }] of [
          ['tryLocateTx', destination, receiver],
          ['tryLocateResultTx', destination, receiver],
          ['tryLocateSourceTx', source, sender],
        ] as const) {
          const expected = expectedTransaction(record.transaction(hash), Number(address.split(':')[0]), 'ext');
          expect(withHashes(await client.ask(method, params)), `${method} ${where}`).toEqual(expected);
        }
        if (!sameShard(shardOf(sender, record), shardOf(receiver, record))) crossing++;
        if (i % 4 !== 0) continue;
        const lost = await client.refused('tryLocateTx', {
          ...params,
          created_lt: (created_lt + 1_000_003n).toString(),
        });
        expect(lost.status).toBe(404);
      }
      if (named.length > 0) expect(crossing).toBeGreaterThan(2);
    });
  });
}

type Transactions = readonly NamedTransaction[];

interface StdPage {
  readonly '@type': string;
  readonly transactions: Transactions;
  readonly previous_transaction_id: { readonly lt: string; readonly hash: string };
}

/** Transactions of one history that are read. */
const HISTORY = FULL ? Number.POSITIVE_INFINITY : 120;

const NOBODY = ['0:', '-1:', '0:'].map((workchain, i) => `${workchain}${`${3 * i + 1}7`.repeat(32).slice(0, 64)}`);

const nameOf = ({ transaction_id: { lt, hash } }: NamedTransaction): string => `${lt} ${hash}`;
const cursorOf = ({ lt, hash }: TransactionFacts) => ({ lt: lt.toString(), hash: hexToBase64(hash) });
const nameOfFacts = ({ lt, hash }: TransactionFacts): string => `${lt} ${hexToBase64(hash)}`;

/** Accounts of a moment of all kinds, those of before and after it, and nobody's. */
function chosenAt({ record, named }: Subject, seqno: number | null): string[] {
  const there = [...record.addressesAt(seqno ?? record.head.id.seqno)];
  const moment = (address: string): AccountMoment => record.account(record.head.id.seqno, address);
  const chosen = new Set([...some(there, seqno === null ? 30 : 5), NOBODY[(seqno ?? 0) % 3]!]);
  if (seqno === null) {
    for (const kind of new Set(named.map((one) => one.kind)))
      chosen.add(named.find((one) => one.kind === kind)!.address);
    const rare = there.filter((address) => expectedState(moment(address)) !== 'active');
    for (const address of some(rare, 12)) chosen.add(address);
  } else {
    // Perhaps not there yet.
    const later = [...record.histories.keys()];
    for (let i = 0; i < 2; i++) chosen.add(later[(seqno * 7 + i * 131) % later.length]!);
  }
  return [...chosen];
}

function suspendedAt({ record }: Subject, seqno: number) {
  const { config } = record.state(record.facts.masterchain[seqno]!.id).custom!.value.config;
  const parameter = config.get(44);
  return suspendedBy(parameter === undefined ? null : coreCell(parameter));
}

/** Accounts with few and with many transactions. */
function withHistory({ record }: Subject, count: number): string[] {
  const byLength = [...record.histories].sort(([, a], [, b]) => a.length - b.length).map(([address]) => address);
  return [...new Set([...some(byLength, count / 2), ...some(byLength.slice(-60), count / 2)])];
}

/** Back from the last transaction to where the account last came to be. */
function lifeOf({ record }: Subject, address: string): readonly TransactionFacts[] {
  const all = record.histories.get(address)!;
  const born = all.findIndex(({ first }) => first);
  return born < 0 ? all : all.slice(0, born + 1);
}

interface SentMessage {
  readonly source: string;
  readonly destination: string;
  readonly created_lt: bigint;
  readonly sender: TransactionFacts;
  readonly receiver: TransactionFacts;
}

function shardOf({ hash }: TransactionFacts, record: ChainRecord): BlockId {
  return record.blockOf(hash).id;
}

/** Messages between accounts: what received them, and what sent them, which is the last transaction before. */
function sentMessages({ record }: Subject, count: number): SentMessage[] {
  const found: SentMessage[] = [];
  const received = some(
    record.blocks.flatMap(({ transactions }) => transactions),
    count * 6,
  );
  for (const receiver of received) {
    const message = record.transaction(receiver.hash).refs[0]!.beginParse().loadMaybeRef();
    if (message === null || message.beginParse().loadBit()) continue;
    const slice = message.beginParse();
    slice.skip(4);
    const source = slice.loadMaybeAddress();
    const destination = slice.loadAddress();
    if (source === null) continue;
    slice.loadCoins();
    slice.loadMaybeRef();
    slice.loadCoins();
    slice.loadCoins();
    const created_lt = slice.loadUintBig(64);
    const sender = record.histories.get(source.toRawString())?.find(({ lt }) => lt < created_lt);
    // Some messages of the masterchain come from nobody: coins that are made, or returned.
    if (sender === undefined || !sends(record.transaction(sender.hash), message.hash())) continue;
    found.push({ source: source.toRawString(), destination: destination.toRawString(), created_lt, sender, receiver });
  }
  const crosses = ({ sender, receiver }: SentMessage) => !sameShard(shardOf(sender, record), shardOf(receiver, record));
  const crossing = found.filter(crosses);
  const within = found.filter((message) => !crosses(message));
  return [...some(crossing, count / 2), ...some(within, count / 2)];
}

function sends(transaction: CoreCell, hash: Buffer): boolean {
  const walk = (cell: CoreCell): boolean => cell.hash().equals(hash) || cell.refs.some(walk);
  return walk(transaction.refs[0]!);
}
