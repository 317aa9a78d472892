import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes.js';
import { some } from '#test/contract/against-chain/chain-record.js';
import type { NamedTransaction } from '#test/contract/against-chain/client.js';
import {
  base64,
  blockIdJson,
  coreCell,
  hexToBase64,
  positionOf,
  shown,
  withHashes,
} from '#test/contract/against-chain/core.js';
import { CoreProof, expectedHeader, expectedSignatures, wayTo } from '#test/contract/against-chain/expected-block.js';
import { expectedTransaction } from '#test/contract/against-chain/expected-transaction.js';
import type { Subject } from '#test/contract/against-chain/subject.js';
import { type BlockFacts, blocksOfPrefix, type TransactionFacts } from '#test/support/chain-facts.js';

/** Blocks, their transactions and proofs. */
export function describeBlocks(subject: () => Subject): void {
  describe('blocks', () => {
    it('getMasterchainInfo, getConsensusBlock', async () => {
      const { client, record } = subject();
      const { head, zerostate } = record;
      const state = coreCell(parseBocRoot(head.bytes).ref(2));
      const update = state.beginParse(true);
      update.skip(8 + 256);
      for (let form = 0; form < 3; form++) {
        expect(await client.ask('getMasterchainInfo')).toEqual({
          '@type': 'blocks.masterchainInfo',
          last: blockIdJson(head.id),
          state_root_hash: base64(update.preloadBuffer(32)),
          init: { ...blockIdJson(zerostate), shard: '0' },
        });
        const before = Math.floor(Date.now() / 1000);
        const consensus = await client.ask<{ readonly timestamp: number }>('getConsensusBlock');
        expect(consensus).toEqual({
          '@type': 'ext.blocks.consensusBlock',
          consensus_block: head.id.seqno,
          timestamp: expect.any(Number),
        });
        expect(consensus.timestamp).toBeGreaterThanOrEqual(before);
        expect(consensus.timestamp).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
      }
    });

    it('getShards', async () => {
      const { client, record } = subject();
      for (const { id, tops } of atSeqnos(subject(), 20)) {
        const answer = await client.ask('getShards', { seqno: id.seqno });
        expect(answer, printPosition(id)).toEqual({ '@type': 'blocks.shards', shards: tops.map(blockIdJson) });
      }
      expect((await client.refused('getShards', { seqno: record.head.id.seqno + 1 })).status).toBe(404);
    });

    it('getBlockHeader', async () => {
      const { client, record } = subject();
      for (const [i, block] of ofAllShards(subject(), 80).entries()) {
        const { root_hash, file_hash } = block.id;
        const hashes = i % 3 === 0 ? { root_hash: base64(root_hash), file_hash: base64(file_hash) } : {};
        const answer = await client.ask('getBlockHeader', { ...positionOf(block.id), ...hashes });
        expect(answer, printPosition(block.id)).toEqual(expectedHeader(record, block));
      }
      const { id } = record.head;
      const other = { root_hash: base64(record.zerostate.root_hash), file_hash: base64(id.file_hash) };
      expect((await client.refused('getBlockHeader', { ...positionOf(id), ...other })).status).toBe(404);
    });

    it('lookupBlock by seqno, lt and time', async () => {
      const { client, record } = subject();
      for (const [workchain, prefixes] of [
        [-1, [1n << 63n]],
        [0, [1n << 63n, 1n << 60n, (1n << 64n) - (1n << 60n)]],
      ] as const) {
        for (const prefix of prefixes) {
          const shard = BigInt.asIntN(64, prefix).toString();
          // Of an unsplit shard id there may be blocks before and after a split: only whole chains are looked through.
          const isWhole = prefix === 1n << 63n;
          const blocks = blocksOfPrefix(record.facts, workchain, prefix).filter(
            ({ id }) => !isWhole || id.shard === 1n << 63n,
          );
          for (const { id, start_lt, end_lt, gen_utime } of some(blocks, 15)) {
            const where = printPosition(id);
            const at = { workchain, shard };
            const bySeqno = await client.ask('lookupBlock', { ...at, seqno: id.seqno });
            expect(bySeqno, where).toEqual(blockIdJson(id));
            if (isWhole && workchain === 0) continue;
            for (const lt of [start_lt, end_lt]) {
              const wanted = blocks.find((block) => block.end_lt >= lt)!;
              expect(await client.ask('lookupBlock', { ...at, lt: lt.toString() }), `${where} lt ${lt}`).toEqual(
                blockIdJson(wanted.id),
              );
            }
            const wanted = blocks.find((block) => block.gen_utime >= gen_utime)!;
            expect(await client.ask('lookupBlock', { ...at, unixtime: gen_utime }), `${where} time`).toEqual(
              blockIdJson(wanted.id),
            );
          }
          const last = blocks.at(-1)!;
          const beyond = isWhole && workchain === 0 ? {} : { lt: (last.end_lt + 1n).toString() };
          if ('lt' in beyond) {
            expect((await client.refused('lookupBlock', { workchain, shard, ...beyond })).status).toBe(404);
          }
        }
      }
    });

    it('getMasterchainBlockSignatures', async () => {
      const { client, record } = subject();
      for (const block of atSeqnos(subject(), 12)) {
        if (block.signatures === null) continue;
        const { seqno } = block.id;
        expect(await client.ask('getMasterchainBlockSignatures', { seqno }), `${seqno}`).toEqual(
          expectedSignatures(block),
        );
      }
      expect(record.head.signatures).not.toBeNull();
    });

    it('getShardBlockProof', async () => {
      const { client, record } = subject();
      const { head } = record;
      for (const [i, block] of ofAllShards(subject(), 45).entries()) {
        const where = printPosition(block.id);
        const { mc, way } = wayTo(record, block);
        const from = i % 2 === 0 ? head : record.facts.masterchain[Math.min(mc.id.seqno + 1, head.id.seqno)]!;
        const params = { ...positionOf(block.id), ...(i % 2 === 0 ? {} : { from_seqno: from.id.seqno }) };
        const proof = await client.ask<ShardBlockProof>('getShardBlockProof', params);
        const { links, mc_proof, ...rest } = proof;
        expect(rest, where).toEqual({
          '@type': 'blocks.shardBlockProof',
          from: blockIdJson(from.id),
          mc_id: blockIdJson(mc.id),
        });
        expect(
          links.map(({ proof: _, ...link }) => link),
          where,
        ).toEqual(way.map((id) => ({ '@type': 'blocks.shardBlockLink', id: blockIdJson(id) })));
        for (const [step, id] of way.entries()) {
          const holder = step === 0 ? mc.id : way[step - 1]!;
          // The newest block of a shard stands in the state of the masterchain, which takes a proof of its own.
          const shows = CoreProof.all(links[step]!.proof);
          expect(shows[0]!.rootHash, where).toBe(toHex(holder.root_hash));
          expect(
            shows.some((one) => one.names(id)),
            where,
          ).toBe(true);
        }
        checkBack(mc_proof, from, mc, where);
      }
      const early = positionOf(head.id);
      const refusal = await client.refused('getShardBlockProof', { ...early, from_seqno: head.id.seqno - 1 });
      expect(refusal.status).toBe(404);
    });

    it('getOutMsgQueueSize', async () => {
      const { client, record } = subject();
      const { head } = record;
      const shards = [head.id, ...head.tops].map((id) => ({
        '@type': 'blocks.outMsgQueueSize',
        id: blockIdJson(id),
        size: [...record.state(id).out_msg_queue_info.value.out_queue].length,
      }));
      for (let form = 0; form < 3; form++) {
        expect(await client.ask('getOutMsgQueueSize')).toEqual({
          '@type': 'blocks.outMsgQueueSizes',
          shards,
          ext_msg_queue_size_limit: 8000,
        });
      }
    });
  });

  describe('configuration', () => {
    it('getConfigParam and getConfigAll', async () => {
      const { client, record } = subject();
      let parameters = 0;
      for (const seqno of [...some(record.seqnos, 7), null]) {
        const at = seqno === null ? {} : { seqno };
        const { config } = record.state(record.facts.masterchain[seqno ?? record.head.id.seqno]!.id).custom!.value
          .config;
        const all = await client.ask('getConfigAll', at);
        expect(withHashes(all)).toEqual(configInfo(shown(coreCell(config.root!))));
        const known = [...config];
        const names = new Set(known.map(([number]) => number));
        for (const [number, cell] of seqno === null ? known : some(known, 9)) {
          const name = parameters++ % 2 === 0 ? 'config_id' : 'param';
          const answer = await client.ask('getConfigParam', { [name]: number, ...at });
          expect(withHashes(answer), `${number} at ${seqno}`).toEqual(configInfo(shown(coreCell(cell))));
        }
        const missing = [70, 99, 1000].find((number) => !names.has(number))!;
        expect(await client.ask('getConfigParam', { config_id: missing, ...at })).toEqual(configInfo(''));
      }
      expect(parameters).toBeGreaterThan(60);
    });

    it('getLibraries', async () => {
      const { client, record } = subject();
      const known = [...record.state(record.head.id).totals.value.libraries];
      const absent = Buffer.alloc(32, 0x5a);
      const asked = [...known.slice(0, 15).map(([hash]) => hash), absent];
      for (const encoding of ['base64', 'base64url', 'hex'] as const) {
        const answer = await client.ask('getLibraries', {
          libraries: asked.map((hash) => Buffer.from(hash).toString(encoding)),
        });
        expect(withHashes(answer)).toEqual({
          '@type': 'smc.libraryResult',
          result: known.slice(0, 15).map(([hash, { lib }]) => ({
            '@type': 'smc.libraryEntry',
            hash: base64(hash),
            data: shown(coreCell(lib)),
          })),
        });
      }
    });
  });

  describe('transactions of blocks', () => {
    it('getBlockTransactions, by pages', async () => {
      const { client } = subject();
      for (const [i, block] of fullBlocks(subject(), 40).entries()) {
        const total = block.transactions.length;
        const expected = block.transactions.map((one) => shortId(one));
        for (const count of new Set([Math.max(total, 1), Math.max(1, Math.ceil(total / (2 + (i % 3))))])) {
          const found: unknown[] = [];
          let after: Record<string, unknown> = {};
          for (let more = true; more; ) {
            const answer = await client.ask<ShortPage>('getBlockTransactions', {
              ...positionOf(block.id),
              count,
              ...after,
            });
            const { transactions, ...rest } = answer;
            found.push(...transactions);
            more = found.length < total;
            expect(rest, printPosition(block.id)).toEqual({
              '@type': 'blocks.transactions',
              id: blockIdJson(block.id),
              req_count: count,
              incomplete: more,
            });
            expect(transactions.length).toBe(Math.min(count, total - found.length + transactions.length));
            const last = transactions.at(-1)!;
            if (!more) break;
            // Both ways to name the account: its id, its address.
            const after_hash = i % 2 === 0 ? hexToBase64(last.account.split(':')[1]!) : last.account;
            after = { after_lt: last.lt, after_hash };
          }
          expect(found, printPosition(block.id)).toEqual(expected);
        }
      }
    });

    it('getBlockTransactionsExt, by pages', async () => {
      const { client, record } = subject();
      let compared = 0;
      for (const [i, block] of fullBlocks(subject(), 26).entries()) {
        const total = block.transactions.length;
        const count = i % 2 === 0 ? Math.max(total, 1) : Math.max(1, Math.ceil(total / 2));
        let after: Record<string, unknown> = {};
        for (let at = 0, more = true; more; ) {
          const answer = await client.ask<Page>('getBlockTransactionsExt', {
            ...positionOf(block.id),
            count,
            ...after,
          });
          const { transactions, ...rest } = answer;
          const listed = block.transactions.slice(at, at + count);
          at += count;
          more = at < total;
          expect(rest, printPosition(block.id)).toEqual({
            '@type': 'blocks.transactionsExt',
            id: blockIdJson(block.id),
            req_count: count,
            incomplete: more,
          });
          expect(transactions.map(idOf)).toEqual(listed.map(({ lt, hash }) => `${lt} ${hexToBase64(hash)}`));
          for (const { hash } of some(listed, 12)) {
            const found = transactions.find((one) => one.transaction_id.hash === hexToBase64(hash));
            expect(withHashes(found), hash).toEqual(
              expectedTransaction(record.transaction(hash), block.id.workchain, 'block'),
            );
            compared++;
          }
          const last = listed.at(-1);
          if (more) after = { after_lt: last!.lt.toString(), after_hash: hexToBase64(last!.account.split(':')[1]!) };
        }
      }
      expect(compared).toBeGreaterThan(40);
    });
  });
}

