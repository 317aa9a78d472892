import { defineErrors } from '#kernel/tern-error.js';

/** Errors of decoding and encoding TL-B structures. `bit` is an offset in the current cell; the error's path names the field. */
export const tlbErrors = defineErrors('tlb', {
  'constructor-tag': {
    class: 'caller',
    message: (d: { bit: number; type: string; found: string; wanted: string }) =>
      `${d.type} starts with ${d.wanted}, but bit ${d.bit} has ${d.found}`,
    remedy: 'The cell is damaged or of another type; `tern decode` detects its type.',
  },
  constraint: {
    class: 'caller',
    message: (d: { bit: number; value: string; rule: string }) =>
      `${d.value} at bit ${d.bit} violates the constraint ${d.rule}`,
    remedy: 'The cell is damaged or of another type.',
  },
  'field-presence': {
    class: 'caller',
    message: (d: { field: string; present: boolean }) =>
      d.present
        ? `${d.field} is present, but earlier fields declare it absent`
        : `${d.field} is missing, but earlier fields declare it present`,
    remedy: 'Make the optional field agree with its flag.',
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
      `the TVM value expands to more than ${d.limit} parts because it repeats shared cells`,
    remedy: 'Request less data at a time from the contract; legitimate values do not share cells to this extent.',
  },
  'vm-nesting': {
    class: 'caller',
    message: (d: { limit: number }) => `continuations hold stacks that hold continuations, more than ${d.limit} deep`,
    remedy: 'The value is malicious or damaged; no contract needs such a continuation.',
  },
  'not-external': {
    class: 'caller',
    message: (d: { kind: string }) => `not an external-in message (ext_in_msg_info$10) but ${d.kind}`,
    remedy: 'Give a message as a wallet creates it for sending: its header is ext_in_msg_info$10.',
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
