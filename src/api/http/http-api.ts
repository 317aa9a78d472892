import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AnswerTail, AnyEndpoint, RawParameters } from '#api/http/endpoint.js';
import type { NoSwitches, ParameterSource, RequestSwitches, SwitchValues } from '#api/http/parameters.js';
import type { ReceivedPart } from '#api/http/received-bytes.js';
import type { TernError } from '#kernel/tern-error.js';
import type { StreamLimits } from '#services/access/access.js';

/** The wire profile of a response: that of the published document, or of the live toncenter service. */
export type Profile = 'spec' | 'toncenter';

/**
 * The conventions of an API. `envelope`: `{ok, result}` and `{ok, error, code}`, `@extra`, JSON-RPC, case-sensitive names.
 * `plain`: the result is the body, errors are `{error}`; paths and query names are case-insensitive.
 */
export type StyleName = 'envelope' | 'plain';

/** How recent the data of an API are. */
export interface ApiFreshness {
  /** The newest masterchain block that they include completely; 0 before the first. */
  readonly mcSeqno: number;
  /** How far they are behind the chain; null when unknown. */
  readonly lagMs: number | null;
}

/** Whom a request is for. Of coalesced requests: the first one. */
export interface RequestClient {
  /** Opaque: of the API key, or of the address without one. */
  readonly id: string;
  readonly hasKey: boolean;
  /** Charges what a request to the TVM took: gas, 0 when it is unknown, and CPU milliseconds. */
  readonly onTvmCost: (cost: { readonly gas: number; readonly cpuMs: number }) => void;
}

/** Which data of an API changed, so that answers about the head are kept until what they tell changes. All of it must be fast. */
export interface ChangeLog {
  /** Milliseconds of the clock: until then at least, all changes are known. */
  readonly confirmedAt: number;
  /** Whether nothing with these keys has changed since a version of the data (`HttpApi.headSeqno`). False where it is not known. */
  isUnchanged(keys: readonly string[], since: number): boolean;
}

/** The properties of a request from which an API makes the context of its handlers. */
export interface ApiRequest<Values = SwitchValues<NoSwitches>> {
  /** To be passed to every read: aborted when no client waits for the response any more. */
  readonly read: {
    readonly signal: AbortSignal;
    readonly deadlineMs: number;
    /** Absent in reader threads, which run no contracts. */
    readonly client?: RequestClient;
  };
  /** The profile to write: that of the request where `profiles` is `separate`, else `spec`. */
  readonly profile: Profile;
  /** By the names of `HttpApi.switches`. */
  readonly switches: Values;
  /** The private group of servers that the key opens; null: the public ones. */
  readonly group: string | null;
  /** Adds a header to the response, also when it is served from the cache. Later values replace earlier ones. */
  readonly header: (name: string, value: string) => void;
  /** Reports work beside that which the price of the call stands for, in work units: gas that was used. */
  readonly worked: (units: number) => void;
  /**
   * Says what the rest of the call costs, once that is known, in units of `Endpoint.price`. Throws when `HttpApi.threads` takes
   * calls of that price: the handler lets that error through, and the call begins anew there.
   */
  readonly foresee: (price: number) => void;
  /** Adds to what the answer depends on besides `Endpoint.depends`: what its rows name. */
  readonly dependsOn: (key: string) => void;
  /** Says that the answer is not to be kept: something could not be read now. */
  readonly notKept: () => void;
}

/** Headers of one answer. */
export type AnswerHeaders = readonly (readonly [name: string, value: string])[];

/** A call as another thread needs it: plain values only. */
export interface ThreadCall<Values = SwitchValues<NoSwitches>> {
  /** Name of the endpoint. */
  readonly endpoint: string;
  /** Parameters as they were given; the thread decodes them again. */
  readonly raw: RawParameters;
  readonly source: ParameterSource;
  readonly profile: Profile;
  readonly switches: Values;
  readonly deadlineMs: number;
}

/** The result of a {@link ThreadCall}. */
export interface ThreadAnswer {
  /** JSON in UTF-8. */
  readonly bytes: Uint8Array;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** As by `ApiRequest.dependsOn`. */
  readonly keys?: readonly string[];
  readonly tail?: AnswerTail | null;
  /** Work that the endpoint reported, as of {@link ApiRequest.worked}. */
  readonly worked: number;
  /** Whether it may be kept, as of {@link ApiRequest.notKept}. */
  readonly isKept: boolean;
}

/** Other threads that answer calls, so that large ones do not stall this one. */
export interface CallThreads<Values = SwitchValues<NoSwitches>> {
  /** Whether calls of this endpoint and price are answered there. Must be fast and not throw. */
  takes(endpoint: string, price: number): boolean;
  /** Whether one has room for a smaller call, while this thread works on several. Must be fast and not throw. */
  helps(endpoint: string, price: number): boolean;
  /** @throws what the endpoint throws, and when no thread can take it */
  answer(call: ThreadCall<Values>, caller: ThreadCaller): Promise<ThreadAnswer>;
}

