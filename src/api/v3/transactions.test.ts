import { describe, expect, it } from 'vitest';
import { textOfJson } from '#api/http/endpoint.js';
import { AddressCollector } from '#api/v3/answer-type.js';
import { transactionRow, writeTransaction } from '#api/v3/transactions.js';
import type { IndexedTransaction } from '#drivers/store/read/index-types.js';
import { shapeProblems } from '#test/support/json-shape.js';
import { type Recorded, vectorTransactions } from '#test/support/recorded-v3.js';

const rows = vectorTransactions();

const written = (transaction: IndexedTransaction, profile: 'spec' | 'toncenter') =>
  JSON.parse(textOfJson(writeTransaction(transaction, { profile, addresses: new AddressCollector() }).json));

describe.each(rows)('a transaction: $name', ({ answer, transaction }) => {
  it('is written as the live service does', () => {
    expect(written(transaction, 'toncenter')).toEqual(answer);
  });

  it('is written as the published document has it', () => {
    const json = written(transaction, 'spec');
    expect(shapeProblems(transactionRow.schema, json)).toEqual([]);
    expect(withoutDecoded(json)).toEqual(withoutDecoded(asInDocument(answer)));
  });

  it('has its members in the order in which the live service writes them', () => {
    expect(Object.keys(written(transaction, 'toncenter'))).toEqual(Object.keys(answer));
  });
});

/** Opcodes as signed integers, shards as decimal numbers, no nulls. */
function asInDocument(value: Recorded, name = ''): Recorded {
  if (Array.isArray(value)) return value.map((item) => asInDocument(item));
  if (name === 'opcode') return value === null ? null : Number(value) | 0;
  if (name === 'shard') return BigInt.asIntN(64, BigInt(`0x${value}`)).toString();
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, asInDocument(member, key)]));
}

/** Decoded bodies are of another module, and the same in both. */
function withoutDecoded(value: Recorded): Recorded {
  return JSON.parse(JSON.stringify(value, (key, member) => (key === 'decoded' ? undefined : member)));
}

describe('a message within a transaction', () => {
  const { transaction } = rows.find(({ name }) => name === 'comment') as (typeof rows)[number];

  it('shows the slot of ihr_fee by the global version', () => {
    const { in_msg: before } = written({ ...transaction, global_version: 11 }, 'toncenter');
    const { in_msg: after } = written({ ...transaction, global_version: 12 }, 'toncenter');
    expect([before.ihr_fee, before.extra_flags]).toEqual([after.extra_flags, null]);
    expect([after.ihr_fee, after.extra_flags, after.ihr_disabled]).toEqual(['0', before.ihr_fee, true]);
  });
});

describe('what is collected', () => {
  it('are the account and the accounts of all messages, each once', () => {
    const addresses = new AddressCollector();
    const named = new Set<string>();
    for (const { answer, transaction } of rows) {
      writeTransaction(transaction, { profile: 'spec', addresses });
      for (const { source, destination } of [answer.in_msg ?? {}, ...answer.out_msgs]) {
        for (const account of [answer.account, source, destination]) if (account) named.add(account);
      }
    }
    expect([...addresses.byRaw.keys()].sort()).toEqual([...named].sort());
  });
});
