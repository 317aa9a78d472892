import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { verifyAccount, verifyAccountState, verifyPrunedAccountState } from '#formats/proofs/account.js';
import { verifyBlockFile, verifyBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, printBlockId, sameBlock } from '#formats/proofs/block-id.js';
import { type BlockLink, verifyBlockChain } from '#formats/proofs/block-proof.js';
import { openProof } from '#formats/proofs/proof-part.js';
import {
  type BlockQuery,
  blockOfShard,
  type ShardBlockLink,
  verifyAllShards,
  verifyLookup,
  verifyShardBlockChain,
  verifyShardInfo,
} from '#formats/proofs/shard-block.js';
import {
  stateConfig,
  verifyBlockCreateStats,
  verifyConfig,
  verifyKeyBlockConfig,
  verifyLibraries,
  verifyOutMsgQueueSize,
} from '#formats/proofs/shard-state.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import {
  type TransactionRange,
  type TransactionsQuery,
  verifyAccountTransactions,
  verifyBlockTransactions,
  verifyTransaction,
  verifyTransactionIds,
} from '#formats/proofs/transactions.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { toHex } from '#kernel/bytes.js';
import type { LiteExchange } from '#test/support/lite-exchanges.js';
import { TlError, TlReader } from '#test/support/tl-reader.js';

/**
 * Checks an answer and gives what is proven by it, as text to compare. `trusted` is the block that an answer about "the
 * latest state" is taken to be about (in life it would be proven first).
 */
type AnswerCheck = (request: TlReader, answer: TlReader, trusted: BlockId | null) => string;

