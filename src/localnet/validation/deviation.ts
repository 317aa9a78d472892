/**
 * Something in a block that no rule of a network brings about: what a developer did to the chain from outside.
 *
 * - `account-set`: a transaction without a message changed an account
 * - `account-import`: an account came with its state, without a transaction
 * - `message-injected`: a message came in that no queue held
 * - `library-published`: a library was published without an account
 */
export interface Deviation {
  readonly kind: 'account-set' | 'account-import' | 'message-injected' | 'library-published';
  /** `(0,8000000000000000,12)` */
  readonly block: string;
  /** Hex of the account's id, or of the hash of the message or library. */
  readonly subject: string;
}
