/**
 * Message bodies: the name of an opcode, and a body as JSON.
 *
 * @module bodies
 */
export type { DecodedObject, DecodedValue } from '#domain/message-bodies/body-cursor.js';
export {
  type DecodedMessageBody,
  decodeMessageBody,
  decodeMessageBodyText,
  opcodeName,
  parseOpcode,
} from '#domain/message-bodies/decode-message-body.js';
export { messageBodyErrors } from '#domain/message-bodies/errors.js';
export * from '#kernel/tern-error.js';