/** How answers are checked, by function; the request's reader stands after the constructor. */
export const answerChecks: Readonly<Record<string, AnswerCheck>> = {
  'liteServer.getBlock': (q, a) => {
    const id = q.blockId();
    sameId(a.expect(0xa574ed6c).blockId(), id);
    return `seqno ${verifyBlockFile(lastBytes(a), id).info.seq_no}`;
  },

  'liteServer.getBlockHeader': (q, a) => {
    const id = q.blockId();
    sameId(a.expect(0x752d8219).blockId(), id);
    a.word();
    const { info, prev, master_ref } = verifyBlockHeader(lastBytes(a), id);
    return `${info.gen_utime} ${info.end_lt} after ${prev.map(printBlockId)} on ${master_ref && printBlockId(master_ref)}`;
  },

  'liteServer.getBlockProof': (q, a, trusted) => {
    const mode = q.word();
    const known = q.blockId();
    const target = (mode & 1) === 1 ? q.blockId() : trusted;
    a.expect(0x8ed0d2c1);
    const complete = a.bool();
    sameId(a.blockId(), known);
    const to = a.blockId();
    if (complete && target !== null) sameId(to, target);
    const links = a.vector(() => readLink(a));
    a.end();
    const proven = verifyBlockChain(known, to, links);
    return `${printBlockId(proven.to)} key block ${proven.key_block && printBlockId(proven.key_block)}`;
  },

  'liteServer.getAccountState': (q, a, trusted) => accountState(q, a, trusted, verifyAccountState),
  'liteServer.getAccountStatePrunned': (q, a, trusted) => accountState(q, a, trusted, verifyPrunedAccountState),

  'liteServer.runSmcMethod': (q, a, trusted) => {
    const mode = q.word();
    const id = asked(q.blockId(), trusted);
    const address = readAccount(q);
    const answered = a.word();
    // Where there is no such workchain, servers answer as to getAccountState.
    if (answered === 0x7079c751) return readAccountState(a, id, address, verifyAccountState);
    if (answered !== 0xa39a616b) throw new TlError(`answer ${answered.toString(16)}`);
    if (a.word() !== mode) throw new TlError('another mode');
    sameId(a.blockId(), id);
    const shard_block = a.blockId();
    if ((mode & 1) === 0) return 'no proof';
    const { shard_account, shard_state } = verifyAccount(id, address, {
      shard_block,
      shard_proof: a.bytes(),
      proof: a.bytes(),
    });
    const hash = shard_account && toHex(shard_account.account.cell.hash(0));
    const state_proof = (mode & 2) === 0 ? new Uint8Array() : a.bytes();
    if (state_proof.length > 0) {
      const account = openProof('state_proof', state_proof);
      if (toHex(account.hash(0)) !== hash) throw new TlError('the proof of another account');
    }
    return `${shard_state?.header?.info.gen_utime} ${hash} ${shard_account?.last_trans_lt}`;
  },

  'liteServer.getShardInfo': (q, a, trusted) => {
    const id = asked(q.blockId(), trusted);
    const wanted = { workchain: q.int(), shard: q.unsignedLong() };
    const exact = q.bool();
    sameId(a.expect(0x9fe6cd84).blockId(), id);
    const answer = { shard_block: a.blockId(), shard_proof: a.bytes(), shard_descr: a.bytes() };
    a.end();
    const proven = verifyShardInfo(id, wanted, exact, answer);
    return proven === null ? 'no such shard' : `${printBlockId(proven.block)} ${proven.entry.descr.gen_utime}`;
  },

  'liteServer.getAllShardsInfo': (q, a) => {
    const id = q.blockId();
    sameId(a.expect(0x098fe72d).blockId(), id);
    const proof = a.bytes();
    const hashes = verifyAllShards(id, proof, lastBytes(a));
    return [...shardDescrs(hashes)].map((entry) => printBlockId(blockOfShard(entry))).join();
  },

  'liteServer.getOneTransaction': (q, a) => {
    const id = q.blockId();
    const account = readAccount(q);
    const lt = q.long();
    sameId(a.expect(0x0edeed47).blockId(), id);
    const proof = a.bytes();
    const cell = verifyTransaction(id, account.hash, lt, { proof, transaction: lastBytes(a) });
    return `transaction ${cell && toHex(cell.hash())}`;
  },

  'liteServer.getTransactions': (q, a) => {
    q.word();
    const address = readAccount(q);
    const newest = { lt: q.long(), hash: q.int256() };
    a.expect(0x6f26c60b).vector(() => a.blockId());
    const { transactions, next } = verifyAccountTransactions(address, newest, lastBytes(a));
    return `${transactions.map(({ lt, hash }) => `${lt} ${toHex(hash)}`)} then ${next?.lt}`;
  },

  'liteServer.listBlockTransactions': (q, a) => {
    const id = q.blockId();
    const { mode, query } = readTransactionsQuery(q);
    sameId(a.expect(0xbd8cad2b).blockId(), id);
    a.word();
    a.bool();
    const ids = a.vector(() => {
      const fields = a.word();
      return {
        account: (fields & 1) === 0 ? null : a.int256(),
        lt: (fields & 2) === 0 ? null : a.long(),
        hash: (fields & 4) === 0 ? null : a.int256(),
        // Who started the trace; not proven here.
        metadata: (fields & 256) === 0 ? null : readMetadata(a),
      };
    });
    const proof = lastBytes(a);
    return (mode & 32) === 0 ? 'no proof' : printStretch(verifyTransactionIds(id, query, proof, ids));
  },

  'liteServer.listBlockTransactionsExt': (q, a) => {
    const id = q.blockId();
    const { mode, query } = readTransactionsQuery(q);
    sameId(a.expect(0xfb8ffce4).blockId(), id);
    a.word();
    a.bool();
    const transactions = a.bytes();
    const proof = lastBytes(a);
    if ((mode & (32 | 256)) === 0) return 'no proof';
    return printStretch(verifyBlockTransactions(id, query, proof, transactions));
  },

  'liteServer.getConfigAll': (q, a, trusted) => {
    const mode = q.word();
    const id = asked(q.blockId(), trusted);
    return config(a, mode, id, (params) => [...params]);
  },

  'liteServer.getConfigParams': (q, a, trusted) => {
    const mode = q.word();
    const id = asked(q.blockId(), trusted);
    const wanted = q.vector(() => q.int());
    return config(a, mode, id, (params) => wanted.map((param) => [param, params.get(param)]));
  },

  'liteServer.getValidatorStats': (q, a) => {
    q.word();
    const id = q.blockId();
    a.expect(0xb9f796d8).word();
    sameId(a.blockId(), id);
    a.word();
    a.bool();
    const stateProof = a.bytes();
    const stats = verifyBlockCreateStats(id, stateProof, lastBytes(a));
    const counters = stats === null ? [] : [...stats.counters.entries({ pruned: 'skip' })];
    return counters.map(([key, { mc_blocks }]) => `${toHex(key)} ${mc_blocks.total}`).join();
  },

  'liteServer.getLibrariesWithProof': (q, a) => {
    const id = q.blockId();
    q.word();
    const hashes = q.vector(() => q.int256());
    sameId(a.expect(0x10a927bf).blockId(), id);
    a.word();
    const result = a.vector(() => ({ hash: a.int256(), data: a.bytes() }));
    const answer = { result, state_proof: a.bytes(), data_proof: lastBytes(a) };
    return verifyLibraries(id, hashes, answer)
      .map(({ hash, cell }) => `${toHex(hash)} ${cell && toHex(cell.hash())}`)
      .join();
  },

  'liteServer.getShardBlockProof': (q, a, trusted) => {
    const id = q.blockId();
    const masterchainBlock = a.expect(0x1d62a07a).blockId();
    if (trusted !== null) sameId(masterchainBlock, trusted);
    const links = readShardLinks(a);
    a.end();
    return verifyShardBlockChain(masterchainBlock, id, links)
      .map((header) => printBlockId(header.id))
      .join();
  },

  'liteServer.getBlockOutMsgQueueSize': (q, a) => {
    const mode = q.word();
    const id = q.blockId();
    a.expect(0x8acdbe1b).word();
    sameId(a.blockId(), id);
    const size = a.long();
    if ((mode & 1) === 0) return 'no proof';
    return String(verifyOutMsgQueueSize(id, size, lastBytes(a)));
  },

  'liteServer.lookupBlockWithProof': (q, a) => {
    const mode = q.word();
    const position = { workchain: q.int(), shard: q.unsignedLong(), seqno: q.word() };
    const known = q.blockId();
    const lt = (mode & 2) === 0 ? null : q.unsignedLong();
    const utime = (mode & 4) === 0 ? null : q.word();
    let query: BlockQuery;
    if (lt !== null) query = { ...position, by: 'lt', lt };
    else if (utime !== null) query = { ...position, by: 'utime', utime };
    else query = { ...position, by: 'seqno' };
    const id = a.expect(0x99786be7).blockId();
    a.word();
    const answer = {
      id,
      mc_block_id: a.blockId(),
      client_mc_state_proof: a.bytes(),
      mc_block_proof: a.bytes(),
      shard_links: readShardLinks(a),
      header: a.bytes(),
      prev_header: lastBytes(a),
    };
    return printBlockId(verifyLookup(known, query, answer).id);
  },
};

