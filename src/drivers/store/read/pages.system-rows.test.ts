import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { Message } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { type IndexedChain, indexedChain } from '#test/support/indexed-chain.js';

const options = { signal: new AbortController().signal, timeoutMs: 30_000 };
const page: Page = { limit: 1000, offset: 0, sort: 'asc', cursor: null };

let chain: IndexedChain;
beforeAll(async () => {
  chain = await indexedChain('vectors/dev-chain', 294, 340, 20);
});
afterAll(() => chain?.close());

const NOBODY = Address.ofParts(-1, new Uint8Array(32));

function isSpecial({ info }: Message): boolean {
  return info.kind === 'int_msg_info' && info.src instanceof Address && info.src.equals(NOBODY);
}

function isSystem(cell: Cell): boolean {
  const { description, in_msg } = decodeCell(Transaction, cell);
  if (description.value.kind === 'trans_tick_tock') return true;
  return in_msg !== null && isSpecial(in_msg.value);
}

describe('without the machinery of the masterchain', () => {
  it.each(['asc', 'desc'] as const)('are transactions, in either order: %s', async (sort) => {
    const read = async (exclude_system: boolean) =>
      (await chain.reader.transactions({ exclude_system }, { ...page, sort }, options)).rows;
    const all = await read(false);
    const found = await read(true);
    const wanted = all.filter(({ cell }) => !isSystem(cell));
    expect(wanted.length).toBeGreaterThan(10);
    // A page of all has fewer rows of people than a page without the machinery.
    expect(found.slice(0, wanted.length).map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
    expect(found.some(({ cell }) => isSystem(cell))).toBe(false);
    expect(all.length).toBeGreaterThan(wanted.length);
  });

  it('are traces, by their first transaction', async () => {
    const all = (await chain.reader.traces({}, page, options)).rows;
    const found = (await chain.reader.traces({ exclude_system: true }, page, options)).rows;
    const { rows } = await chain.reader.transactions({}, page, options);
    const system = new Set(rows.filter(({ cell }) => isSystem(cell)).map(({ id }) => id));
    expect(system.size).toBeGreaterThan(10);
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(all.length);
    expect(found.filter(({ root }) => system.has(root))).toEqual([]);
  });

  it('are messages', async () => {
    const read = async (exclude_system: boolean) =>
      (await chain.reader.messages({ exclude_system, exclude_externals: true, end_lt: 1n << 62n }, page, options)).rows;
    const all = await read(false);
    const special = new Set<string>();
    for (const { hash, received_by } of all) {
      if (received_by === null) continue;
      const { in_msg } = decodeCell(Transaction, received_by.cell);
      if (in_msg !== null && isSpecial(in_msg.value)) special.add(toHex(hash));
    }
    const found = await read(true);
    const wanted = all.map(({ hash }) => toHex(hash)).filter((hash) => !special.has(hash));
    expect(found.slice(0, wanted.length).map(({ hash }) => toHex(hash))).toEqual(wanted);
  });
});
