import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { TlValue } from '#formats/tl/constructor.js';
import type { liteServerFunctions } from '#formats/tl/generated/lite-server-functions.js';
import type { RunGetMethod } from '#localnet/liteserver/get-methods.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';

/** What handlers answer from. */
export interface LiteContext {
  readonly ledger: Ledger;
  /** Seconds since 1970. */
  readonly unixTime: () => number;
  /** Without it there is no `runSmcMethod`. */
  readonly runGetMethod?: RunGetMethod;
  /** For the seed that get methods find; without it the seed is 0. */
  readonly randomBytes?: RandomBytes;
  /** Takes a message from outside for one of the next blocks. Without it the server is read-only. @throws liteserver/* */
  readonly sendMessage?: (message: Uint8Array) => Promise<void>;
}

type LiteFunction = (typeof liteServerFunctions)[number];

/** Answers a call of one function of the lite API. @throws liteserver/*: what the client is told instead */
export type LiteHandler<F extends LiteFunction = LiteFunction> = (
  args: TlValue<F>,
  context: LiteContext,
) => TlValue<F['result']>;

/** Handlers of some functions, by name. */
export type LiteHandlers<Name extends LiteFunction['name']> = {
  readonly [N in Name]: LiteHandler<Extract<LiteFunction, { readonly name: N }>>;
};