/** For whom another thread answers a call. */
export interface ThreadCaller {
  /** Calls it off. */
  readonly signal: AbortSignal;
  /** Opaque: clients take turns. */
  readonly client: string;
  /** What the call is expected to take, in work units: smaller calls do not wait for large ones. */
  readonly price: number;
  /** Aborted when the caller has stopped waiting and answers by itself: the call is called off, and its thread may take its time. */
  readonly late?: AbortSignal;
}

/** What an error is about. */
export interface FailedRequest {
  readonly profile: Profile;
  readonly method: string;
  /** As the client wrote it, without the query, and without what selects a profile. */
  readonly path: string;
}

/** An API of one network: a prefix with endpoints under it. */
export interface HttpApi<Context, Switches extends RequestSwitches = NoSwitches> {
  /** `/api/v2`. It is also mounted under `/toncenter`, where the profile is `toncenter`. */
  readonly prefix: `/${string}`;
  readonly title: string;
  /** Version of the API in the document: `2.1.1`. */
  readonly version: string;
  readonly description: string;
  /** Default `envelope`. */
  readonly style?: StyleName;
  /** `X-API-Version` of its responses; default: that of the program. */
  readonly apiVersion?: string;
  /**
   * Which pages may call it from a browser. `local`: pages of this machine or of this server, for APIs that change state and
   * need no key. Default `any`.
   */
  readonly pages?: 'any' | 'local';
  /** Who may call it: everybody whom access control lets in, or admin keys only. Default: `all`. */
  readonly clients?: 'all' | 'admin';
  /**
   * What the live service that the `toncenter` profile follows passes over in queries: parameters that are unknown or have no
   * value (API v3), only unknown ones (API v2), or nothing, as there is no such service. Default: unknown and empty ones.
   */
  readonly ignores?: 'unknown-and-empty' | 'unknown' | 'nothing';
  /** Longest path and query, where its lists need more than the server allows otherwise. */
  readonly maxUrlBytes?: number;
  readonly endpoints: readonly AnyEndpoint<Context>[];
  /** The groups of the API reference in order, with a description each. */
  readonly tags?: readonly { readonly name: string; readonly description: string }[];
  /** A JSON file with an answer of each path, as it was recorded, for the reference page. */
  readonly exampleAnswers?: URL;
  /** Names of `@type` in the `toncenter` profile by those of the `spec` profile; other names stay. */
  readonly typeNames?: Readonly<Record<string, string>>;
  /**
   * How a response gets its profile: `renamed` from the `spec` profile by `typeNames`, or `separate`: the handlers write both.
   * Default `renamed`.
   */
  readonly profiles?: 'renamed' | 'separate';
  /** Parameters of all its methods. */
  readonly switches?: Switches;
  /** The deadline that a request sets by its switches, at most that of the server; null: that of the server. */
  deadlineMs?(switches: SwitchValues<Switches>): number | null;
  /** The masterchain seqno whose change invalidates responses of freshness `head`; default: that of the network. Must be fast. */
  headSeqno?(): number;
  /** Which data changed with `headSeqno`. Default: all. */
  readonly changes?: ChangeLog;
  /** Headers of an answer that was kept, as of now: those that tell of the head are written anew. Default: the same. */
  keptHeaders?(headers: AnswerHeaders): AnswerHeaders;
  /** Writes the tail of an answer anew. */
  writeTail?(source: never, context: Context): Promise<{ readonly text: string; readonly keys: readonly string[] }>;
  /**
   * For `X-Tern-Mc-Seqno` and `X-Tern-Lag-Ms` of every response, and for `X-Tern-Min-Seqno`; without it there are none. What is read
   * afterwards is at least as recent. Must be fast and not throw.
   *
   * @param group the private group of servers that the key opens; null: the public ones
   */
  freshness?(group: string | null): ApiFreshness;
  /** Whether it has {@link HttpApi.freshness}, for its document. Default: no. */
  readonly hasFreshness?: boolean;
  /** A request waits for fresher data than {@link HttpApi.freshness} says; called again and again. Must be fast and not throw. */
  hasten?(group: string | null): void;
  /** Status and text of an error where they differ from those of other APIs; null: they do not. Must be fast and not throw. */
  failureText?(error: TernError, request: FailedRequest): { readonly status: number; readonly text: string } | null;
  /** Headers of a response to an error. Must be fast and not throw. */
  failureHeaders?(error: TernError): readonly (readonly [name: string, value: string])[];
  /** Only with the style `plain` and separate `profiles`: their results are sent as they are. */
  readonly threads?: CallThreads<SwitchValues<Switches>>;
  context(request: ApiRequest<SwitchValues<Switches>>): Context;
}

