import { isDeepStrictEqual } from 'node:util';
import { Codecs, Functions } from 'ton-lite-client/dist/schema.js';
import { TLReadBuffer, TLWriteBuffer } from 'ton-tl';
import { writeQuery } from '#drivers/adnl/wire.js';
import { decodeOne, encodeBoxed } from '#formats/tl/constructor.js';
import {
  LiteServerAccountState,
  LiteServerBlockTransactions,
  LiteServerGetAccountState,
} from '#formats/tl/lite-api.js';
import { encodeLiteQuery } from '#formats/tl/lite-query.js';
import { bytesEqual } from '#kernel/bytes.js';
import { readLiteExchanges } from '../../test/support/lite-exchanges.js';
import { vectorPath } from '../../test/support/vector-files.js';
import type { BenchCase } from '../harness.js';

/** Transactions of one answer: as many as there can be. */
const LISTED = 256;

/** Questions and answers of the lite API. */
export function tlCases(): BenchCase[] {
  return [accountQuestion(), listedTransactions(), accountAnswer()];
}

const hash = (fill: number): Buffer => Buffer.alloc(32, fill);

/** getAccountState in liteServer.query in adnl.message.query: what goes into a packet. */
function accountQuestion(): BenchCase {
  const shard = 0x8000000000000000n;
  const query = {
    id: { workchain: -1, shard: BigInt.asIntN(64, shard), seqno: 1219, root_hash: hash(1), file_hash: hash(2) },
    account: { workchain: 0, id: hash(3) },
  };
  const npmQuery = {
    kind: 'liteServer.getAccountState',
    id: {
      kind: 'tonNode.blockIdExt',
      workchain: -1,
      shard: `${BigInt.asIntN(64, shard)}`,
      seqno: 1219,
      rootHash: hash(1),
      fileHash: hash(2),
    },
    account: { kind: 'liteServer.accountId', workchain: 0, id: hash(3) },
  } as const;
  const queryId = hash(4);
  const ours = () => writeQuery(queryId, encodeLiteQuery(LiteServerGetAccountState, query));
  const baseline = () => {
    const call = new TLWriteBuffer();
    Functions.liteServer_getAccountState.encodeRequest(npmQuery, call);
    const outer = new TLWriteBuffer();
    Functions.liteServer_query.encodeRequest({ kind: 'liteServer.query', data: call.build() }, outer);
    const message = new TLWriteBuffer();
    Codecs.adnl_Message.encode({ kind: 'adnl.message.query', queryId, query: outer.build() }, message);
    return message.build();
  };
  if (!bytesEqual(ours(), baseline())) throw new Error('the two sides write other bytes');
  return { name: 'write getAccountState and its envelopes', unit: 'messages', work: 1, ours, baseline };
}

function listedTransactions(): BenchCase {
  const id = { workchain: 0, shard: -(2n ** 63n), seqno: 7, root_hash: hash(5), file_hash: hash(6) };
  const ids = Array.from({ length: LISTED }, (_, i) => ({
    mode: 7,
    account: hash(i),
    lt: 1_000_000n + BigInt(i),
    hash: hash(i + 1),
    metadata: null,
  }));
  const answer = { id, req_count: LISTED, incomplete: false, ids, proof: new Uint8Array() };
  const bytes = Buffer.from(encodeBoxed(LiteServerBlockTransactions, answer));
  const ours = () => decodeOne(LiteServerBlockTransactions, bytes);
  const baseline = () => Codecs.liteServer_BlockTransactions.decode(new TLReadBuffer(bytes));
  const theirs = baseline().ids.map(({ account, lt }) => `${account?.toString('hex')} ${lt}`);
  const found = ours().ids.map(({ account, lt }) => `${Buffer.from(account!).toString('hex')} ${lt}`);
  if (!isDeepStrictEqual(found, theirs)) throw new Error('the two sides read other transactions');
  return { name: `read an answer of ${LISTED} listed transactions`, unit: 'answers', work: 1, ours, baseline };
}

/** The largest recorded one. */
function accountAnswer(): BenchCase {
  const recorded = [...readLiteExchanges(vectorPath('tl/lite-exchanges.jsonl.gz'))]
    .filter(({ result }) => result === 'liteServer.accountState')
    .sort((a, b) => b.response.length - a.response.length);
  const bytes = Buffer.from(recorded[0]!.response);
  const ours = () => decodeOne(LiteServerAccountState, bytes);
  const baseline = () => Codecs.liteServer_AccountState.decode(new TLReadBuffer(bytes));
  if (!bytesEqual(ours().proof, baseline().proof)) throw new Error('the two sides read another proof');
  return { name: `read an account state of ${bytes.length} bytes`, unit: 'answers', work: 1, ours, baseline };
}
