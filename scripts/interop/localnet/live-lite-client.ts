import { Address, Cell, loadTransaction } from '@ton/core';
import { LiteClient, LiteSingleEngine } from 'ton-lite-client';
import type { liteServer_blockLinkBack, tonNode_blockIdExt } from 'ton-lite-client/dist/schema.js';
import schema from 'ton-lite-client/dist/schema.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes.js';
import { transactionsByAccount } from '#test/support/chain-facts.js';
import { type ChainTruth, spreadOver } from '../chain-truth.js';
import type { CheckReport } from '../check-report.js';
import { type ServerConfig, untilReady } from '../lite-client-checks.js';
import { expectSame } from '../same-answer.js';

const WAIT_MS = 10_000;
/** Transactions that are read back of each account. */
const HISTORY = 10;
const PROOFS = 12;

type LiteBlock = Pick<tonNode_blockIdExt, 'workchain' | 'shard' | 'seqno' | 'rootHash' | 'fileHash'>;

/** The npm package ton-lite-client on a chain that goes on: it waits for each block, and reads all of its shards. */
export class LiveLiteClient {
  readonly #engine: LiteSingleEngine;
  readonly #client: LiteClient;
  readonly #addresses: readonly Address[];
  /** Root hash of a block, and its transactions, by seqno of the masterchain block. */
  readonly #seen = new Map<number, readonly string[]>();
  #states = 0;
  #stopped = false;

  /** @param addresses raw */
  constructor({ liteservers: [{ port, id }] }: ServerConfig, addresses: readonly string[]) {
    this.#engine = new LiteSingleEngine({ host: `tcp://127.0.0.1:${port}`, publicKey: Buffer.from(id.key, 'base64') });
    this.#client = new LiteClient({ engine: this.#engine });
    this.#addresses = addresses.map((address) => Address.parse(address));
  }

