/**
 * Verification of liteserver answers, from a trusted block to the value: blocks, states, accounts, transactions, config.
 *
 * @module proofs
 */
export * from '#formats/proofs/account.js';
export * from '#formats/proofs/block-header.js';
export * from '#formats/proofs/block-id.js';
export * from '#formats/proofs/block-proof.js';
export { proofsErrors } from '#formats/proofs/errors.js';
export * from '#formats/proofs/shard-block.js';
export * from '#formats/proofs/shard-state.js';
export * from '#formats/proofs/signatures.js';
export * from '#formats/proofs/transactions.js';
export * from '#formats/proofs/validators.js';
export * from '#kernel/tern-error.js';
