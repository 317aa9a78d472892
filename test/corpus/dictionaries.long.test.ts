import { describe, expect, it } from 'vitest';
import { Block } from '#formats/tlb/block.js';
import { decodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { ShardState } from '#formats/tlb/shard-state.js';
import { blockFiles, CORPUS_TYPES, type CorpusFile, chainFiles, configFiles, someFiles } from '#test/support/corpus.js';
import { FULL } from '#test/support/full-depth.js';
import { type RemakeCounts, Remaker } from '#test/support/remake.js';
import {
  MAINNET_ZEROSTATES,
  RECORDED_ZEROSTATES,
  statesOfChain,
  type Zerostates,
} from '#test/support/states-of-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Makes the values of all files again. */
function remakeFiles(files: Iterable<CorpusFile>): RemakeCounts {
  const remaker = new Remaker();
  for (const { name, kind, root } of files) {
    const codec = CORPUS_TYPES[kind];
    remaker.remake(Lazy.ofCell(codec, root), kind === 'block' ? globalVersion(decodeCell(Block, root)) : undefined);
    expect(remaker.failures, name).toEqual([]);
  }
  return remaker.counts;
}

/**
 * Version of the network's rules as far as a block tells: it names that of the software, which is the same or higher. Here
 * it serves: the software of all old blocks is older than the rules that matter.
 */
function globalVersion(block: Block): number {
  return block.info.value.gen_software?.version ?? 0;
}

/** Follows a chain and makes every `stride`-th state again, those after merges, and the last one of each workchain. */
function remakeStates(directory: string, zerostates: Zerostates, stride: number): RemakeCounts {
  const remaker = new Remaker();
  let i = 0;
  for (const { name, link, last, root } of statesOfChain(directory, zerostates)) {
    if (!last && !link.afterMerge && i++ % stride !== 0) continue;
    remaker.remake(Lazy.ofCell(ShardState, root));
    expect(remaker.failures, name).toEqual([]);
  }
  return remaker.counts;
}

/** Prints the counts and gives them back. */
function report(name: string, counts: RemakeCounts): RemakeCounts {
  const { values, dictionaries, augmented, entries, partlyPruned } = counts;
  console.info(
    `${name}: ${values} values encoded; ${dictionaries} dictionaries and ${augmented} augmented ones built, ${entries} entries; ${partlyPruned} left out as partly pruned`,
  );
  for (const count of [values, dictionaries, entries]) expect(count, name).toBeGreaterThan(0);
  return counts;
}

describe('values encoded again and dictionaries built again, extras included, give the same cells', () => {
  it('blocks 1 to 10 of mainnet, their proofs and states', () => {
    const directory = vectorPath('mainnet-genesis');
    report('first blocks', remakeFiles(chainFiles(directory)));
    const states = remakeStates(directory, MAINNET_ZEROSTATES, 1);
    expect(report('states of first blocks', states).partlyPruned).toBe(0);
  });

  it('blocks of 2026 with each kind of structure', () => {
    report('recorded blocks', remakeFiles(chainFiles(vectorPath('recorded-net'))));
  });
});

const genesis = vectorPath('collection/mainnet-genesis');
const recorded = vectorPath('collection/recorded-net/chain');
const blocks = vectorPath('collection/mainnet-blocks');
const proofs = vectorPath('collection/mainnet-proofs');
const configs = vectorPath('collection/configs');

describe('the same, on the collection of real data', () => {
  it('mainnet-genesis', () => {
    report('mainnet-genesis', remakeFiles(chainFiles(genesis)));
    const states = remakeStates(genesis, MAINNET_ZEROSTATES, 1);
    expect(report('states of mainnet-genesis', states).partlyPruned).toBe(0);
  });

  it('recorded-net: blocks and proofs', () => {
    report('recorded-net', remakeFiles(someFiles(chainFiles(recorded), 5)));
  });

  it('recorded-net: states', () => {
    const states = remakeStates(recorded, RECORDED_ZEROSTATES, FULL ? 10 : 80);
    expect(report('states of recorded-net', states).partlyPruned).toBe(0);
  });

  it('mainnet-blocks', () => {
    report('mainnet-blocks', remakeFiles(blockFiles(blocks)));
  });

  it('mainnet-proofs', () => {
    report('mainnet-proofs', remakeFiles(blockFiles(proofs)));
  });

  it('configs', () => {
    report('configs', remakeFiles(configFiles(configs)));
  });
});
