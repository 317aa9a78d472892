import { defineErrors } from '#kernel/tern-error.js';

/** Errors of reading and writing TL-B structures. `bit` is an offset in the cell at hand; the error's path names the field. */
export const tlbErrors = defineErrors('tlb', {
  'constructor-tag': {
    class: 'caller',
    message: (d: { bit: number; type: string; found: string; wanted: string }) =>
      `${d.type} starts with ${d.wanted}, but at bit ${d.bit} there is ${d.found}`,
    remedy: 'The cell is damaged or of another type; `tern decode` tells what it is.',
  },
  constraint: {
    class: 'caller',
    message: (d: { bit: number; value: string; rule: string }) =>
      `${d.value} at bit ${d.bit} breaks the rule ${d.rule}`,
    remedy: 'The cell is damaged or of another type.',
  },
  'field-presence': {
    class: 'caller',
    message: (d: { field: string; present: boolean }) =>
      d.present
        ? `${d.field} is given, but the fields before it say that it is absent`
        : `${d.field} is missing, but the fields before it say that it is there`,
    remedy: 'Make the optional field agree with the flag that announces it.',
  },
  'unknown-variant': {
    class: 'caller',
    message: (d: { type: string; kind: string; allowed: string }) =>
      `${d.type} has no constructor ${d.kind}; it has ${d.allowed}`,
    remedy: 'Set `kind` to one of the constructors of the type.',
  },
  'vm-size': {
    class: 'caller',
    message: (d: { limit: number }) =>
      `the value of the virtual machine repeats its parts so often that it has more than ${d.limit} of them`,
    remedy: 'Ask the contract for less at a time; a value that shares its parts to this extent is of no honest use.',
  },
  'vm-nesting': {
    class: 'caller',
    message: (d: { limit: number }) => `continuations hold stacks that hold continuations, more than ${d.limit} deep`,
    remedy: 'The value is hostile or damaged; no contract needs such a continuation.',
  },
  'not-external': {
    class: 'caller',
    message: (d: { kind: string }) => `it is not an external message (ext_in_msg_info$10), but one of kind ${d.kind}`,
    remedy: 'Give a message as a wallet makes it to be sent: with the header that begins with ext_in_msg_info$10.',
  },
  'schema-mismatch': {
    class: 'internal',
    message: (d: { schema: string; declared: string; quoted: string }) =>
      `the fields [${d.declared}] are not those [${d.quoted}] of: ${d.schema}`,
    remedy: 'Correct the declaration of the codec, or the schema line that it quotes.',
  },
  'shard-id': {
    class: 'caller',
    message: (d: { shard: string; problem: string }) => `shard ${d.shard} ${d.problem}`,
    remedy: 'Give the shard as 16 hex digits: its prefix, a 1 bit, zeros; 8000000000000000 is a whole workchain.',
  },
  'shard-depth': {
    class: 'caller',
    message: (d: { limit: number }) => `a tree of shards is deeper than ${d.limit}`,
    remedy: 'The cell is damaged or of another type.',
  },
});