// biome-ignore lint/suspicious/noExplicitAny: the contexts of the APIs of a server have nothing in common
export type AnyHttpApi = HttpApi<any, any>;

/** Whether a network can serve requests, for `/readyz` and the metrics. */
export interface NetworkHealth {
  /** The head is known and not stale. */
  readonly ready: boolean;
  /** The reason if not; null when ready. */
  readonly problem: string | null;
  /** The newest masterchain seqno; 0 before the first. */
  readonly headSeqno: number;
  /** Age of the newest block; null when unknown. */
  readonly headAgeMs: number | null;
  /** Further facts for the health page: servers, how get-methods are run. No secrets: the page is public. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

/** A network behind the server. */
export interface HttpNetwork {
  /** `mainnet`; a label of metrics, and the network of access checks. */
  readonly name: string;
  /** Host names that select it, without port; the first network of the server serves all others. */
  readonly hosts: readonly string[];
  readonly apis: readonly AnyHttpApi[];
  /** Changes when another chain takes the place of this one: no cached response is valid then. Default: it never does. */
  epoch?(): number;
  /** Called for every probe; must be fast. */
  health(): NetworkHealth;
  /** The newest masterchain seqno, 0 when unknown. Its change invalidates responses of freshness `head`, unless the API has its own. */
  headSeqno(): number;
}

/** A body that is not parsed. */
export interface RawBody {
  /** `Content-Type`; null without one. */
  readonly type: string | null;
  readonly bytes: Uint8Array;
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
  /** Of routes that take bytes: the body as it came, until the route's promise is settled; null without one. */
  readonly bytes: RawBody | null;
  /** The address of the client, as limits count it. */
  readonly clientAddress: string;
  readonly network: HttpNetwork;
  /** The private group of servers that the key opens; null: the public ones. */
  readonly group: string | null;
  /** Id of the API key, not the key itself; null without a key. */
  readonly keyId: string | null;
  /** Whether the key opens the admin API. */
  readonly isAdmin: boolean;
  /** Who shares the process with others: the owner of the key, the key, or the address without one. */
  readonly client: string;
  /** Streams that the plan of the client allows; absent: it does not limit them. */
  readonly streams: Partial<StreamLimits> | null;
  /** By the path under `/toncenter`, else by the headers, else that of the server. */
  readonly profile: Profile;
  /** Aborted when the client has gone (http/client-left) and when the server shuts down (http/shutting-down). */
  readonly signal: AbortSignal;
  /**
   * Does work that a client asks for later than by the request itself, such as reading a message of a WebSocket: for its price,
   * and when the client has its turn among all that wait.
   *
   * @param units price in work units
   * @param until ends the waiting in place of `signal`, with its reason
   * @returns what `work` does; rejects with http/work-limit, http/client-left, http/overloaded when there is no room for the body any
   * more, and with what `work` throws
   */
  readonly inTurn: <T>(units: number, work: () => T, until?: AbortSignal) => Promise<T>;
  /**
   * Room for messages that the client sends later, among the bodies of all clients.
   *
   * @param giveUp called with http/overloaded when there is no room for what is held: it must be dropped
   */
  readonly receives: (giveUp: (error: TernError) => void) => ReceivedPart;
  /**
   * Counts work that was done for the client and goes on, such as that of events which it is sent again. Resolves when the budget
   * of the client is not in debt and it is its turn among all requests, or `signal` is aborted.
   *
   * @param units work units that were done
   */
  readonly pace: (units: number) => Promise<void>;
}

/** Answers a {@link RawRequest}, in one of two ways. The headers of all responses (CORS, request id) are added. */
export interface RawReply {
  /**
   * A whole response. `headers` must have `Content-Type`.
   *
   * @throws http/overloaded: it is large, and there is no room for it beside those that wait for their clients
   */
  send(status: number, headers: Readonly<Record<string, string>>, body: string | Uint8Array): void;
  /** Sends the head of a response whose body the route writes itself, with its own flow control, and ends. */
  stream(status: number, headers: Readonly<Record<string, string>>): ServerResponse;
}

/** The connection of a request to upgrade; what `handleUpgrade` of `ws` takes. */
interface RawConnection {
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
  /**
   * The form of errors before the route has answered. Default `envelope`. With `plain`, letter case and a slash at the end of the
   * path are ignored.
   */
  readonly style?: StyleName;
  /** Whether bodies are parsed as JSON or left to the route. Default `json`. */
  readonly bodies?: 'json' | 'bytes';
  /** Must answer. It may resolve before a stream ends; what it throws before it answers becomes an error response. */
  readonly handle?: (request: RawRequest, reply: RawReply) => void | Promise<void>;
  /** Takes over the connection of a WebSocket request. It must close it when `request.signal` is aborted. */
  readonly upgrade?: (request: RawRequest, connection: RawConnection) => void | Promise<void>;
}
