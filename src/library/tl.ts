/**
 * TL: the types and functions of the lite API and of ADNL, and the means to declare further types.
 *
 * @module tl
 */
export * from '#formats/tl/adnl.js';
export * from '#formats/tl/block-id.js';
export * from '#formats/tl/consensus.js';
export {
  type Boxed,
  decodeBoxed,
  decodeOne,
  encodeBoxed,
  type TlConstructor,
  type TlFunction,
  type TlUnion,
  type TlValue,
} from '#formats/tl/constructor.js';
export { tlErrors } from '#formats/tl/errors.js';
export * from '#formats/tl/lite-api.js';
export * from '#formats/tl/lite-query.js';
export { tlFunction, tlRecord, tlUnion, tlVariant } from '#formats/tl/schema-line.js';
export { TlReader } from '#formats/tl/tl-reader.js';
export { TlWriter } from '#formats/tl/tl-writer.js';
export * from '#kernel/tern-error.js';