const LATEST = 0xffffffff;

/** What is asked for, where the question may be about the latest block. */
function asked(id: BlockId, trusted: BlockId | null): BlockId {
  return id.seqno === LATEST && trusted !== null ? trusted : id;
}

function sameId(found: BlockId, wanted: BlockId): void {
  if (!sameBlock(found, wanted)) throw new TlError(`answer about ${printBlockId(found)}`);
}

function lastBytes(reader: TlReader): Uint8Array {
  const bytes = reader.bytes();
  reader.end();
  return bytes;
}

function readAccount(reader: TlReader): Address {
  const workchain = reader.int();
  return Address.ofParts(workchain, reader.int256());
}

function readMetadata(reader: TlReader): string {
  reader.word();
  return `${reader.int()} ${readAccount(reader).toRaw()} ${reader.long()}`;
}

function accountState(q: TlReader, a: TlReader, trusted: BlockId | null, verify: typeof verifyAccountState): string {
  const id = asked(q.blockId(), trusted);
  return readAccountState(a.expect(0x7079c751), id, readAccount(q), verify);
}

function readAccountState(a: TlReader, id: BlockId, address: Address, verify: typeof verifyAccountState): string {
  sameId(a.blockId(), id);
  const answer = { shard_block: a.blockId(), shard_proof: a.bytes(), proof: a.bytes(), state: a.bytes() };
  a.end();
  const { account, shard_account, shard_state } = verify(id, address, answer);
  const { last_trans_lt, last_trans_hash } = shard_account ?? {};
  const last = last_trans_hash && toHex(last_trans_hash);
  return `${shard_state?.state.gen_utime} ${account && toHex(account.hash(0))} ${last_trans_lt} ${last}`;
}

