import type { BlockId } from '#formats/proofs/block-id.js';
import { shardContains } from '#formats/tlb/block-id.js';
import { toBase64 } from '#kernel/bytes.js';
import type { BlockFacts } from '#test/support/chain-facts.js';
import { type ChainTruth, spreadOver } from './chain-truth.js';
import type { CheckReport } from './check-report.js';
import { expectSame } from './same-answer.js';
import type { JsonObject, TonlibSession } from './tonlib-session.js';

/** Blocks that are asked about, of each chain. */
const SAMPLE = 40;
/** Of the blocks with the most transactions. */
const DENSEST = 8;
/** Transactions of one page. */
const PAGE = 64;

/** tonlib on the blocks of a chain: head, look-ups, shards, headers, transactions, signatures, proofs. */
export async function checkBlocks(tonlib: TonlibSession, truth: ChainTruth, report: CheckReport): Promise<void> {
  const { head, masterchain, shards } = truth;
  const blocks = [...spreadOver(masterchain, SAMPLE), ...spreadOver(shards, SAMPLE)];
  const state_root_hash = toBase64(truth.states[0]!.root.hash());

  await report.check('head, synchronised from the zerostate by block proofs', async () => {
    expectSame(tonlibId(head.id), await tonlib.ask({ '@type': 'sync' }), 'sync');
    return `block ${head.id.seqno}`;
  });
  await report.check('head: getMasterchainInfo', async () => {
    const info = await tonlib.ask({ '@type': 'blocks.getMasterchainInfo' });
    expectSame(tonlibId(head.id), info.last, 'last');
    expectSame(state_root_hash, info.state_root_hash, 'state_root_hash');
    expectSame(toBase64(truth.zerostateRootHash), (info.init as JsonObject).root_hash, 'init.root_hash');
    return 'last, state and zerostate';
  });
  await report.check('lookupBlock by seqno, lt and time', async () => {
    for (const block of blocks) {
      // By lt or time, tonlib wants to see the header of the block before, which a zerostate has not.
      const found = { 1: block, 2: block, 4: firstOfTime(truth, block) } as const;
      for (const mode of [1, 2, 4] as const) {
        const expected = found[mode];
        if (mode !== 1 && expected.id.seqno === 1) continue;
        const { workchain, shard, seqno } = tonlibId(block.id);
        const id = { '@type': 'ton.blockId', workchain, shard, seqno };
        const request = { '@type': 'blocks.lookupBlock', mode, id, lt: `${block.end_lt}`, utime: block.gen_utime };
        expectSame(tonlibId(expected.id), await tonlib.ask(request), `block ${workchain},${seqno} by mode ${mode}`);
      }
    }
    return `${blocks.length} blocks each`;
  });
  await report.check('shards of masterchain blocks', async () => {
    for (const block of spreadOver(masterchain, SAMPLE)) {
      const answer = await tonlib.ask({ '@type': 'blocks.getShards', id: tonlibId(block.id) });
      const expected = { '@type': 'blocks.shards', shards: block.tops.map(tonlibId) };
      expectSame(expected, answer, `block ${block.id.seqno}`);
    }
    return `of ${Math.min(SAMPLE, masterchain.length)} blocks`;
  });
  await report.check('block headers', async () => {
    for (const block of blocks) {
      const found = await tonlib.ask({ '@type': 'blocks.getBlockHeader', id: tonlibId(block.id) });
      const { id, gen_utime, start_lt, end_lt, is_key_block } = found;
      const expected = {
        id: tonlibId(block.id),
        gen_utime: block.gen_utime,
        start_lt: `${block.start_lt}`,
        end_lt: `${block.end_lt}`,
        is_key_block: block.key_block,
      };
      expectSame(expected, { id, gen_utime, start_lt, end_lt, is_key_block } as JsonObject, `block ${block.id.seqno}`);
    }
    return `of ${blocks.length} blocks`;
  });
  for (const type of ['blocks.getTransactions', 'blocks.getTransactionsExt'] as const) {
    await report.check(`transactions of blocks: ${type}`, async () => {
      let count = 0;
      const densest = [...masterchain, ...shards].sort((a, b) => b.transactions.length - a.transactions.length);
      const chosen = new Set([...blocks, ...densest.slice(0, DENSEST)]);
      for (const block of chosen) count += await checkTransactions(tonlib, block, type);
      return `${count} transactions of ${chosen.size} blocks`;
    });
  }
  await report.check('signatures of masterchain blocks', async () => {
    // The function takes the validators from the block before, which the zerostate is for the first one.
    const signed = masterchain.filter(({ id, signatures }) => id.seqno > 1 && signatures !== null);
    for (const { id, signatures } of spreadOver(signed, SAMPLE)) {
      const answer = await tonlib.ask({ '@type': 'blocks.getMasterchainBlockSignatures', seqno: id.seqno });
      const expected = signatures!.signatures.map(({ node_id_short, signature }) => ({
        '@type': 'blocks.signature',
        node_id_short: toBase64(node_id_short),
        signature: toBase64(signature),
      }));
      expectSame(expected, answer.signatures, `block ${id.seqno}`);
    }
    return `of ${Math.min(SAMPLE, signed.length)} blocks`;
  });
  await report.check('proofs of shard blocks, from the head', async () => {
    for (const { id } of spreadOver(shards, SAMPLE)) {
      const request = { '@type': 'blocks.getShardBlockProof', id: tonlibId(id), mode: 0 };
      const answer = await tonlib.ask(request);
      expectSame(tonlibId(head.id), answer.from, `from, for block ${id.seqno}`);
      const links = answer.links as readonly JsonObject[];
      expectSame(tonlibId(id), links.at(-1)?.id, `last link, for block ${id.seqno}`);
      if ((answer.mc_id as JsonObject).seqno !== committing(masterchain, id)) {
        throw new Error(`block ${id.seqno} is proved by another masterchain block than the one that commits it`);
      }
    }
    return `of ${Math.min(SAMPLE, shards.length)} blocks`;
  });
}

