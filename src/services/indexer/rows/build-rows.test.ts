import { readFileSync } from 'node:fs';
import { Cell as CoreCell, loadTransaction as loadCoreTransaction } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import { AccountStatusCode } from '#drivers/store/stored-state.js';
import { loadTransaction, TransactionWriter } from '#drivers/store/stored-transaction.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { buildBundleRows, zerostateAccounts } from '#services/indexer/rows/build-rows.js';
import type { BundleRows } from '#services/indexer/rows/bundle-rows.js';
import { bundleOfFile, recordedBundles } from '#test/support/recorded-bundles.js';
import { vectorPath } from '#test/support/vector-files.js';

const basechain = new Uint8Array(readFileSync(vectorPath('examples/basechain-block.boc')));
const masterchain = new Uint8Array(readFileSync(vectorPath('examples/masterchain-block.boc')));
const context = () => ({ globalVersion: () => 9, writer: new TransactionWriter() });

describe('the rows of a masterchain block', () => {
  it.each([
    ['basechain', basechain],
    ['masterchain', masterchain],
  ])('are what @ton/core reads in the transactions of a block of the %s', (_, data) => {
    const { transactions, messages } = buildBundleRows(bundleOfFile(data, 77), context());
    expect(transactions.length).toBeGreaterThan(0);
    for (const [ordinal, row] of transactions.entries()) {
      const cell = loadTransaction(row.boc, () => null);
      const core = loadCoreTransaction(CoreCell.fromBoc(Buffer.from(serializeBoc(cell)))[0]!.beginParse());
      const name = toHex(row.hash);
      expect(row.id, name).toBe((77n << 24n) | BigInt(ordinal));
      expect([row.lt, row.now], name).toEqual([core.lt, core.now]);
      expect(toHex(row.state_hash), name).toBe(toHex(core.stateUpdate.newHash));
      const id = core.address.toString(16).padStart(64, '0');
      const account = addressBytes(Address.ofParts(row.workchain, Uint8Array.from(Buffer.from(id, 'hex'))));
      expect(row.account_key, name).toBe(accountKey(account));
      const sent = messages.filter(({ tx_id, position }) => tx_id === row.id && position > 0);
      expect(sent.length, name).toBe(core.outMessagesCount);
      for (const [at, message] of core.outMessages.values().entries()) {
        const found = sent[at]!;
        expect(found.body_key, name).toBe(hashKey(message.body.hash()));
        const body = message.body.beginParse();
        expect(found.opcode, name).toBe(body.remainingBits >= 32 ? body.loadInt(32) : null);
        const { info } = message;
        if (info.type === 'external-in') throw new TypeError('sent from outside');
        expect([found.created_lt, found.created_at], name).toEqual([info.createdLt, info.createdAt]);
        expect(found.source_key, name).toBe(row.account_key);
        if (info.type !== 'internal') continue;
        const { workChain, hash } = info.dest;
        expect(found.destination_key, name).toBe(accountKey(addressBytes(Address.ofParts(workChain, hash))));
      }
    }
  });

  it('report the block', () => {
    const { blocks } = buildBundleRows(bundleOfFile(masterchain, 77), context());
    const { info, extra, global_id } = decodeCell(Block, parseBocRoot(masterchain));
    const { value } = info;
    expect(blocks).toHaveLength(1);
    expect(blocks[0]).toMatchObject({
      ...{ id: 77n << 24n, workchain: -1, shard: -(2n ** 63n), seqno: value.seq_no, global_id, global_version: 9 },
      ...{ start_lt: value.start_lt, end_lt: value.end_lt, gen_utime: value.gen_utime, master_ref_seqno: null },
      prev_blocks: [-1n, -(2n ** 63n), BigInt(value.seq_no - 1)],
    });
    expect(toHex(blocks[0]!.rand_seed)).toBe(toHex(extra.value.rand_seed));
    expect(blocks[0]!.shard_tops!.length % 3).toBe(0);
    expect(blocks[0]!.shard_tops!.length).toBeGreaterThan(0);
  });

  it('report an account that is nowhere, when the update leaves out all accounts', () => {
    const data = new Uint8Array(readFileSync(vectorPath('localnet/block-of-an-account-that-never-was.boc')));
    const { accounts, transactions, messages } = buildBundleRows(bundleOfFile(data, 77), context());
    expect(transactions.map(({ lt }) => lt)).toEqual([7_882_000_001n]);
    expect(messages.map(({ position }) => position)).toEqual([1]);
    const [account, ...others] = accounts;
    expect(others).toEqual([]);
    expect([toHex(account!.address.subarray(-32)), account!.status, account!.balance, account!.last_trans_lt]).toEqual([
      'c24b9594b72afc44714c557259fd9fd752924228997640fb3f703f15bfead68e',
      AccountStatusCode.nonexist,
      0n,
      7_882_000_001n,
    ]);
  });

  it('are the same each time', () => {
    const bundles = [basechain, masterchain].map((data) => bundleOfFile(data, 77));
    const comparable = ({ transactions, messages, accounts }: BundleRows) => ({
      messages,
      transactions: transactions.map(({ boc, state_after, id }) => [id, toHex(boc), state_after && toHex(state_after)]),
      accounts: accounts.map(({ address, data }) => [toHex(address), data.kind]),
    });
    const warm = new TransactionWriter();
    for (const bundle of bundles) buildBundleRows(bundle, { globalVersion: () => 9, writer: warm });
    for (const bundle of bundles) {
      const again = buildBundleRows(bundle, { globalVersion: () => 9, writer: warm });
      expect(comparable(again)).toEqual(comparable(buildBundleRows(bundle, context())));
    }
  });

  it('of the first blocks of mainnet begin with the accounts of the zerostate', () => {
    const { bundles: rounds, zerostates, globalVersion } = recordedBundles(vectorPath('mainnet-genesis'), 9);
    const writer = new TransactionWriter();
    for (const { id, root } of zerostates) {
      const state = decodeCell(ShardStateUnsplit, root);
      const place = { workchain: id.workchain, gen_utime: state.gen_utime };
      const found = zerostateAccounts(parseBocRoot(serializeBoc(root)), place, writer);
      const expected = [...state.accounts.value];
      expect(found.map(({ state_hash }) => toHex(state_hash))).toEqual(
        expected.map(([, { account }]) => toHex(account.cell.hash())),
      );
      expect(found.every(({ mc_seqno, last_trans_lt }) => mc_seqno === 0 && last_trans_lt === 0n)).toBe(true);
    }
    const rows = rounds.map((bundle) => buildBundleRows(bundle, { globalVersion, writer }));
    expect(rows.map(({ mc_seqno }) => mc_seqno)).toEqual(rounds.map(({ mc_seqno }) => mc_seqno));
    expect(rows.every(({ transactions }) => transactions.length >= 3)).toBe(true);
  });

  it('are refused with a typed error when bytes of the block are damaged', () => {
    const seen = new Set<string>();
    // Without the checksum, which would tell all of it.
    const bare = serializeBoc(parseBocRoot(basechain));
    for (let step = 0; step < 2000; step++) {
      const data = bare.slice();
      const at = (step * 7919) % data.length;
      data[at]! ^= 1 << (step % 8);
      try {
        buildBundleRows({ mc_seqno: 77, blocks: [{ ...bundleOfFile(basechain, 77).blocks[0]!, data }] }, context());
      } catch (error) {
        if (!isTernError(error)) throw error;
        seen.add(error.code);
      }
    }
    expect(seen.size).toBeGreaterThan(5);
  });
});