function config(
  a: TlReader,
  mode: number,
  id: BlockId,
  pick: (params: ReturnType<typeof stateConfig>['config']) => (readonly [number, Cell | undefined])[],
): string {
  a.expect(0xae7b272f).word();
  const answered = a.blockId();
  const stateProof = a.bytes();
  const configProof = lastBytes(a);
  const fromKeyBlock = (mode & 0x8000) !== 0;
  if (!fromKeyBlock) sameId(answered, id);
  const params = fromKeyBlock
    ? verifyKeyBlockConfig(answered, configProof)
    : stateConfig(verifyConfig(id, stateProof, configProof));
  return pick(params.config)
    .map(([param, cell]) => `${param} ${cell && toHex(cell.hash(0))}`)
    .join();
}

function readTransactionsQuery(q: TlReader): { readonly mode: number; readonly query: TransactionsQuery } {
  const mode = q.word();
  const count = q.word();
  const after = (mode & 128) === 0 ? null : { account: q.int256(), lt: q.unsignedLong() };
  return { mode, query: { count, after, reverse: (mode & 64) !== 0 } };
}

function printStretch({ transactions, incomplete }: TransactionRange): string {
  const list = transactions.map(({ account, lt, hash }) => `${toHex(account)} ${lt} ${toHex(hash)}`);
  return `${list.join()} ${incomplete ? '...' : '.'}`;
}

function readShardLinks(a: TlReader): ShardBlockLink[] {
  return a.vector(() => ({ id: a.blockId(), proof: a.bytes() }));
}

function readLink(a: TlReader): BlockLink {
  const id = a.word();
  if (id !== 0xef7e1bef && id !== 0x520fce1c) throw new TlError(`link ${id.toString(16)}`);
  const base = { to_key_block: a.bool(), from: a.blockId(), to: a.blockId(), dest_proof: a.bytes() };
  if (id === 0xef7e1bef) return { kind: 'back', ...base, proof: a.bytes(), state_proof: a.bytes() };
  return { kind: 'forward', ...base, config_proof: a.bytes(), signatures: readSignatures(a) };
}

function readSignatures(a: TlReader): SignatureSet {
  const id = a.word();
  const first = a.word();
  const second = a.word();
  const signatures = a.vector(() => ({ node_id_short: a.int256(), signature: a.bytes() }));
  if (id === 0xf644a6e6) {
    return { kind: 'ordinary', validator_set_hash: first, catchain_seqno: second, signatures };
  }
  if (id !== 0xac249800) throw new TlError(`signature set ${id.toString(16)}`);
  const session = { session_id: a.int256(), slot: a.int(), candidate: a.bytes() };
  return { kind: 'simplex', catchain_seqno: first, validator_set_hash: second, signatures, ...session };
}

/** The block that an answer about "the latest state" says to be about; `null` for other answers. */
export function latestBlock({ function: name, request, response }: LiteExchange): BlockId | null {
  const query = new TlReader(request);
  query.word();
  if (name === 'liteServer.runSmcMethod') query.word();
  else if (!name.startsWith('liteServer.getAccountState')) return null;
  if (query.blockId().seqno !== LATEST) return null;
  const answer = new TlReader(response);
  if (answer.word() === 0xa39a616b) answer.word();
  return answer.blockId();
}

/** Checks a response to a request (both without envelope). @throws TernError, TlError */
export function checkAnswer(name: string, request: Uint8Array, response: Uint8Array, trusted: BlockId | null): string {
  const query = new TlReader(request);
  // liteServer.waitMasterchainSeqno seqno:int timeout_ms:int in front of some.
  if (query.word() === 0xbaeab892) {
    query.long();
    query.word();
  }
  return answerChecks[name]!(query, new TlReader(response), trusted);
}
