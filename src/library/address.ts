/**
 * Account addresses: raw (`0:83df…`) and user-friendly (`EQ…`).
 *
 * @module address
 */
export { Address, crc16, type FriendlyFormat, type ParsedAddress, parseAddress } from '#formats/address/address.js';
export { addressErrors } from '#formats/address/errors.js';
export * from '#kernel/tern-error.js';
