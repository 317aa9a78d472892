import { beforeAll, describe, expect, it } from 'vitest';
import { v2BlockEndpoints } from '#api/v2/blocks.js';
import { configurationEndpoints } from '#api/v2/network.js';
import { accountTransactionEndpoints, blockTransactionEndpoints } from '#api/v2/transactions.js';
import type { ContractReads } from '#services/emulation/contract-reads.js';
import { compareCalls, type RecordedCall, type Rule, readLines } from '#test/contract/recorded-calls.js';
import { RecordedCalls } from '#test/contract/v2-recorded.js';
import { type ReplayedChain, replayedChain } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

/** What tonlib shows otherwise than the published methods that are made of it. */
const RULES: readonly Rule[] = [
  {
    path: '^/getBlockTransactionsExt$',
    ignore: ['/result/transactions/*/@type', '/result/transactions/*/account'],
    reason: 'the published method adds the account, and calls the type raw.transactionExt',
  },
  {
    path: '^/getBlockTransactions$',
    ignore: ['/result/transactions/*/mode'],
    reason: 'tonlib repeats the mode of the question; published is 135, all fields',
  },
  {
    path: '^/getBlockTransactions(Ext)?$',
    when: { params: '"workchain":-1.*"count":3[,}]' },
    ignore: ['/result/incomplete'],
    reason: 'blocks with just as many transactions as were asked for: nothing remains',
  },
  {
    path: '^/(getBlockTransactions|getBlockTransactionsExt|getTransactionsStd)$',
    when: { params: '"(count|limit)":0[,}]' },
    expect: 422,
    reason: 'counts begin with 1',
  },
  {
    path: '^/getMasterchainBlockSignatures$',
    when: { params: '"seqno":1}' },
    expect: 200,
    reason: 'block 1 is proven from the zerostate',
  },
  {
    path: '^/(getMasterchainBlockSignatures|lookupBlock|getLibraries|getTransactionsStd)$',
    when: { error: 'block #0|seqno=429496729|seqno=0|too many libraries|exactly one of|Invalid' },
    expect: 422,
    reason: 'refused before a node is asked',
  },
  {
    path: '^/lookupBlock$',
    when: { error: 'not in db$' },
    expect: 200,
    reason: 'the first block of a shard is found',
  },
  {
    path: '^/lookupBlock$',
    when: { params: '"unixtime"' },
    ignore: ['/result/seqno', '/result/root_hash', '/result/file_hash'],
    reason: 'of several blocks in one second servers may name any; here the first',
  },
  {
    path: '^/getShardBlockProof$',
    when: { params: '^(?!.*from_seqno)' },
    ignore: [
      '/result/from/**',
      '/result/mc_proof/*/from/**',
      '/result/mc_proof/*/proof',
      '/result/mc_proof/*/state_proof',
    ],
    reason: 'from the head at the moment of recording',
  },
];

interface Exchange {
  readonly n: number;
  readonly request: TonlibObject;
  readonly response: TonlibObject | null;
}

type TonlibObject = Record<string, any>;

/** The call of v2 that a call of tonlib corresponds to, `null` when there is none. */
const CALLS: Readonly<Record<string, (request: TonlibObject) => { name: string; params: TonlibObject } | null>> = {
  'blocks.getShards': ({ id }) => id && { name: 'getShards', params: { seqno: id.seqno } },
  'blocks.getBlockHeader': ({ id }) => ({ name: 'getBlockHeader', params: blockParams(id) }),
  'blocks.getMasterchainBlockSignatures': ({ seqno }) => ({ name: 'getMasterchainBlockSignatures', params: { seqno } }),
  'blocks.getShardBlockProof': ({ id: { workchain, shard, seqno }, from }) => ({
    name: 'getShardBlockProof',
    params: { workchain, shard, seqno, ...(from === undefined ? {} : { from_seqno: from.seqno }) },
  }),
  'blocks.lookupBlock': ({ mode, id: { workchain, shard, seqno }, lt, utime }) => ({
    name: 'lookupBlock',
    params: {
      workchain,
      shard,
      ...((mode & 1) === 0 ? {} : { seqno }),
      ...((mode & 2) === 0 ? {} : { lt }),
      ...((mode & 4) === 0 ? {} : { unixtime: utime }),
    },
  }),
  'blocks.getTransactions': (request) => listCall('getBlockTransactions', request),
  'blocks.getTransactionsExt': (request) => listCall('getBlockTransactionsExt', request),
  'raw.getTransactionsV2': ({ account_address, from_transaction_id, count, try_decode_messages }) =>
    try_decode_messages === true
      ? {
          name: 'getTransactionsStd',
          params: {
            address: account_address.account_address,
            lt: from_transaction_id.lt,
            hash: from_transaction_id.hash,
            // tonlib asks a node once, and nodes list 16.
            limit: Math.min(count, 16),
          },
        }
      : null,
  'smc.getLibraries': ({ library_list }) => ({ name: 'getLibraries', params: { libraries: library_list } }),
  withBlock: ({ id: { seqno }, function: inner }) => {
    if (inner['@type'] === 'getConfigAll') return { name: 'getConfigAll', params: { seqno } };
    if (inner['@type'] === 'getConfigParam') return { name: 'getConfigParam', params: { param: inner.param, seqno } };
    return null;
  },
};

