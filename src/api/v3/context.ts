import { Type } from '@sinclair/typebox';
import type { ApiRequest, Profile } from '#api/http/http-api.js';
import { requestSwitch, type SwitchValues } from '#api/http/parameters.js';
import { AnswerCoverage, coveredEndpointOf } from '#api/v3/coverage.js';
import type { AddressRowReader, FinalTexts } from '#api/v3/kept-texts.js';
import type { IndexCoverage } from '#drivers/store/index-state.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type { IndexReadOptions } from '#drivers/store/read/index-types.js';
import { systemClock } from '#kernel/clock.js';
import { WorkSlices } from '#kernel/work-slices.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadOptions } from '#services/chain/read-context.js';
import type { ContractReads } from '#services/emulation/contract-reads.js';
import type { LookUps } from '#services/lookups/named-contracts.js';
import type { LiveMessages } from '#services/pending/live-messages.js';

/** What most methods of API v3 use of one network: so little that a reader thread has it, too. */
export interface V3Network {
  readonly index: IndexPort;
  /** User-friendly addresses get the testnet flag. */
  readonly isTestnet: boolean;
  /** Absent: nothing that was written is kept. */
  readonly texts?: FinalTexts | undefined;
  readonly addressRows?: AddressRowReader | undefined;
  /** What the index has of its chain; absent: all of it. */
  readonly coverage?: () => IndexCoverage;
  /** Reads from the chain what the index has never seen; absent: nothing can. */
  readonly lookUps?: LookUps;
}

/** What the methods that API v2 has as well use of one network. */
export interface V3ChainNetwork extends V3Network {
  readonly chain: ChainReads;
  readonly contracts: ContractReads;
  /** Traces that are not final yet; absent: this process follows none. */
  readonly pending?: LiveMessages;
}

/** Context of one request that the index answers. */
export interface V3Context {
  readonly network: V3Network;
  /** Timeout and abort signal of the request, for reads of the index. */
  readonly query: IndexReadOptions;
  /** Profile of the answer. */
  readonly profile: Profile;
  readonly switches: SwitchValues<V3Switches>;
  /** What the answer depends on, for `X-Tern-Coverage`. */
  readonly coverage: AnswerCoverage;
  /** Milliseconds that are left for look-ups. */
  readonly lookUpMs: () => number;
  /** Adds a header to the response. */
  readonly header: (name: string, value: string) => void;
  /** Reports work beside that of the price, in work units. */
  readonly worked: (units: number) => void;
  /** Divides what is written without I/O. */
  readonly slices: WorkSlices;
  /**
   * Says what the rest of the call costs, once that is known, in units of `Endpoint.price`. A call that costs more than the
   * main thread may take begins anew in a reader thread.
   *
   * @throws v3/answer-too-large
   */
  readonly foresee: (price: number) => void;
  /** Adds to what the answer depends on (see `answer-keys.ts`) besides the parameters. */
  readonly dependsOn: (key: string) => void;
  /** Says that the answer is not to be kept: something could not be read now. */
  readonly notKept: () => void;
}

/** Context of one request that reads the chain. */
export interface V3ChainContext extends V3Context {
  readonly network: V3ChainNetwork;
  /** Deadline and abort signal of the request, for reads of the chain. */
  readonly read: ReadOptions;
}

/** Makes the context of a request. @param network with as much of the chain as the method needs */
export function v3Context<Network extends V3Network>(
  network: Network,
  request: ApiRequest<SwitchValues<V3Switches>>,
): V3Context & { readonly network: Network; readonly read: ReadOptions } {
  const { read, profile, switches, header, worked, foresee, dependsOn, notKept } = request;
  const timeoutMs = Math.min(switches.timeoutMs ?? DEFAULT_QUERY_TIMEOUT_MS, read.deadlineMs);
  const slices = new WorkSlices(systemClock, read.signal);
  const query = { signal: read.signal, timeoutMs };
  const coverage = new AnswerCoverage(network.coverage?.());
  const lookUpsUntil = systemClock.now() + read.deadlineMs * LOOK_UP_SHARE;
  const lookUpMs = () => Math.max(1, lookUpsUntil - systemClock.now());
  const facts = { coverage, lookUpMs, header, worked, slices, foresee, dependsOn, notKept };
  return { network, read, query, profile, switches, ...facts };
}

/** Declares a method that the index answers. */
export const v3Endpoint = coveredEndpointOf<V3Context>();

/** Declares a method that reads the chain. */
export const v3ChainEndpoint = coveredEndpointOf<V3ChainContext>();

/** The part of the time of a request that look-ups may take. */
const LOOK_UP_SHARE = 0.6;

/** Default timeout of a query of the index, in milliseconds. */
const DEFAULT_QUERY_TIMEOUT_MS = 3_000;

/** Options of all methods, as a header or a query parameter; the header takes precedence. */
export const v3Switches = {
  timeoutMs: requestSwitch({
    header: 'X-Timeout',
    query: 'x_timeout',
    schema: Type.Integer({
      description:
        `Timeout of each query of the index in milliseconds, default ${DEFAULT_QUERY_TIMEOUT_MS}; slower queries are ` +
        'cancelled. The server’s own limit for a request still applies.',
      format: 'int32',
      minimum: 1,
      maximum: 0x7fff_ffff,
    }),
    byDefault: null,
  }),
  noAddressBook: requestSwitch({
    header: 'X-No-Address-Book',
    query: 'x_no_address_book',
    schema: Type.Boolean({ description: 'Leave `address_book` empty, which saves its lookups.' }),
    byDefault: false,
  }),
  noMetadata: requestSwitch({
    header: 'X-No-Metadata',
    query: 'x_no_metadata',
    schema: Type.Boolean({ description: 'Leave `metadata` empty.' }),
    byDefault: false,
  }),
  debug: requestSwitch({
    header: 'X-Debug-Request',
    query: 'x_debug_request',
    schema: Type.Boolean({
      description: 'Accepted for compatibility with existing clients; the server decides what it logs about requests.',
    }),
    byDefault: false,
  }),
  actionsVersion: requestSwitch({
    header: 'X-Actions-Version',
    schema: Type.String({
      description:
        'Types of actions that the client supports: one version, group or type, in place of `supported_action_types`.',
      maxLength: 200,
    }),
    byDefault: null,
  }),
} as const;

export type V3Switches = typeof v3Switches;
