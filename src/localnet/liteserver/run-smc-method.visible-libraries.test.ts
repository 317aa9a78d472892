import { expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { setEntry } from '#formats/cells/dict-edit.js';
import { countEntries, lookup } from '#formats/cells/dict-read.js';
import { SimpleLibs } from '#formats/tlb/account.js';
import { visibleLibraries } from '#localnet/liteserver/run-smc-method.js';

const [shared, own, wrong] = [1, 2, 3].map((value) => new Builder().storeUint(value, 32).endCell()) as [
  Cell,
  Cell,
  Cell,
];
const published = setEntry(null, 256, shared.hash(), new Builder().storeUint(0, 2).storeRef(shared));
const library = SimpleLibs.of([
  [own.hash(), { public: false, root: own }],
  [shared.hash(), { public: true, root: shared }],
  [new Uint8Array(32), { public: true, root: wrong }],
]);

it('contracts find the libraries of their account beside the published ones before global version 15', () => {
  const libraries = visibleLibraries(published, library, 14);
  expect(countEntries(libraries, 256)).toBe(2);
  expect(lookup(libraries, 256, own.hash())?.loadRef().hash()).toEqual(own.hash());
  expect(lookup(libraries, 256, shared.hash())?.remainingBits).toBe(2);
  expect(countEntries(visibleLibraries(null, library, 14), 256)).toBe(2);
});

it('they find published ones only from then on', () => {
  expect(visibleLibraries(published, library, 15)).toBe(published);
  expect(visibleLibraries(null, library, 15)).toBeNull();
});