/** Seqno of the first masterchain block whose shards reach a block, or stand after it. */
function committing(masterchain: readonly BlockFacts[], id: BlockId): number | undefined {
  const reaches = (top: BlockId): boolean =>
    top.workchain === id.workchain && top.seqno >= id.seqno && overlap(top.shard, id.shard);
  return masterchain.find(({ tops }) => tops.some(reaches))?.id.seqno;
}

function overlap(a: bigint, b: bigint): boolean {
  const low = (shard: bigint): bigint => shard & -shard;
  const mask = -(low(a) > low(b) ? low(a) : low(b)) << 1n;
  return (a & mask) === (b & mask);
}

/** The first block of the same second on the way of the prefix that the shard of a block is, through splits and merges. */
function firstOfTime({ masterchain, shards }: ChainTruth, block: BlockFacts): BlockFacts {
  const chain = block.id.workchain === -1 ? masterchain : shards;
  const same = chain.filter(
    ({ id, gen_utime }) =>
      id.workchain === block.id.workchain && gen_utime === block.gen_utime && shardContains(id.shard, block.id.shard),
  );
  return same.reduce((first, each) => (each.id.seqno < first.id.seqno ? each : first));
}

async function checkTransactions(tonlib: TonlibSession, block: BlockFacts, type: string): Promise<number> {
  let after: JsonObject = { '@type': 'blocks.accountTransactionId', account: toBase64(new Uint8Array(32)), lt: 0 };
  const found: string[] = [];
  const ext = type.endsWith('Ext');
  for (let incomplete = true, mode = 7; incomplete; mode = 7 + 128) {
    const answer = await tonlib.ask({ '@type': type, id: tonlibId(block.id), mode, count: PAGE, after });
    const page = answer.transactions as readonly JsonObject[] | undefined;
    if (page === undefined) throw new Error(`block ${block.id.seqno}: ${JSON.stringify(answer)}`);
    for (const each of page) {
      const { lt, hash } = ext ? (each.transaction_id as JsonObject) : each;
      found.push(`${lt} ${hash}`);
    }
    incomplete = answer.incomplete as boolean;
    const last = block.transactions[found.length - 1];
    if (incomplete && last !== undefined)
      after = { ...after, account: hexToBase64(last.account.split(':')[1]!), lt: `${last.lt}` };
  }
  expectSame(
    block.transactions.map(({ lt, hash }) => `${lt} ${hexToBase64(hash)}`),
    found,
    `block ${block.id.workchain},${block.id.seqno}`,
  );
  return found.length;
}

function hexToBase64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}

/** A block id as tonlib writes it. */
export function tonlibId({ workchain, shard, seqno, root_hash, file_hash }: BlockId) {
  return {
    '@type': 'ton.blockIdExt',
    workchain,
    shard: `${BigInt.asIntN(64, shard)}`,
    seqno,
    root_hash: toBase64(root_hash),
    file_hash: toBase64(file_hash),
  };
}
