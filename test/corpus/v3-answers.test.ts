import { beforeAll, describe, expect, it } from 'vitest';
import { textOfJson } from '#api/http/endpoint.js';
import { AddressCollector, writeAnswerJson } from '#api/v3/answer-type.js';
import { MessageAnswer, MessagesOfPage } from '#api/v3/messages.js';
import { indexedTraceRow } from '#api/v3/traces.js';
import { writeTransaction } from '#api/v3/transactions.js';
import type { IndexedMessage, IndexedTransaction } from '#drivers/store/read/index-types.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';
import {
  type ChainTransaction,
  chainTransactions,
  indexedTransaction,
  RECORDED_GLOBAL_VERSION,
  type Recorded,
  readV3Recordings,
} from '#test/support/recorded-v3.js';
import { vectorPath } from '#test/support/vector-files.js';

const recordings = vectorPath('collection/recorded-net/v3-recordings.jsonl.br');
const chain = vectorPath('collection/recorded-net/chain');

const newPage = () => ({ profile: 'toncenter' as const, addresses: new AddressCollector() });
const bytes = (text: string) => fromBase64(text) as Uint8Array;

/**
 * Contracts of the masterchain pay nothing for gas. The reference then shows the gas that was used as fees, and none used; the
 * cells say it the other way round.
 */
function corrected(expected: Recorded): Recorded {
  const { description } = expected;
  if (description.compute_ph?.gas_used !== '0') return expected;
  const { gas_fees: gas_used, gas_used: gas_fees, ...others } = description.compute_ph;
  return { ...expected, description: { ...description, compute_ph: { ...others, gas_used, gas_fees } } };
}

describe('what the reference service of API v3 answers', () => {
  let byHash: ReadonlyMap<string, ChainTransaction>;
  let answers: Recorded[];

  beforeAll(() => {
    byHash = chainTransactions(chain);
    answers = readV3Recordings(recordings)
      .filter(({ status, response }) => status === 200 && typeof response === 'object' && response !== null)
      .map(({ response }) => response);
  });

  /** A transaction of an answer, as the index would give it. */
  function indexed(expected: Recorded): IndexedTransaction {
    return indexedTransaction(expected, byHash.get(expected.hash) as ChainTransaction);
  }

  it('of transactions is in the cells of the same transactions', () => {
    let count = 0;
    for (const { transactions } of answers) {
      if (!Array.isArray(transactions)) continue;
      for (const expected of transactions) {
        expect(JSON.parse(textOfJson(writeTransaction(indexed(expected), newPage()).json)), expected.hash).toEqual(
          corrected(expected),
        );
        count++;
      }
    }
    expect(count).toBeGreaterThan(500);
  });

  it('of accounts to show is the accounts, sources and destinations of transactions', () => {
    let count = 0;
    for (const { transactions, address_book } of answers) {
      if (!Array.isArray(transactions) || Object.keys(address_book).length === 0) continue;
      const page = newPage();
      for (const expected of transactions) writeTransaction(indexed(expected), page);
      expect([...page.addresses.byRaw.keys()].sort()).toEqual(Object.keys(address_book).sort());
      count++;
    }
    expect(count).toBeGreaterThan(50);
  });

  it('of traces is in the cells of their transactions', () => {
    let count = 0;
    for (const { traces } of answers) {
      for (const expected of traces ?? []) {
        const all = expected.transactions_order.map((hash: string) => indexed(expected.transactions[hash]));
        const { trace_info: info } = expected;
        const trace = {
          root: 0n,
          trace_id: bytes(expected.trace_id),
          mc_seqno_start: Number(expected.mc_seqno_start),
          mc_seqno_end: Number(expected.mc_seqno_end),
          start_lt: BigInt(expected.start_lt),
          start_utime: expected.start_utime,
          end_lt: BigInt(expected.end_lt),
          end_utime: expected.end_utime,
          nodes: info.transactions,
          edges: info.messages,
          pending_edges: info.pending_messages,
          state: info.trace_state,
          classification_state: 'unclassified' as const,
        };
        const row = { trace, transactions: all, actions: expected.actions === undefined ? null : [] };
        const given = JSON.parse([...indexedTraceRow.pieces(row, newPage())].map(textOfJson).join(''));
        // Actions are compared with the classifier.
        const actions = expected.actions === undefined ? {} : { actions: [] };
        const transactions = Object.fromEntries(
          Object.entries(expected.transactions).map(([hash, one]) => [hash, corrected(one)]),
        );
        expect(given, expected.trace_id).toEqual({ ...expected, ...actions, transactions });
        count++;
      }
    }
    expect(count).toBeGreaterThan(100);
  });

  it('of messages is in the cells of both their transactions', () => {
    let count = 0;
    for (const { messages } of answers) {
      const page = newPage();
      const sources = new MessagesOfPage();
      for (const expected of messages ?? []) {
        expect(
          JSON.parse(writeAnswerJson(MessageAnswer, sources.source(indexedMessage(expected)), page)),
          expected.hash,
        ).toEqual(expected);
        count++;
      }
    }
    expect(count).toBeGreaterThan(300);
  });

  let ids = 0n;
  /** A message of an answer, as the index would give it. */
  function indexedMessage(expected: Recorded): IndexedMessage {
    const cells = (hash: string | undefined) =>
      hash === undefined ? null : { id: ids++, cell: parseBocRoot((byHash.get(hash) as ChainTransaction).boc) };
    const sent_by = cells(expected.out_msg_tx_hash);
    return {
      hash: bytes(expected.hash),
      sent_by,
      received_by: cells(expected.in_msg_tx_hash),
      global_version: RECORDED_GLOBAL_VERSION,
      out_index: sent_by === null ? null : outIndex(sent_by.cell, expected.hash),
    };
  }

  function outIndex(cell: Cell, hash: string): number {
    const { out_msgs } = decodeCell(Transaction, cell);
    const found = [...out_msgs].find(([, message]) => toBase64(message.cell.hash()) === hash);
    return (found as [number, unknown])[0];
  }
});
