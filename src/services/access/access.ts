/** What a request asks to be let in with. */
export interface AccessQuestion {
  /** The API key as the request gave it, unchecked; `null` when it gave none. */
  readonly key: string | null;
  /** The address of the client, IPv4 or IPv6 as text. */
  readonly clientAddress: string;
  /** The name of the network the request is for, as `mainnet`. */
  readonly network: string;
}

/** What became of it. */
export type AccessAnswer =
  | {
      readonly kind: 'allowed';
      /** The name of the plan that counted the request. */
      readonly plan: string;
      /** The id of the key, never the key itself; `null` without one. */
      readonly key: string | null;
      /** The private liteserver group that the plan opens. */
      readonly group: string | null;
    }
  | { readonly kind: 'unknown-key' }
  | { readonly kind: 'network-not-allowed' }
  | {
      readonly kind: 'limited';
      /** Milliseconds until the same request would pass. */
      readonly retryAfterMs: number;
      /** Which limit it was, in words: `10 requests per second`. */
      readonly limit: string;
    };

/** Who may ask, and how often. Answers at once when it needs nothing but memory. */
export interface Access {
  ask(question: AccessQuestion): AccessAnswer | Promise<AccessAnswer>;
}
