/**
 * The structures of block.tlb as typed values: blocks, states, accounts, transactions, messages, config, TVM stacks; and
 * the engine to declare further types.
 *
 * @module tlb
 */
export * from '#formats/tlb/account.js';
export * from '#formats/tlb/block.js';
export * from '#formats/tlb/block-id.js';
export * from '#formats/tlb/block-messages.js';
export * from '#formats/tlb/block-proof.js';
export * from '#formats/tlb/codec/augmented-dictionary.js';
export * from '#formats/tlb/codec/codec.js';
export * from '#formats/tlb/codec/dictionary.js';
export * from '#formats/tlb/codec/primitives.js';
export * from '#formats/tlb/codec/record.js';
export * from '#formats/tlb/config/config-params.js';
export * from '#formats/tlb/config/limits-and-prices.js';
export * from '#formats/tlb/config/network.js';
export * from '#formats/tlb/config/validators.js';
export * from '#formats/tlb/currency.js';
export * from '#formats/tlb/errors.js';
export * from '#formats/tlb/message.js';
export * from '#formats/tlb/msg-address.js';
export * from '#formats/tlb/out-msg-queue.js';
export * from '#formats/tlb/recognize.js';
export * from '#formats/tlb/shard-hashes.js';
export * from '#formats/tlb/shard-state.js';
export * from '#formats/tlb/transaction.js';
export * from '#formats/tlb/vm-stack.js';
export * from '#formats/tlb/walk-value.js';
export * from '#kernel/tern-error.js';
