import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import type { NoSwitches, RequestSwitches, SwitchValues } from '#api/http/parameters.js';
import type { RawParameters } from '#api/http/query-string.js';

/** Which of two wire dialects an answer is written in: the published document's, or that of the live toncenter service. */
export type Profile = 'spec' | 'toncenter';

/**
 * How an API is spoken to. `envelope`: `{ok, result}` and `{ok, error, code}`, `@extra`, JSON-RPC, exact names. `plain`: the
 * result is the body, errors are `{error}`; letter case does not count in paths and in the names of a query.
 */
export type StyleName = 'envelope' | 'plain';

/** How new the data of an API are. */
export interface ApiFreshness {
  /** The newest masterchain block that is in them whole; 0 before the first. */
  readonly mcSeqno: number;
  /** How far they are behind the chain; null when not known. */
  readonly lagMs: number | null;
}

/** What an API is told about a request when it makes the context of its handlers. */
export interface ApiRequest<Values = SwitchValues<NoSwitches>> {
  /** To be passed on to every read: aborted when nobody waits for the answer any more. */
  readonly read: { readonly signal: AbortSignal; readonly deadlineMs: number };
  /** What the answer is to be written in: that of the request where `profiles` is `separate`, else `spec`. */
  readonly profile: Profile;
  /** By the names of `HttpApi.switches`. */
  readonly switches: Values;
  /** The private group of servers that the key opens; null: the public ones. */
  readonly group: string | null;
  /** Adds a header to the answer, also when the answer is given again from the cache. Later values replace earlier ones. */
  readonly header: (name: string, value: string) => void;
}

/** An API of one network: a prefix with endpoints under it. */
export interface HttpApi<Context, Switches extends RequestSwitches = NoSwitches> {
  /** `/api/v2`. It is also mounted under `/toncenter`, where the profile is `toncenter`. */
  readonly prefix: `/${string}`;
  readonly title: string;
  /** Of the API, as the document has it: `2.1.1`. */
  readonly version: string;
  readonly description: string;
  /** Default `envelope`. */
  readonly style?: StyleName;
  /** `X-API-Version` of its answers; default: that of the program. */
  readonly apiVersion?: string;
  /**
   * The pages whose scripts may call it, where a browser does: `local`: those that this machine or this very server gave. For
   * APIs that change what is there and ask for no key. Default `any`.
   */
  readonly pages?: 'any' | 'local';
  /** Longest path and query, where its lists need more than the server grants all. */
  readonly maxUrlBytes?: number;
  readonly endpoints: readonly AnyEndpoint<Context>[];
  /** The groups of the API reference, in its order, with a line about each. */
  readonly tags?: readonly { readonly name: string; readonly description: string }[];
  /** What a `@type` of the `spec` profile is called in the `toncenter` profile; names that are not here stay. */
  readonly typeNames?: Readonly<Record<string, string>>;
  /**
   * How an answer comes into the `toncenter` profile: `renamed` from that of the `spec` profile by `typeNames`, or `separate`:
   * the handlers write it. Default `renamed`.
   */
  readonly profiles?: 'renamed' | 'separate';
  /** Parameters that all its methods understand. */
  readonly switches?: Switches;
  /** The time that a request grants by its switches; null: as long as the server does, which is the most in any case. */
  deadlineMs?(switches: SwitchValues<Switches>): number | null;
  /** The masterchain seqno whose change ends answers of freshness `head`; default: that of the network. Quick. */
  headSeqno?(): number;
  /** For `X-Tern-Mc-Seqno` and `X-Tern-Lag-Ms` of every answer; without it there are none. Quick, and must not throw. */
  freshness?(): ApiFreshness;
  context(request: ApiRequest<SwitchValues<Switches>>): Context;
}

// biome-ignore lint/suspicious/noExplicitAny: the contexts of the APIs of a server have nothing in common
export type AnyHttpApi = HttpApi<any, any>;

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
  /** The newest masterchain seqno, 0 when not known. Answers of freshness `head` hold until it changes, unless the API names another. */
  headSeqno(): number;
}

/** A request to a {@link RawRoute}, which has passed limits and access. */
export interface RawRequest {
  readonly id: string;
  readonly method: string;
  /** What follows the path of a route that ends in `*`, percent-decoded: any text, `..` included; else empty. */
  readonly rest: string;
  /** Without `api_key`. */
  readonly query: RawParameters;
  readonly headers: IncomingHttpHeaders;
  /** JSON; undefined without a body. */
  readonly body: unknown;
  /** The address of the client, as limits count it. */
  readonly clientAddress: string;
  readonly network: HttpNetwork;
  /** The private group of servers that the key opens; null: the public ones. */
  readonly group: string | null;
  /** Id of the API key, not the key itself; null without a key. */
  readonly keyId: string | null;
  /** Aborted when the client has gone (http/client-left) and when the server shuts down (http/shutting-down). */
  readonly signal: AbortSignal;
}

/** Answers a {@link RawRequest}, in one of two ways. The headers of all responses (CORS, request id) are added. */
export interface RawReply {
  /** A whole response. `headers` must have `Content-Type`. */
  send(status: number, headers: Readonly<Record<string, string>>, body: string | Uint8Array): void;
  /** Sends the head of a response whose body the route writes itself, with its own flow control, and ends. */
  stream(status: number, headers: Readonly<Record<string, string>>): ServerResponse;
}

/** The connection of a request to upgrade; what `handleUpgrade` of `ws` takes. */
export interface RawConnection {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes of the new protocol that came with the request. */
  readonly head: Buffer;
}

/** A route beside the JSON APIs that writes its responses itself: a stream of events, a WebSocket, files. */
export interface RawRoute {
  /** `/api/streaming/v2/sse`; with `/*` at its end all paths below. */
  readonly path: string;
  /** The label `endpoint` of metrics and logs; the label `api` is the path. */
  readonly name: string;
  readonly verbs: readonly ('GET' | 'POST')[];
  /** The form of errors before the route has answered. Default `envelope`. */
  readonly style?: StyleName;
  /** Must answer. It may resolve before a stream ends; what it throws before it answers becomes an error response. */
  readonly handle?: (request: RawRequest, reply: RawReply) => void | Promise<void>;
  /** Takes over the connection of a WebSocket request. It must close it when `request.signal` is aborted. */
  readonly upgrade?: (request: RawRequest, connection: RawConnection) => void | Promise<void>;
}
