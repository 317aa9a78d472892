import { describe, expect, it } from 'vitest';
import { readArchivePack, writeArchivePack } from '#test/support/archive-pack.js';
import { parseChainName, readBytes, vectorPath } from '#test/support/vector-files.js';

const entries = [
  { name: 'first', data: new Uint8Array([1, 2, 3]) },
  { name: '', data: new Uint8Array(0) },
  { name: 'blöck', data: new Uint8Array(300).fill(7) },
];

describe('an archive pack', () => {
  it('gives what was put in', () => {
    expect([...readArchivePack(writeArchivePack(entries))]).toEqual(entries);
    expect([...readArchivePack(writeArchivePack([]))]).toEqual([]);
  });

  it('of a node is read and written byte for byte', () => {
    const bytes = readBytes(vectorPath('mainnet-genesis/blocks-1-10.pack'));
    const all = [...readArchivePack(bytes)];
    expect(all.length).toBe(40);
    expect(Buffer.compare(writeArchivePack(all), bytes)).toBe(0);
    const names = all.map((entry) => parseChainName(entry.name));
    expect(names.filter((name) => name?.kind === 'block').length).toBe(20);
    expect(names[0]).toEqual({
      kind: 'proof',
      workchain: -1,
      shard: '8000000000000000',
      seqno: 1,
      rootHash: 'f0662186b8a077c0b0646ad14f9f62ba52c372089362ebce033149c6e81cd13b',
      fileHash: '57e5f3ca4130ba7e3278f6610043d993bed16cc7cc3a04bf4b81a226448a63ab',
    });
  });

  it('with a torn end or wrong bytes says where', () => {
    const bytes = writeArchivePack(entries);
    const second = 4 + 8 + 5 + 3;
    for (let length = 5; length < bytes.length; length++) {
      if (length === second || length === second + 8) continue; // whole entries
      expect(() => [...readArchivePack(bytes.subarray(0, length))], `${length} bytes`).toThrow(
        /^archive pack: torn: the entry at byte \d+/,
      );
    }
    expect(() => [...readArchivePack(bytes.subarray(0, 3))]).toThrow('does not start with');
    expect(() => [...readArchivePack(bytes.subarray(1))]).toThrow('does not start with');
    const damaged = bytes.slice();
    damaged[second] = 0;
    expect(() => [...readArchivePack(damaged)]).toThrow(`entry at byte ${second} starts with 1e00`);
  });

  it('has names that report the block', () => {
    expect(parseChainName('something else')).toBeNull();
    const hash = 'AB'.repeat(32);
    expect(parseChainName(`prooflink_(0,E000000000000000,95):${hash}:${hash}`)).toEqual({
      kind: 'prooflink',
      workchain: 0,
      shard: 'e000000000000000',
      seqno: 95,
      rootHash: hash.toLowerCase(),
      fileHash: hash.toLowerCase(),
    });
  });
});
