/**
 * Cells: bags of cells, slices and builders, dictionaries, Merkle proofs and updates, snake data.
 *
 * @module cells
 */
export { type Boc, type BocHeader, parseBoc, parseBocRoot, wholeCell } from '#formats/cells/boc-parse.js';
export { BLOCK_FILE, type BocOptions, serializeBoc } from '#formats/cells/boc-serialize.js';
export { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
export { Cell, CellType, MAX_BITS, MAX_DEPTH, MAX_REFS } from '#formats/cells/cell.js';
export { type CellColumns, CellTable } from '#formats/cells/cell-table.js';
export {
  type Augmentation,
  type AugmentedRoot,
  buildAugmentedDictionary,
  buildDictionary,
  checkDictionary,
  type DictInput,
  type DictionaryCheckOptions,
  type DictValue,
} from '#formats/cells/dict-build.js';
export {
  type Deleted,
  deleteAugmentedEntry,
  deleteEntry,
  mergeAugmentedDictionaries,
  mergeDictionaries,
  type SetMode,
  setAugmentedEntry,
  setEntry,
  splitAugmentedDictionary,
  splitDictionary,
} from '#formats/cells/dict-edit.js';
export {
  type BitStringEntry,
  type BitStringInput,
  buildPrefixDictionary,
  iteratePrefixEntries,
  lookupExactPrefix,
  lookupPrefix,
} from '#formats/cells/dict-prefix.js';
export {
  countEntries,
  type DictEntry,
  forEachEntry,
  type IterateOptions,
  iterateEntries,
  lookup,
  lookupNearest,
  maxEntry,
  minEntry,
  type NearestOptions,
  type VisitBudget,
  type WalkOptions,
} from '#formats/cells/dict-read.js';
export { crc32c, sha256 } from '#formats/cells/digests.js';
export { cellsErrors } from '#formats/cells/errors.js';
export {
  combineMerkleProofs,
  createMerkleProof,
  openMerkleProof,
  type ProofFilter,
  UsageTracker,
} from '#formats/cells/merkle-proof.js';
export {
  applyMerkleUpdate,
  createMerkleUpdate,
  type MerkleUpdate,
  readMerkleUpdate,
} from '#formats/cells/merkle-update.js';
export { openCell, openExotic, Slice } from '#formats/cells/slice.js';
export {
  loadChunkedBytes,
  loadContentBytes,
  loadSnakeBytes,
  loadSnakeText,
  type SnakeOptions,
  storeChunkedBytes,
  storeSnakeBytes,
  storeSnakeText,
} from '#formats/cells/snake.js';
export { BitString, fromBase64, fromHex, toBase64, toBase64Url, toHex } from '#kernel/bytes.js';
export * from '#kernel/tern-error.js';
