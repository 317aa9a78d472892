import type { ApiStyle, Echo } from '#api/http/api-style.js';
import type { CompiledEndpoint } from '#api/http/endpoint-calls.js';
import type { AnyHttpApi, HttpNetwork, Profile } from '#api/http/http-api.js';
import { NO_SWITCHES, type ReadSwitches } from '#api/http/parameters.js';
import type { RawParameters } from '#api/http/query-string.js';
import {
  type AccessDecision,
  type RateState,
  type StreamLimits,
  unlimitedWork,
  type WorkBudget,
} from '#services/access/access.js';

/** The API of a request. */
type ApiPlace = Pick<RequestState, 'prefix' | 'style' | 'api'>;

/** The state of a request to an API; filled in as the request is read. */
export class RequestState implements Echo {
  /** Time of the clock. */
  readonly begun: number;
  readonly network: HttpNetwork;
  readonly prefix: string;
  readonly style: ApiStyle;
  /** Null: the network has none at the prefix. */
  readonly api: AnyHttpApi | null;
  profile: Profile;
  /** Null: none, or not known yet. */
  endpoint: CompiledEndpoint | null = null;
  /** The name of a raw route. */
  rawName: string | null = null;
  query: RawParameters = {};
  switches: ReadSwitches = NO_SWITCHES;
  /** Names of query parameters that were left out of account. */
  ignored: readonly string[] = [];
  /** The masterchain seqno that the answer has to include; null: any. */
  minSeqno: number | null = null;
  extra: string | null = null;
  rpcId: string | null = null;
  group: string | null = null;
  /** Id of the API key, not the key itself. */
  keyId: string | null = null;
  /** Who shares the process with others; see AccessDecision. */
  client = '';
  work: WorkBudget = unlimitedWork;
  /** Of the plan; null: it does not limit streams. */
  streams: Partial<StreamLimits> | null = null;
  /** How much of its limits on requests is left; null without a limit. */
  rate: RateState | null = null;
  /** Why it is not let in; null: it is. */
  limited: (AccessDecision & { readonly kind: 'limited' }) | null = null;

  constructor(startedAt: number, network: HttpNetwork, place: ApiPlace, profile: Profile) {
    this.begun = startedAt;
    this.network = network;
    this.prefix = place.prefix;
    this.style = place.style;
    this.api = place.api;
    this.profile = profile;
  }

  /** For metrics and logs; null: none, or not known yet. */
  get endpointName(): string | null {
    return this.endpoint?.endpoint.name ?? this.rawName;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null for requests to no API. */
    state: RequestState | null;
  }
}
