import { defineErrors } from '#kernel/tern-error.js';

/** Errors of decoding and encoding TL. `byte` is an offset in the current bytes; the error's path names the field. */
export const tlErrors = defineErrors('tl', {
  underflow: {
    class: 'caller',
    message: (d: { byte: number; wanted: number; left: number }) =>
      `${d.wanted} bytes requested at byte ${d.byte}, ${d.left} left`,
    remedy: 'The bytes are truncated or of another type.',
  },
  'left-over': {
    class: 'caller',
    message: (d: { byte: number; left: number }) => `the value ends at byte ${d.byte}, but ${d.left} more bytes follow`,
    remedy: 'The bytes are of another type, or something was appended to them.',
  },
  'unknown-constructor': {
    class: 'caller',
    message: (d: { byte: number; found: string; wanted: string }) =>
      `constructor ${d.found} at byte ${d.byte} is not ${d.wanted}`,
    remedy: 'The bytes are of another type, or use a newer version of the schema.',
  },
  'vector-length': {
    class: 'caller',
    message: (d: { byte: number; count: number; left: number }) =>
      `a vector of ${d.count} items at byte ${d.byte} cannot fit into the remaining ${d.left} bytes`,
    remedy: 'The bytes are damaged or of another type.',
  },
  'negative-number': {
    class: 'caller',
    message: (d: { byte: number; value: number }) => `a # at byte ${d.byte} is ${d.value}; it must not be negative`,
    remedy: 'Flags and counts have 31 bits in TL; keep the highest bit clear.',
  },
  'value-range': {
    class: 'caller',
    message: (d: { type: string; value: string }) => `${d.value} does not fit into TL type ${d.type}`,
    remedy: 'Give a whole number in range: int and long are signed (32 and 64 bits), # has 31 bits.',
  },
  'value-length': {
    class: 'caller',
    message: (d: { type: string; wanted: number; found: number }) =>
      `TL type ${d.type} has ${d.wanted} bytes, not ${d.found}`,
    remedy: 'Give as many bytes as the type has.',
  },
  'field-presence': {
    class: 'caller',
    message: (d: { type: string; field: string; flag: string; present: boolean }) =>
      d.present
        ? `${d.field} of ${d.type} is present, but ${d.flag} is not set`
        : `${d.field} of ${d.type} is missing, but ${d.flag} is set`,
    remedy: 'Make the optional field agree with its flag.',
  },
  'unknown-variant': {
    class: 'caller',
    message: (d: { type: string; kind: string; allowed: string }) =>
      `${d.type} has no constructor ${d.kind}; it has ${d.allowed}`,
    remedy: 'Set `kind` to one of the constructors of the type.',
  },
  'schema-line': {
    class: 'internal',
    message: (d: { line: string; problem: string }) => `${d.problem} in the TL line: ${d.line}`,
    remedy: 'Correct the line that the codec quotes from schemas/*.tl, or pass the types that it refers to.',
  },
});
