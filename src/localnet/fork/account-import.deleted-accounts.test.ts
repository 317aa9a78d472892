import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { Address, parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import { DeletedAccounts } from '#localnet/fork/account-import.js';
import type { NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import { onFullDisk } from '#test/support/full-disk.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { parseChainName, readChain, vectorPath } from '#test/support/vector-files.js';

const folder = mkdtempSync(join(tmpdir(), 'tern-gone-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ledger = keptReplay(vectorPath('mainnet-genesis'), { to: 9, head: null });
const blockOf = (seqno: number) => ledger.lookup({ workchain: -1, shard: 1n << 63n, by: 'seqno', seqno })!;

/** Blocks of the basechain in which wallets send all that they have, among many others. */
const chain = fileURLToPath(new URL('../../../vectors/dev-chain', import.meta.url));
const shardBlocks: readonly Cell[] = [...readChain(chain)].flatMap(({ name, data }) => {
  const parsed = parseChainName(name);
  return parsed?.kind === 'block' && parsed.workchain === 0 ? [parseBocRoot(data)] : [];
});

/** A masterchain block with one block of the basechain. */
function roundOf(root: Cell): NewBlockBundle {
  const { id } = blockOf(3);
  const shard = { id: { ...id, workchain: 0 }, root };
  return { shards: [shard], masterchain: blockOf(3) } as unknown as NewBlockBundle;
}

/** By what the transactions say. */
function endedIn(root: Cell): string[] {
  const { account_blocks } = decodeCell(Block, root).extra.value;
  return [...account_blocks.value].flatMap(([id, { transactions }]) => {
    const all = [...transactions].map(([, { value }]) => value);
    const lived = all.some(({ orig_status }) => orig_status !== 'acc_state_nonexist');
    return lived && all.at(-1)!.end_status === 'acc_state_nonexist' ? [Address.ofParts(0, id).toRaw()] : [];
  });
}

const everywhere = () => true;
const address = (byte: number): Address => Address.ofParts(0, new Uint8Array(32).fill(byte));
const lineOf = ({ seqno, root_hash, file_hash }: BlockId, of: Address) =>
  `${seqno} ${toHex(root_hash)} ${toHex(file_hash)} ${of.toRaw()}\n`;

describe('accounts that have ended here', () => {
  it('are those that blocks end, and no others', () => {
    const file = join(folder, 'noted');
    const gone = DeletedAccounts.open(file, everywhere);
    const expected: string[] = [];
    for (const root of shardBlocks) {
      gone.record(roundOf(root));
      expected.push(...endedIn(root));
    }
    expect(expected.length).toBeGreaterThan(0);
    const noted = readFileSync(file, 'latin1').split('\n').slice(0, -1);
    expect(noted.map((line) => line.split(' ')[3])).toEqual(expected);
    expect(new Set(expected.filter((raw) => gone.has(parseAddress(raw).address)))).toEqual(new Set(expected));
  });

  it('are known again after a restart, as far as the chain has the block', () => {
    const file = join(folder, 'again');
    const [kept, lost] = [blockOf(3).id, blockOf(4).id];
    writeFileSync(file, lineOf(kept, address(1)) + lineOf(lost, address(2)));
    const gone = DeletedAccounts.open(file, (id) => id.seqno === 3);
    expect([address(1), address(2), address(3)].map((each) => gone.has(each))).toEqual([true, false, false]);
    const all = DeletedAccounts.open(file, everywhere);
    expect(all.has(address(2))).toBe(true);
  });

  it('are read up to the line that was being written', () => {
    const file = join(folder, 'cut');
    const line = lineOf(blockOf(3).id, address(1));
    writeFileSync(file, line + line.slice(0, 40));
    expect(DeletedAccounts.open(file, everywhere).has(address(1))).toBe(true);
    appendFileSync(file, lineOf(blockOf(4).id, address(2)));
    const gone = DeletedAccounts.open(file, everywhere);
    expect([gone.has(address(1)), gone.has(address(2))]).toEqual([true, true]);
  });

  it('are recorded whole or not at all when the disk is full', () => {
    const root = shardBlocks.find((each) => endedIn(each).length > 0)!;
    for (const [i, before] of ['', lineOf(blockOf(4).id, address(1))].entries()) {
      const file = join(folder, `full ${i}`);
      if (before !== '') writeFileSync(file, before);
      const gone = DeletedAccounts.open(file, everywhere);
      expect(() => onFullDisk({ room: 40 }, () => gone.record(roundOf(root)))).toThrow('ENOSPC');
      const [first] = endedIn(root).map((raw) => parseAddress(raw).address);
      expect([readFileSync(file, 'latin1'), gone.has(first!)]).toEqual([before, false]);
      gone.record(roundOf(root));
      expect(DeletedAccounts.open(file, everywhere).has(first!)).toBe(true);
    }
  });

  it('are not read from a file of another form', () => {
    const file = join(folder, 'damaged');
    for (const line of ['x\n', lineOf(blockOf(3).id, address(1)).replace('0:', '0;'), `3 ${'a'.repeat(64)}\n`]) {
      writeFileSync(file, line);
      expect(() => DeletedAccounts.open(file, everywhere)).toThrow(expect.objectContaining({ code: 'fork/bad-file' }));
    }
  });
});