function blockParams({ workchain, shard, seqno, root_hash, file_hash }: TonlibObject): TonlibObject {
  return { workchain, shard, seqno, root_hash, file_hash };
}

/** Published are account, lt and hash together. */
function listCall(name: string, { id, mode, count, after }: TonlibObject) {
  if ((mode & 7) !== 7) return null;
  const cursor = (mode & 128) === 0 ? {} : { after_lt: after.lt, after_hash: after.account };
  return { name, params: { ...blockParams(id), count, ...cursor } };
}

/** tonlib tells accounts of a block in base64, and the libraries that it knows already before others. */
function published(result: TonlibObject): TonlibObject {
  if (result['@type'] === 'smc.libraryResult') {
    const hash = (entry: TonlibObject) => Buffer.from(entry.hash, 'base64');
    return { ...result, result: [...result.result].sort((a, b) => Buffer.compare(hash(a), hash(b))) };
  }
  if (result['@type'] !== 'blocks.transactions') return result;
  const { workchain } = result.id;
  const raw = (account: string) => `${workchain}:${Buffer.from(account, 'base64').toString('hex')}`;
  const transactions = result.transactions.map((each: TonlibObject) => ({ ...each, account: raw(each.account) }));
  return { ...result, transactions };
}

function recordedCalls(file: string): RecordedCall[] {
  const calls: RecordedCall[] = [];
  for (const { n, request, response } of readLines(file) as Exchange[]) {
    const call = CALLS[request['@type']]?.(request) ?? null;
    if (call === null || response === null) continue;
    const failed = response['@type'] === 'error';
    calls.push({
      name: call.name,
      params: call.params,
      source: 'body',
      recording: {
        id: String(n),
        method: 'POST',
        path: `/${call.name}`,
        query: null,
        body: null,
        status: failed ? 500 : 200,
        response: failed ? { ok: false, error: response.message } : { ok: true, result: published(response) },
      },
    });
  }
  return calls;
}

const folder = vectorPath('collection/recorded-net');

describe('methods that the reference service makes of tonlib', () => {
  let replayed: ReplayedChain;
  let calls: RecordedCalls;

  beforeAll(() => {
    // Where the chain stood when the sizes of queues were asked for.
    replayed = replayedChain(`${folder}/chain`, 1086);
    const { chain } = replayed;
    const endpoints = [
      ...v2BlockEndpoints,
      ...blockTransactionEndpoints,
      ...accountTransactionEndpoints,
      ...configurationEndpoints,
    ];
    calls = new RecordedCalls(endpoints, { chain, contracts: {} as ContractReads, servers: () => [], now: () => 0 });
  });

  it('report the sizes of queues as it does', async () => {
    const exchanges = readLines(`${folder}/tonlib-recordings.jsonl.br`) as Exchange[];
    const all = exchanges.find(
      ({ request }) => request['@type'] === 'blocks.getOutMsgQueueSizes' && request.mode === 0,
    );
    const recording = { id: '', method: 'GET', path: '', query: null, body: null, status: 200, response: null };
    const call: RecordedCall = { name: 'getOutMsgQueueSize', params: {}, source: 'body', recording };
    const { response } = await calls.answer(call);
    expect((response as { result: unknown }).result).toEqual(all?.response);
  });

  it('answer as it does', async () => {
    replayed.ledger.advanceTo(replayed.ledger.lastSeqno);
    replayed.source.headSeqno = replayed.ledger.lastSeqno;
    const recorded = recordedCalls(`${folder}/tonlib-recordings.jsonl.br`);
    const { cases, equal, differences, stale } = await compareCalls(recorded, RULES, (call) => calls.answer(call));
    expect(differences).toEqual([]);
    expect(stale).toEqual([]);
    expect(equal).toBe(cases);
    expect(new Set(recorded.map(({ name }) => name)).size).toBe(11);
    expect(cases).toBeGreaterThan(380);
  });
});