interface BlockJson {
  readonly root_hash: string;
  readonly file_hash: string;
}

interface LinkBack {
  readonly '@type': string;
  readonly to_key_block: boolean;
  readonly from: BlockJson;
  readonly to: BlockJson;
  readonly dest_proof: string;
  readonly proof: string;
  readonly state_proof: string;
}

interface ShardBlockProof {
  readonly links: readonly { readonly proof: string }[];
  readonly mc_proof: readonly LinkBack[];
}

interface ShortPage {
  readonly transactions: readonly { readonly account: string; readonly lt: string }[];
}

interface Page {
  readonly transactions: readonly NamedTransaction[];
}

const idOf = ({ transaction_id: { lt, hash } }: NamedTransaction): string => `${lt} ${hash}`;

function shortId({ account, lt, hash }: TransactionFacts): unknown {
  return { '@type': 'blocks.shortTxId', mode: 135, account, lt: lt.toString(), hash: hexToBase64(hash) };
}

function configInfo(bytes: string): unknown {
  return { '@type': 'configInfo', config: { '@type': 'vm.cell', bytes } };
}

/** From `from` back to `mc`, link by link. */
function checkBack(links: readonly LinkBack[], from: BlockFacts, mc: BlockFacts, where: string): void {
  if (sameBlock(from.id, mc.id)) {
    expect(links, where).toEqual([]);
    return;
  }
  expect(links.length, where).toBeGreaterThan(0);
  let at: unknown = blockIdJson(from.id);
  for (const link of links) {
    expect(link['@type'], where).toBe('blocks.blockLinkBack');
    expect(link.from, where).toEqual(at);
    at = link.to;
    const to = Buffer.from(link.to.root_hash, 'base64');
    expect(new CoreProof(link.dest_proof).rootHash, where).toBe(to.toString('hex'));
    const proof = new CoreProof(link.proof);
    expect(proof.rootHash, where).toBe(Buffer.from(link.from.root_hash, 'base64').toString('hex'));
    const state = new CoreProof(link.state_proof);
    expect(proof.refersTo(state.rootHash), where).toBe(true);
    expect(state.names({ ...mc.id, root_hash: to, file_hash: Buffer.from(link.to.file_hash, 'base64') }), where).toBe(
      true,
    );
  }
  expect(at, where).toEqual(blockIdJson(mc.id));
  expect(links.at(-1)!.to_key_block, where).toBe(mc.key_block);
}

/** Masterchain blocks. */
function atSeqnos({ record }: Subject, count: number): BlockFacts[] {
  const seqnos = new Set([...record.seqnos, ...some(record.masterchain, count).map(({ id }) => id.seqno)]);
  return [...seqnos].map((seqno) => record.facts.masterchain[seqno]!);
}

/** Blocks of all shards, among them those about splits and merges. */
function ofAllShards({ record }: Subject, count: number): BlockFacts[] {
  const shards = record.facts.shards;
  const turns = shards.filter(({ id }, i) => shards[i - 1] !== undefined && shards[i - 1]!.id.shard !== id.shard);
  const chosen = [...some(record.masterchain, count / 3), ...some(shards, count / 2), ...some(turns, count / 6)];
  return [...new Set(chosen)];
}

/** Blocks without transactions, with few, with the most. */
function fullBlocks({ record }: Subject, count: number): BlockFacts[] {
  const bySize = [...record.blocks].sort((a, b) => a.transactions.length - b.transactions.length);
  return [...new Set([...some(bySize, count / 2), ...some(bySize.slice(-Math.ceil(bySize.length / 10)), count / 2)])];
}
