import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import { openMerkleProof } from '#formats/cells/merkle-proof.js';
import { verifyLibraries } from '#formats/proofs/shard-state.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { decodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { bytesKey, Dictionary } from '#formats/tlb/codec/dictionary.js';
import { unit } from '#formats/tlb/codec/primitives.js';
import { type LibDescr, ShardStateTotals, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { libraryHandlers } from '#localnet/liteserver/masterchain-state.js';
import { blockAt, contextOf, genesisLedger, withStates } from '#test/support/genesis-ledger.js';

const { 'liteServer.getLibraries': getLibraries, 'liteServer.getLibrariesWithProof': getWithProof } = libraryHandlers;
const plain = genesisLedger();
const block = blockAt(plain, 5);
const id = blockIdToTl(block.id);

const keyOf = (number: number): Uint8Array => new Uint8Array(32).fill(number + 1);
const cells = Array.from({ length: 20 }, (_, i) =>
  new Builder().storeUint(i, 32).storeRef(new Builder().storeUint(i, 8).endCell()).endCell(),
);
const hashes = cells.map((cell) => cell.hash().slice());

/** Twenty libraries, each published by twenty accounts. */
const ledger = withStates(plain, (state) => {
  const publishers = Dictionary.of(
    { key: bytesKey(32), value: unit },
    Array.from({ length: 20 }, (_, i) => [keyOf(i), null]),
  );
  const totals = state.totals.value;
  const entries = cells.map(
    (lib, i) => [hashes[i]!, { kind: 'shared_lib_descr', lib, publishers } as unknown as LibDescr] as const,
  );
  const libraries = Dictionary.of(totals.libraries.type, entries);
  return { ...state, totals: Lazy.ofValue(ShardStateTotals, { ...totals, libraries }) };
});
const context = contextOf(ledger);

describe('libraries', () => {
  it('are given by hash, sorted and each once, and at most 16', () => {
    const library_list = [hashes[3]!, new Uint8Array(32), hashes[1]!, hashes[3]!];
    const { result } = getLibraries({ library_list }, context);
    const wanted = [hashes[1]!, hashes[3]!].map(toHex).sort();
    expect(result.map(({ hash }) => toHex(hash))).toEqual(wanted);
    for (const { hash, data } of result) expect(parseBocRoot(data).hash()).toEqual(hash);
    expect(getLibraries({ library_list: hashes }, context).result).toHaveLength(16);
  });

  it('are proven absent', () => {
    const answer = getWithProof({ id, mode: 0, library_list: [hashes[0]!] }, contextOf(plain));
    expect(verifyLibraries(block.id, [hashes[0]!], answer)).toEqual([]);
  });

  it('come with more or less as the mode says', () => {
    const ask = (mode: number) => getWithProof({ id, mode, library_list: [hashes[2]!] }, context);
    expect(ask(0).result[0]!.data.length).toBeGreaterThan(0);
    expect(ask(2).result[0]!.data).toHaveLength(0);
    expect(ask(1).data_proof.length).toBeGreaterThan(ask(0).data_proof.length);
    const state = decodeCell(ShardStateUnsplit, openMerkleProof(parseBocRoot(ask(1).data_proof)));
    const shown = [...state.totals.value.libraries.get(hashes[2]!)!.publishers.entries({ pruned: 'skip' })];
    expect(shown.length).toBeGreaterThanOrEqual(15);
    expect(shown.length).toBeLessThan(20);
  });
});
