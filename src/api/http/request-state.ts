import type { CompiledEndpoint } from '#api/http/endpoint-calls.js';
import type { Echo } from '#api/http/envelope.js';
import type { HttpNetwork, Profile } from '#api/http/http-api.js';
import type { RawParameters } from '#api/http/query-string.js';

/** What is known of a request to an API; grows as the request is read. */
export class RequestState implements Echo {
  /** A moment of the clock. */
  readonly begun: number;
  readonly network: HttpNetwork;
  readonly prefix: string;
  profile: Profile;
  /** Null: none, or not known yet. */
  endpoint: CompiledEndpoint | null = null;
  query: RawParameters = {};
  extra: string | null = null;
  rpcId: string | null = null;
  group: string | null = null;
  /** Id of the API key, not the key itself. */
  keyId: string | null = null;

  constructor(begun: number, network: HttpNetwork, prefix: string, profile: Profile) {
    this.begun = begun;
    this.network = network;
    this.prefix = prefix;
    this.profile = profile;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null for requests that are not to an API. */
    state: RequestState | null;
  }
}
