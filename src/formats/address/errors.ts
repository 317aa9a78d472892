import { defineErrors } from '#kernel/tern-error.js';

/** Errors of parsing and formatting addresses. Offsets count characters of the text from 0. */
export const addressErrors = defineErrors('address', {
  length: {
    class: 'caller',
    message: (d: { length: number }) =>
      `not an address: ${d.length} characters and no ':'; the user-friendly form has 48 characters`,
    remedy:
      'Give 48 characters of base64 or base64url (EQ…, UQ…), or the raw form WORKCHAIN:HASH with 64 hexadecimal digits. Look for missing characters and surrounding spaces.',
  },
  character: {
    class: 'caller',
    message: (d: { offset: number; character: string; allowed: string }) =>
      `not an address: the character ${JSON.stringify(d.character)} at offset ${d.offset} is not ${d.allowed}`,
    remedy: 'Copy the address again from its source; it contains a character that is not valid at this position.',
  },
  'mixed-alphabets': {
    class: 'caller',
    message: (d: { offset: number; character: string }) =>
      `not an address: ${JSON.stringify(d.character)} at offset ${d.offset} mixes the base64 and base64url alphabets`,
    remedy: "Use either base64 ('+' and '/') or base64url ('-' and '_') for the whole address.",
  },
  checksum: {
    class: 'caller',
    message: (d: { offset: number; stored: string; computed: string }) =>
      `not an address: the checksum at its end is ${d.stored}, but the characters before it have ${d.computed}`,
    remedy: 'The address was mistyped or damaged: copy it again from its source. Do not correct it by hand.',
  },
  tag: {
    class: 'caller',
    message: (d: { offset: number; tag: string }) =>
      `not an address: the first byte is ${d.tag}; known are 11 (bounceable), 51 (non-bounceable), 91 and d1 (the same, testnet only)`,
    remedy: 'The text is well-formed base64 but not an account address; check what it encodes.',
  },
  workchain: {
    class: 'caller',
    message: (d: { offset: number; workchain: string; type: string }) =>
      `the workchain ${d.workchain} is not an ${d.type} in plain decimal notation`,
    remedy:
      'Use 0 (basechain) or -1 (masterchain). The user-friendly form holds -128 to 127 only; use the raw form for others.',
  },
  'hash-length': {
    class: 'caller',
    message: (d: { offset: number; length: number; wanted: string }) =>
      `the hash of an address has ${d.wanted}, not ${d.length}`,
    remedy: 'Give the whole hash: 32 bytes, written with 64 hexadecimal digits.',
  },
  'anycast-depth': {
    class: 'caller',
    message: (d: { depth: number; bits: number }) =>
      `the anycast prefix rewrites ${d.depth} bits of an address that has only ${d.bits}`,
    remedy: 'The address was written by faulty software and is invalid.',
  },
});
