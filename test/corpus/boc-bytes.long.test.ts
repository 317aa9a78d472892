import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#formats/cells/boc-parse.js';
import { BLOCK_FILE, type BocOptions, serializeBoc } from '#formats/cells/boc-serialize.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { type ChainEntry, parseChainName, readBytes, readChain, vectorPath } from '#test/support/vector-files.js';

/** Reads a bag, computes all hashes, writes it again; gives the hash of the first root. */
function expectSameBytes(bytes: Uint8Array, options: BocOptions, name: string): string {
  const { roots, table } = parseBoc(bytes);
  table.hashAll();
  const written = serializeBoc(roots, options);
  if (!bytesEqual(written, bytes)) expect(toHex(written), name).toBe(toHex(bytes));
  return toHex(roots[0]!.hash());
}

/** Blocks, with their hashes, and proofs. @returns how many there are of each */
function expectSameChain(entries: Iterable<ChainEntry>): Record<string, number> {
  const counts: Record<string, number> = { block: 0, proof: 0, prooflink: 0 };
  for (const { name, data } of entries) {
    const id = parseChainName(name);
    if (id === null) throw new TypeError(`unknown entry ${name}`);
    counts[id.kind]!++;
    const rootHash = expectSameBytes(data, id.kind === 'block' ? BLOCK_FILE : {}, name);
    if (id.kind !== 'block') continue;
    expect(rootHash, name).toBe(id.rootHash);
    expect(createHash('sha256').update(data).digest('hex'), name).toBe(id.fileHash);
  }
  return counts;
}

describe('cells written again give the bytes of the reference serializer', () => {
  it('blocks 1 to 10 of mainnet, their proofs, and the zerostates', () => {
    expect(expectSameChain(readChain(vectorPath('mainnet-genesis')))).toEqual({ block: 20, proof: 10, prooflink: 10 });
    for (const name of ['zerostate_mc_5E994FCF.boc', 'zerostate_wc0_EE0BEDFE.boc']) {
      const bytes = readBytes(vectorPath(`mainnet-genesis/${name}`));
      const rootHash = expectSameBytes(bytes, BLOCK_FILE, name);
      expect(rootHash.length).toBe(64);
      expect(toHex(createHash('sha256').update(bytes).digest()).slice(0, 8).toUpperCase()).toBe(name.slice(-12, -4));
    }
  });
});

const genesis = vectorPath('collection/mainnet-genesis');
const recorded = vectorPath('collection/recorded-net/chain');
const blocks = vectorPath('collection/mainnet-blocks');
const proofs = vectorPath('collection/mainnet-proofs');

describe('the same, on the collection of real data', () => {
  it('all blocks and proofs of mainnet-genesis', () => {
    expect(expectSameChain(readChain(genesis))).toEqual({ block: 805, proof: 199, prooflink: 606 });
  });

  it('all blocks, proofs and zerostates of recorded-net', () => {
    expect(expectSameChain(readChain(recorded))).toEqual({ block: 2587, proof: 1219, prooflink: 1368 });
    for (const name of ['zerostate-mc.boc', 'zerostate-basechain.boc'])
      expectSameBytes(readBytes(`${recorded}/${name}`), BLOCK_FILE, name);
  });

  it('all of mainnet-blocks', () => {
    const names = readdirSync(blocks).filter((name) => /\.(boc|bin)$/.test(name));
    expect(names.length).toBe(8);
    for (const name of names) expectSameBytes(readBytes(`${blocks}/${name}`), BLOCK_FILE, name);
  });

  it('the blocks of mainnet-proofs (its proofs were written by another serializer)', () => {
    const names = readdirSync(proofs).filter((name) => name.includes('block__'));
    expect(names.length).toBe(21);
    for (const name of names) expectSameBytes(readBytes(`${proofs}/${name}`), BLOCK_FILE, name);
  });
});
