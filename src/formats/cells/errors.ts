import { defineErrors } from '#kernel/tern-error.js';

/** Errors of reading and writing cells and bags of cells. Offsets of `boc-*` are bytes, of `slice-*` bits of the cell's data. */
export const cellsErrors = defineErrors('cells', {
  'boc-magic': {
    class: 'caller',
    message: (d: { byte: number; found: string }) =>
      `not a bag of cells: starts with ${d.found === '' ? 'nothing' : `bytes ${d.found}`}`,
    remedy: 'Give the bytes of a bag of cells: they start with b5ee9c72, 68ff65f3 or acc3a728.',
  },
  'boc-header': {
    class: 'caller',
    message: (d: { byte: number; field: string; value: number; allowed: string }) =>
      `bag of cells: ${d.field} at byte ${d.byte} is ${d.value}, allowed is ${d.allowed}`,
    remedy: 'The bytes are damaged or not a bag of cells; get them again from their source.',
  },
  'boc-truncated': {
    class: 'caller',
    message: (d: { byte: number; needed: number; length: number }) =>
      `bag of cells: ${d.needed} bytes are needed at byte ${d.byte}, but there are only ${d.length} in all`,
    remedy: 'The bytes end too early; get the whole bag of cells.',
  },
  'boc-trailing-bytes': {
    class: 'caller',
    message: (d: { byte: number; length: number }) =>
      `bag of cells: ends at byte ${d.byte}, but there are ${d.length} bytes`,
    remedy: 'Remove the bytes after the bag of cells, or parse them separately.',
  },
  'boc-crc': {
    class: 'caller',
    message: (d: { byte: number; stored: string; computed: string }) =>
      `bag of cells: checksum at byte ${d.byte} is ${d.stored}, but the checksum of the bytes is ${d.computed}`,
    remedy: 'The bytes were corrupted in transit; get them again from their source.',
  },
  'boc-absent-cells': {
    class: 'caller',
    message: (d: { byte: number; absent: number }) =>
      `bag of cells: ${d.absent} absent cells declared at byte ${d.byte}`,
    remedy: 'A bag with absent cells cannot be parsed on its own; request one that holds all of its cells.',
  },
  'boc-index': {
    class: 'caller',
    message: (d: { byte: number; cell: number; stored: number; actual: number }) =>
      `bag of cells: the index says at byte ${d.byte} that cell ${d.cell} ends at ${d.stored}, but it ends at ${d.actual}`,
    remedy: 'The bytes are damaged; get them again from their source.',
  },
  'boc-reference': {
    class: 'caller',
    message: (d: { byte: number; cell: number; reference: number; cells: number }) =>
      `bag of cells: cell ${d.cell} at byte ${d.byte} refers to cell ${d.reference} of ${d.cells}; references must point to a later cell`,
    remedy: 'The bytes are damaged or were written by a faulty serializer; get them again from their source.',
  },
  'boc-cell': {
    class: 'caller',
    message: (d: { byte: number; cell: number; problem: string }) =>
      `bag of cells: cell ${d.cell} at byte ${d.byte}: ${d.problem}`,
    remedy: 'The bytes are damaged or were written by a faulty serializer; get them again from their source.',
  },
  'boc-roots': {
    class: 'caller',
    message: (d: { byte: number; roots: number; wanted: number }) =>
      `bag of cells has ${d.roots} roots, expected ${d.wanted}`,
    remedy: 'Parse it as a bag with several roots, or give a bag with the expected number of roots.',
  },
  'boc-options': {
    class: 'caller',
    message: (d: { problem: string }) => `cannot write a bag of cells: ${d.problem}`,
    remedy: 'Give at least one root, and enable the index when cache bits are enabled.',
  },
  'cell-overflow': {
    class: 'caller',
    message: (d: { bits: number; refs: number }) =>
      `a cell holds at most 1023 bits and 4 references; this one would hold ${d.bits} bits and ${d.refs} references`,
    remedy: 'Store less in the cell, or move a part of it to a referenced cell.',
  },
  'cell-depth': {
    class: 'caller',
    message: (d: { depth: number }) => `cells are nested ${d.depth} deep; at most 1024 is allowed`,
    remedy: 'Use a flatter tree of cells; no node accepts a deeper one.',
  },
  'cell-exotic': {
    class: 'caller',
    message: (d: { problem: string }) => `malformed exotic cell: ${d.problem}`,
    remedy: 'Check the type byte, the length and the references of the exotic cell.',
  },
  'stored-hash': {
    class: 'caller',
    message: (d: { byte: number; cell: number; stored: string; computed: string }) =>
      `bag of cells: cell ${d.cell} at byte ${d.byte} claims hash or depth ${d.stored}, but has ${d.computed}`,
    remedy: 'The bytes are damaged or forged; get them again from their source.',
  },
  'pruned-branch': {
    class: 'caller',
    message: (d: { hash: string }) => `the cell ${d.hash} is pruned: the proof does not include its content`,
    remedy: 'Request a proof that covers this part, or the whole structure.',
  },
  'exotic-not-expected': {
    class: 'caller',
    message: (d: { hash: string; found: string; wanted: string }) =>
      `the cell ${d.hash} is ${d.found} where ${d.wanted} is expected`,
    remedy:
      'Give the structure itself; a library reference must be resolved and a proof opened before its content can be read.',
  },
  'merkle-level': {
    class: 'caller',
    message: (d: { subject: string; level: number }) =>
      `the ${d.subject} has level ${d.level}: parts of it are pruned by an enclosing proof`,
    remedy: 'Give the whole structure, not a pruned view of it.',
  },
  'merkle-other-root': {
    class: 'caller',
    message: (d: { first: string; second: string }) => `the proofs are of different trees: ${d.first} and ${d.second}`,
    remedy: 'Combine only proofs of the same block or state.',
  },
  'update-old-state': {
    class: 'caller',
    message: (d: { expected: string; found: string }) =>
      `the Merkle update is for the state ${d.expected}, not for ${d.found}`,
    remedy: 'Apply updates in the order of their blocks, each to the state after the previous block.',
  },
  'update-missing-cell': {
    class: 'caller',
    message: (d: { hash: string }) =>
      `the Merkle update reuses the cell ${d.hash}, which its old side does not show in the old state`,
    remedy: 'The update is damaged or forged; get the block again from another source.',
  },
  'update-new-state': {
    class: 'caller',
    message: (d: { expected: string; found: string }) =>
      `the Merkle update yields the state ${d.found}, but declares ${d.expected}`,
    remedy: 'The update is damaged or forged; get the block again from another source.',
  },
  'slice-underflow': {
    class: 'caller',
    message: (d: { bit: number; wanted: number; left: number }) =>
      `${d.wanted} bits requested at bit ${d.bit} of the cell, ${d.left} left`,
    remedy: 'The data is shorter than its type requires: it is damaged or of another type.',
  },
  'slice-no-reference': {
    class: 'caller',
    message: (d: { bit: number; reference: number }) =>
      `reference ${d.reference} requested at bit ${d.bit} of the cell, which has no more`,
    remedy: 'The data has fewer references than its type requires: it is damaged or of another type.',
  },
  'slice-not-empty': {
    class: 'caller',
    message: (d: { bit: number; bits: number; references: number }) =>
      `${d.bits} bits and ${d.references} references are left at bit ${d.bit} of the cell`,
    remedy: 'The data is longer than its type allows: it is damaged or of another type.',
  },
  'value-range': {
    class: 'caller',
    message: (d: { value: string; type: string }) => `${d.value} does not fit ${d.type}`,
    remedy: 'Use a value within the range of the type.',
  },
  'dict-key': {
    class: 'caller',
    message: (d: { keyBits: number; bytes: number }) =>
      `${d.bytes} bytes are not a dictionary key of ${d.keyBits} bits (0 to 1023; in as few bytes as possible, unused bits zero)`,
    remedy:
      'Give the key left-aligned in exactly as many bytes as its bits require, and the key size of the dictionary.',
  },
  'dict-label': {
    class: 'caller',
    message: (d: { bit: number; length: number; left: number }) =>
      `dictionary label at bit ${d.bit} of the cell has ${d.length} bits, but only ${d.left} of the key are left`,
    remedy: 'The data is damaged, is not a dictionary, or has keys of another size.',
  },
  'dict-label-form': {
    class: 'caller',
    message: (d: { hash: string; length: number; left: number }) =>
      `the dictionary node ${d.hash} does not write its label of ${d.length} bits (${d.left} of the key left) in the shortest form`,
    remedy: 'Rebuild the dictionary from its entries; nodes reject this one.',
  },
  'dict-fork': {
    class: 'caller',
    message: (d: { hash: string; bits: number; references: number }) =>
      `the dictionary fork ${d.hash} has ${d.references} references and ${d.bits} bits after its label, where two references and what the type of the dictionary adds are expected`,
    remedy: 'The data is damaged, is not a dictionary, or has keys of another size.',
  },
  'dict-too-large': {
    class: 'caller',
    message: (d: { limit: number }) => `walking the dictionary visits more than ${d.limit} cells`,
    remedy: 'Look up single keys, stop earlier, or raise the limit if the dictionary may be this large.',
  },
  'dict-duplicate-key': {
    class: 'caller',
    message: (d: { key: string }) => `the dictionary key ${d.key} is given twice`,
    remedy: 'Give each key once.',
  },
  'dict-augmentation': {
    class: 'caller',
    message: (d: { hash: string; stored: string; computed: string }) =>
      `the dictionary node ${d.hash} stores the extra ${d.stored}, but ${d.computed} follows from its content`,
    remedy: 'Rebuild the dictionary from its entries; nodes reject this one.',
  },
  'dict-key-prefix': {
    class: 'caller',
    message: (d: { key: string; prefix: string }) =>
      `the prefix dictionary key ${d.prefix} is a prefix of the key ${d.key}`,
    remedy: 'Give a set of keys none of which is a prefix of another.',
  },
  'snake-shape': {
    class: 'caller',
    message: (d: { cell: number; bits: number; references: number }) =>
      `cell ${d.cell} of the chain of data has ${d.bits} bits and ${d.references} references; whole bytes and at most one reference are expected`,
    remedy: 'The data is of another type, or the slice is not positioned at its start.',
  },
  'snake-too-long': {
    class: 'caller',
    message: (d: { limit: number }) => `the data has more than ${d.limit} bytes`,
    remedy: 'Raise the limit if the data may be this long, or store it in parts.',
  },
  'snake-text': {
    class: 'caller',
    message: (d: { bytes: number }) => `the ${d.bytes} bytes are not text in UTF-8`,
    remedy: 'Read them as bytes.',
  },
  'content-tag': {
    class: 'caller',
    message: (d: { bit: number; found: number }) =>
      `content data at bit ${d.bit} of the cell starts with ${d.found}, not with 0 (snake) or 1 (chunked)`,
    remedy: 'The data is damaged or of another type; some contracts omit the tag: read it as snake data.',
  },
});
