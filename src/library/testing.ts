/**
 * A local TON network inside a test runner: start, coins, snapshots, time, messages from any address.
 *
 * @module testing
 */
export {
  type AccountChange,
  type BocOrText,
  createNetwork,
  type ImpersonatedMessage,
  type NetworkOptions,
  type SentMessage,
  type TestNetwork,
  type TestWallet,
} from '#app/testing/create-network.js';
