import type { Echo } from '#api/http/envelope.js';
import type { Profile } from '#api/http/http-api.js';
import type { JsonObject } from '#api/http/openapi-schemas.js';
import type { QueryGrammar } from '#api/http/query-grammar.js';

/** An error as it is told to a client. */
export interface Failure {
  readonly text: string;
  /** Of HTTP. */
  readonly status: number;
  readonly profile: Profile;
  /** Whether the client asked too often. */
  readonly isLimit: boolean;
}

/** The manners that APIs of one kind share: how they are spoken to, and what their answers look like. */
export interface ApiStyle {
  readonly query: QueryGrammar;
  /**
   * Letter case and one slash at the end of a path do not count, names of methods may contain slashes, and HEAD is answered
   * where GET is.
   */
  readonly hasLenientPaths: boolean;
  /** `@extra` comes back, and all methods can be called by JSON-RPC. */
  readonly hasRpc: boolean;
  /** Answers say in `Server-Timing` how long the work took. */
  readonly isTimed: boolean;
  /** In the `toncenter` profile, what does not exist and what nodes refuse is 500, unless a method declares another status. */
  readonly concealsAbsence: boolean;
  /** Under the prefix: where the OpenAPI document is. */
  readonly documentNames: readonly string[];
  /** Under the prefix: where the reference page is, beside the prefix itself. */
  readonly pageNames: readonly string[];
  /** What `healthcheck` answers. */
  readonly healthcheck: { readonly type: string; readonly body: string };
  /**
   * The body of a success.
   *
   * @param result JSON text
   * @param stamp makes the `@extra` of an answer whose request gave none
   */
  success(result: string, echo: Echo, stamp: () => string): string;
  /** The body of an error. */
  failure(failure: Failure, echo: Echo, stamp: () => string): string;
  /** What the document calls the body of an error. */
  readonly errorName: string;
  errorSchema(profile: Profile): JsonObject;
  errorExample(text: string, status: number, profile: Profile): JsonObject;
  /** The schema of the body of a success by that of its result. */
  successSchema(result: JsonObject): JsonObject;
}
