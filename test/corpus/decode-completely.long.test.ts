import { describe, expect, it } from 'vitest';
import type { Cell } from '#formats/cells/cell.js';
import { Block, merkleProof } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { decodeConfigParam } from '#formats/tlb/config/config-params.js';
import type { Place } from '#formats/tlb/walk-value.js';
import { toHex } from '#kernel/bytes.js';
import { cellCoverage } from '#test/support/cell-coverage.js';
import {
  blockFiles,
  CORPUS_TYPES,
  type CorpusFile,
  type CorpusKind,
  chainFiles,
  configFiles,
  someFiles,
} from '#test/support/corpus.js';
import { errorOf } from '#test/support/error-code.js';
import { FULL } from '#test/support/full-depth.js';
import { UNTAGGED_BRIDGE } from '#test/support/remake.js';
import {
  MAINNET_ZEROSTATES,
  RECORDED_ZEROSTATES,
  statesOfChain,
  type Zerostates,
} from '#test/support/states-of-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

/** What the schema leaves as a cell though it is known what it holds. */
function known(kind: CorpusKind, place: Place | null, cell: Cell): unknown {
  if (kind === 'block proof' && place?.step === 'root' && place.parent === null)
    return decodeCell(merkleProof(Block), cell);
  if (place?.parent?.step === 'config' && typeof place.key === 'number') {
    if (place.key === 79 && toHex(cell.hash()) === UNTAGGED_BRIDGE) {
      expect(errorOf(() => decodeConfigParam(79, cell)).code).toBe('tlb/constructor-tag');
      return null;
    }
    const param = decodeConfigParam(place.key, cell);
    return param.name === null ? null : param.value;
  }
  return null;
}

/**
 * All that is not described further: code, data and libraries of contracts, bodies of messages, what a vote was cast for
 * (TL bytes in a cell), and parameters of the configuration that the schema does not have.
 */
const OPAQUE =
  /(^|\.)(code|data|library\[\]\.root|libraries\[\]\.lib|body\.value|signatures\.candidate_data|config\.config\[\])$/;

interface Sums {
  files: number;
  cells: number;
  consumed: number;
  opaque: number;
  pruned: number;
}

/** Decodes files whole; each cell must have been read by a decoder, be pruned, or lie in a value named as opaque. */
function decodeAll(files: Iterable<CorpusFile>): Record<string, Sums> {
  const sums: Record<string, Sums> = {};
  for (const { name, kind, root } of files) {
    const found = cellCoverage(CORPUS_TYPES[kind], root, (place, cell) => known(kind, place, cell));
    expect(found.missed, `${name}: cells that no decoder reads`).toEqual([]);
    expect(found.consumed + found.opaque + found.pruned, name).toBe(found.cells);
    for (const path of found.opaquePaths.keys()) expect(path, `${name}: an opaque value`).toMatch(OPAQUE);
    sums[kind] ??= { files: 0, cells: 0, consumed: 0, opaque: 0, pruned: 0 };
    const sum = sums[kind];
    sum.files++;
    for (const count of ['cells', 'consumed', 'opaque', 'pruned'] as const) sum[count] += found[count];
  }
  return sums;
}

/** The last states of both chains, whole. */
function* lastStates(directory: string, zerostates: Zerostates): Generator<CorpusFile> {
  for (const { name, last, root } of statesOfChain(directory, zerostates))
    if (last) yield { name, kind: 'state', root };
}

/** Numbers of files, after printing all numbers. */
function report(set: string, sums: Record<string, Sums>): Record<string, number> {
  for (const [kind, { files, cells, consumed, opaque, pruned }] of Object.entries(sums)) {
    console.info(
      `${set}: ${files} × ${kind}: ${cells} cells = ${consumed} consumed + ${opaque} opaque + ${pruned} pruned`,
    );
  }
  return Object.fromEntries(Object.entries(sums).map(([kind, { files }]) => [kind, files]));
}

describe('every cell is read by a decoder, pruned, or in a value named as opaque', () => {
  it('blocks 1 to 10 of mainnet, their proofs, and the zerostates', () => {
    const sums = decodeAll(chainFiles(vectorPath('mainnet-genesis')));
    expect(report('first blocks', sums)).toEqual({ state: 2, block: 20, 'block proof': 20 });
  });

  it('blocks of 2026 with each kind of structure', () => {
    const sums = decodeAll(chainFiles(vectorPath('recorded-net')));
    expect(report('recorded blocks', sums)).toEqual({ block: 20, 'block proof': 2 });
  });
});

const genesis = vectorPath('collection/mainnet-genesis');
const recorded = vectorPath('collection/recorded-net/chain');
const blocks = vectorPath('collection/mainnet-blocks');
const proofs = vectorPath('collection/mainnet-proofs');
const configs = vectorPath('collection/configs');

describe('the same, on the collection of real data', () => {
  it('mainnet-genesis', () => {
    expect(report('mainnet-genesis', decodeAll(chainFiles(genesis)))).toEqual({
      state: 2,
      block: 805,
      'block proof': 805,
    });
  });

  it('recorded-net', () => {
    const counts = report('recorded-net', decodeAll(someFiles(chainFiles(recorded), 5)));
    const some = { state: 1, block: 517, 'block proof': 518 };
    expect(counts).toEqual(FULL ? { state: 2, block: 2587, 'block proof': 2587 } : some);
  });

  it('the states at the end of mainnet-genesis', () => {
    const sums = decodeAll(lastStates(genesis, MAINNET_ZEROSTATES));
    expect(report('end of mainnet-genesis', sums)).toEqual({ state: 2 });
    expect(sums.state?.pruned).toBe(0);
  });

  it('the states at the end of recorded-net', () => {
    const sums = decodeAll(lastStates(recorded, RECORDED_ZEROSTATES));
    expect(report('end of recorded-net', sums)).toEqual({ state: 2 });
    expect(sums.state?.pruned).toBe(0);
  });

  it('mainnet-blocks', () => {
    expect(report('mainnet-blocks', decodeAll(blockFiles(blocks)))).toEqual({ block: 8 });
  });

  it('mainnet-proofs', () => {
    expect(report('mainnet-proofs', decodeAll(blockFiles(proofs)))).toEqual({ block: 21, 'block proof': 21 });
  });

  it('configs', () => {
    expect(report('configs', decodeAll(configFiles(configs)))).toEqual({ 'state proof': 4, 'header proof': 1 });
  });
});