  async follow(): Promise<void> {
    await untilReady(this.#engine);
    let next = (await this.#client.getMasterchainInfo()).last.seqno + 1;
    while (!this.#stopped) {
      const { last } = await this.#client.getMasterchainInfoExt({ awaitSeqno: next, timeout: WAIT_MS });
      if (last.seqno < next) throw new Error(`waited for block ${next}, and got ${last.seqno}`);
      const address = this.#addresses[next % this.#addresses.length]!;
      await this.#checkState(address, last);
      for (; next <= last.seqno; next++) {
        const { shards } = await this.#client.getFullBlock(next);
        const lines = shards.flatMap(({ rootHash, transactions }) => [
          rootHash.toString('hex'),
          ...transactions.map(({ lt, hash }) => `${lt} ${hash.toString('hex')}`),
        ]);
        this.#seen.set(next, lines);
      }
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  close(): void {
    this.#engine.close();
  }

  /** Compares what was followed with the files, and reads back what they hold. */
  async check(truth: ChainTruth, report: CheckReport): Promise<void> {
    await report.check('ton-lite-client: blocks as they were made', async () => this.#compare(truth));
    await report.check('ton-lite-client: links with proofs from the head back to the first block', () =>
      this.#checkLinks(truth),
    );
    await report.check('ton-lite-client: configuration of the head', async () => {
      const { config, configAddress } = await this.#client.getConfig(liteId(truth.head.id));
      expectSame(toHex(truth.extra.config.config_addr), hex(configAddress), 'address of its contract');
      const expected = [...truth.extra.config.config].map(([index, cell]) => `${index} ${toHex(cell.hash())}`);
      const found = [...config].map(([index, cell]) => `${index} ${cell.hash().toString('hex')}`);
      expectSame(expected.sort(), found.sort(), 'parameters');
      return `${found.length} parameters`;
    });
    await report.check('ton-lite-client: transactions of accounts', () => this.#checkHistories(truth));
  }

  /** Takes the proofs of a state: from the account to its shard's block, and on to the masterchain block. */
  async #checkState(address: Address, last: LiteBlock): Promise<void> {
    const { proof, shardProof, shardBlock, raw } = await this.#client.getAccountState(address, last);
    // The package @ton/core compares the hash in a Merkle proof with that of its tree.
    const roots = Cell.fromBoc(proof).map(({ refs }) => refs[0]!.hash(0).toString('hex'));
    expectSame(shardBlock.rootHash.toString('hex'), roots[0], `the block of the proof of ${address}`);
    if (address.workChain !== -1) {
      const [block] = Cell.fromBoc(shardProof).map(({ refs }) => refs[0]!.hash(0).toString('hex'));
      expectSame(last.rootHash.toString('hex'), block, `the block of the proof of the shard of ${address}`);
    }
    const pruned = await this.#client.getAccountStatePrunned(address, last);
    const state = raw.length === 0 ? undefined : Cell.fromBoc(raw)[0]!.hash().toString('hex');
    expectSame(state, pruned.stateHash?.toString('hex'), `the hash of the state of ${address}`);
    this.#states++;
  }

  #compare({ masterchain, shards }: ChainTruth): string {
    const blocks = new Map([...masterchain, ...shards].map((block) => [toHex(block.id.root_hash), block]));
    let transactions = 0;
    for (const [seqno, found] of this.#seen) {
      const block = masterchain.find(({ id }) => id.seqno === seqno);
      if (block === undefined) throw new Error(`block ${seqno} is not in the files`);
      const expected = [block.id, ...block.tops].flatMap(({ root_hash }) => {
        const list = blocks.get(toHex(root_hash))!.transactions;
        transactions += list.length;
        return [toHex(root_hash), ...list.map(({ lt, hash }) => `${lt} ${hash}`)];
      });
      expectSame(expected.sort(), [...found].sort(), `block ${seqno}`);
    }
    const seqnos = [...this.#seen.keys()];
    const missed = Math.max(...seqnos) - Math.min(...seqnos) + 1 - seqnos.length;
    expectSame(0, missed, 'blocks that were missed');
    return `${seqnos.length} masterchain blocks, ${transactions} transactions, ${this.#states} states with proofs`;
  }

  /** Back to older blocks: it does not know the signatures of today, so forward links are for others. */
  async #checkLinks({ head, masterchain }: ChainTruth): Promise<string> {
    let links = 0;
    for (const { id } of spreadOver(masterchain.slice(0, -1), PROOFS)) {
      let at: LiteBlock = liteId(head.id);
      while (at.seqno !== id.seqno) {
        const proof = await this.#engine.query(schema.Functions.liteServer_getBlockProof, {
          ...{ kind: 'liteServer.getBlockProof', mode: 1 },
          knownBlock: { kind: 'tonNode.blockIdExt', ...at },
          targetBlock: { kind: 'tonNode.blockIdExt', ...liteId(id) },
        });
        if (proof.steps.length === 0) throw new Error(`no links from block ${at.seqno} to ${id.seqno}`);
        for (const step of proof.steps) {
          if (step.kind !== 'liteServer.blockLinkBack') throw new Error(`a link forward, from ${step.from.seqno}`);
          checkLink(step, at);
          at = step.to;
          links++;
        }
      }
      expectSame(toHex(id.root_hash), at.rootHash.toString('hex'), `block ${id.seqno}`);
    }
    return `${links} links`;
  }

  async #checkHistories({ head, masterchain, shards }: ChainTruth): Promise<string> {
    const histories = transactionsByAccount({ masterchain: [head, ...masterchain], shards });
    let count = 0;
    for (const address of this.#addresses) {
      const expected = histories.get(address.toRawString()) ?? [];
      const state = await this.#client.getAccountState(address, liteId(head.id));
      if (state.lastTx === null || expected.length === 0) {
        expectSame([0, '0'], [expected.length, `${state.lastTx?.lt ?? 0}`], `transactions of ${address}`);
        continue;
      }
      const { lt, hash } = state.lastTx;
      const bytes = Buffer.from(hash.toString(16).padStart(64, '0'), 'hex');
      const { transactions } = await this.#client.getAccountTransactions(address, `${lt}`, bytes, HISTORY);
      const found = Cell.fromBoc(transactions).map(
        (cell) => `${loadTransaction(cell.beginParse()).lt} ${cell.hash().toString('hex')}`,
      );
      const wanted = expected.slice(0, HISTORY).map((each) => `${each.lt} ${each.hash}`);
      expectSame(wanted, found, `transactions of ${address}`);
      count += found.length;
    }
    return `${count} of ${this.#addresses.length} accounts, newest first`;
  }
}

function checkLink(link: liteServer_blockLinkBack, from: LiteBlock): void {
  const block = (bag: Buffer): string => Cell.fromBoc(bag)[0]!.refs[0]!.hash(0).toString('hex');
  const name = `the link from block ${link.from.seqno} to ${link.to.seqno}`;
  expectSame(from.rootHash.toString('hex'), link.from.rootHash.toString('hex'), `where ${name} begins`);
  expectSame(hex(link.from.rootHash), block(link.proof), `the block before, of ${name}`);
  expectSame(hex(link.to.rootHash), block(link.destProof), `the block after, of ${name}`);
}

function hex(value: Buffer | bigint): string {
  return typeof value === 'bigint' ? value.toString(16).padStart(64, '0') : value.toString('hex');
}

function liteId({ workchain, shard, seqno, root_hash, file_hash }: BlockId): LiteBlock {
  return {
    ...{ workchain, shard: `${BigInt.asIntN(64, shard)}`, seqno },
    ...{ rootHash: Buffer.from(root_hash), fileHash: Buffer.from(file_hash) },
  };
}
