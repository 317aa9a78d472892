import type { AnyEndpoint } from '#api/http/endpoint.js';

/** Which of two wire dialects an answer is written in: the published document's, or that of the live toncenter service. */
export type Profile = 'spec' | 'toncenter';

/** What an API is told about a request when it makes the context of its handlers. */
export interface ApiRequest {
  /** To be passed on to every read: aborted when nobody waits for the answer any more. */
  readonly read: { readonly signal: AbortSignal; readonly deadlineMs: number };
  /** The private group of servers that the key opens; null: the public ones. */
  readonly group: string | null;
  /** Adds a header to the answer, also when the answer is given again from the cache. Later values replace earlier ones. */
  readonly header: (name: string, value: string) => void;
}

/** An API of one network: a prefix with endpoints under it. */
export interface HttpApi<Context> {
  /** `/api/v2`. It is also mounted under `/toncenter`, where the profile is `toncenter`. */
  readonly prefix: `/${string}`;
  readonly title: string;
  /** Of the API, as the document has it: `2.1.1`. */
  readonly version: string;
  readonly description: string;
  readonly endpoints: readonly AnyEndpoint<Context>[];
  /** The groups of the API reference, in its order, with a line about each. */
  readonly tags?: readonly { readonly name: string; readonly description: string }[];
  /** What a `@type` of the `spec` profile is called in the `toncenter` profile; names that are not here stay. */
  readonly typeNames?: Readonly<Record<string, string>>;
  context(request: ApiRequest): Context;
}

// biome-ignore lint/suspicious/noExplicitAny: the contexts of the APIs of a server have nothing in common
export type AnyHttpApi = HttpApi<any>;

/** Whether a network can answer; what `/readyz` and the metrics tell. */
export interface NetworkHealth {
  /** The head is known and not stale. */
  readonly ready: boolean;
  /** Why not, in words; null when ready. */
  readonly problem: string | null;
  /** The newest masterchain seqno; 0 before the first. */
  readonly headSeqno: number;
  /** Since the newest block was made; null when not known. */
  readonly headAgeMs: number | null;
  /** Further facts for the health page: servers, how get-methods are run. No secrets: the page is public. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

/** A network behind the server. */
export interface HttpNetwork {
  /** `mainnet`; a label of metrics, and what access is asked about. */
  readonly name: string;
  /** Host names that select it, without port; the first network of the server is for all others. */
  readonly hosts: readonly string[];
  readonly apis: readonly AnyHttpApi[];
  /** Must be quick: it is asked for every probe. */
  health(): NetworkHealth;
  /** The newest masterchain seqno, 0 when not known. Answers of freshness `head` hold until it changes. */
  headSeqno(): number;
}
