import type { AdminContext } from '#api/admin/context.js';
import { adminDescription } from '#api/admin/description.js';
import type { ApiRequest, HttpApi } from '#api/http/http-api.js';
import type { SwitchValues } from '#api/http/parameters.js';
import type { LocalnetContext } from '#api/localnet/context.js';
import { localnetDescription } from '#api/localnet/description.js';
import type { V2Context } from '#api/v2/context.js';
import { V2_TYPE_NAMES, v2Endpoints, v2Tags } from '#api/v2/endpoints.js';
import {
  type V3ChainContext,
  type V3ChainNetwork,
  type V3Context,
  type V3Network,
  type V3Switches,
  v3Context,
} from '#api/v3/context.js';
import { coverageAsOfNow, coverageOfFailure } from '#api/v3/coverage.js';
import { type EmulateContext, type EmulateSwitches, emulateDescription } from '#api/v3/emulate-api.js';
import { keptTexts } from '#api/v3/kept-texts.js';
import { writeAddressTail } from '#api/v3/page.js';
import type { ReaderPool } from '#api/v3/reader-pool.js';
import { v3Description } from '#api/v3/v3-api.js';
import type { OpenNetwork } from '#app/service/network.js';
import type { NetworkIndex } from '#app/service/network-index.js';
import { DNS_ROOTS, type DnsRoot } from '#domain/contracts/dns-domain.js';
import { pause, systemClock } from '#kernel/clock.js';
import { WorkSlices } from '#kernel/work-slices.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { LocalNode } from '#localnet/node/local-node.js';
import type { AccessAdministration } from '#services/access/start-keyed-access.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ContractService } from '#services/emulation/contract-service.js';
import type { TraceEmulation } from '#services/emulation/emulated-trace.js';
import { ContractTraceMeanings, type TraceMeanings } from '#services/emulation/trace-meanings.js';
import type { LiveMessages } from '#services/pending/live-messages.js';

/** Emulates traces and understands them. */
export type NetworkEmulation = TraceEmulation & TraceMeanings;

/** @param dnsRoots DNS collections besides the well-known ones */
export function networkEmulation(
  { chain, contracts }: { readonly chain: Pick<ChainReads, 'account'>; readonly contracts: ContractService },
  dnsRoots: readonly DnsRoot[],
): NetworkEmulation {
  const meanings = new ContractTraceMeanings(
    { dnsRoots: [...DNS_ROOTS, ...dnsRoots] },
    {
      clock: systemClock,
      account: (address, options) => chain.account(address, options),
      contractsWith: (states, options) => contracts.contractsWith(states, options),
    },
  );
  return {
    emulateTrace: (request, options) => contracts.emulateTrace(request, options),
    meaningOf: (trace, options) => meanings.meaningOf(trace, options),
  };
}

/** Version of the published document that this API follows. */
const DOCUMENT_VERSION = '2.1.1';

const DESCRIPTION = `The state of a TON network over HTTP: accounts, transactions, blocks, get-methods, messages.

All data is read from liteservers and verified. Reads accept GET with a query or POST with a JSON object; the same methods are
available over JSON-RPC. Each response has \`ok\`, and \`result\` or \`error\` with \`code\`.`;

/** Description of API v2. */
export const v2Description = {
  prefix: '/api/v2',
  hasFreshness: true,
  ignores: 'unknown',
  title: 'TON HTTP API v2',
  version: DOCUMENT_VERSION,
  description: DESCRIPTION,
  tags: v2Tags,
  endpoints: v2Endpoints,
  typeNames: V2_TYPE_NAMES,
  exampleAnswers: new URL('../../../data/example-answers/v2.json', import.meta.url),
} as const;

/** API v2 of a network. @param pending follows the messages that are sent; null: nobody does */
export function v2Api(network: OpenNetwork, pending: LiveMessages | null): HttpApi<V2Context> {
  const followed = pending === null ? {} : { pending };
  return {
    ...v2Description,
    freshness: (group) => network.poolOf(group).freshness(),
    hasten: (group) => network.poolOf(group).watch.hasten(),
    context: ({ group, read, header, worked }) => ({
      network: { ...network.poolOf(group).v2, ...followed },
      read,
      header,
      worked,
    }),
  };
}

interface IndexFactsOptions {
  readonly isTestnet: boolean;
  /** Memory for the texts of answers; 0: none are kept. */
  readonly textBytes: number;
  /** Follows messages; null: nobody does. */
  readonly pending: LiveMessages | null;
}

/** What API v3, emulation and streams know of a network that has an index, besides their reads. */
export function indexFacts(index: NetworkIndex, { isTestnet, textBytes, pending }: IndexFactsOptions) {
  return {
    isTestnet,
    coverage: () => index.coverage(),
    ...(index.lookUps === null ? {} : { lookUps: index.lookUps }),
    ...(pending === null ? {} : { pending }),
    ...keptTexts(textBytes, index.changes, () => index.version),
  };
}

/** API v3 of a network that has an index. @param readers for its large calls */
export function v3Api(
  network: OpenNetwork,
  index: NetworkIndex,
  readers: ReaderPool,
  facts: Omit<V3ChainNetwork, 'index' | 'chain' | 'contracts'>,
): HttpApi<V3ChainContext, V3Switches> {
  return {
    ...v3Description,
    threads: {
      takes: (endpoint, price) => readers.takes(endpoint, price),
      helps: (endpoint, price) => readers.helps(endpoint, price),
      answer: (call, caller) => index.whileReadable(() => readers.answer(call, caller)),
    },
    headSeqno: () => index.version,
    changes: index.changes,
    writeTail: writeAddressTail,
    keptHeaders: (headers) => coverageAsOfNow(headers, index.coverage()),
    freshness: () => index.freshness(),
    failureHeaders: (error) => coverageOfFailure(error, index.coverage()),
    context: (request) => {
      const { chain, contracts } = network.poolOf(request.group).v2;
      const timeoutMs = request.switches.timeoutMs ?? index.queryTimeoutMs;
      return v3Context(
        { index: index.reads, chain, contracts, ...facts },
        { ...request, switches: { ...request.switches, timeoutMs } },
      );
    },
  };
}

/** The admin API of a service whose keys it manages. */
export function adminApi(access: AccessAdministration, unixTimeMs: () => number): HttpApi<AdminContext> {
  return { ...adminDescription, context: () => ({ access, unixTimeMs }) };
}

/**
 * The emulation API of a network.
 * @param indexed reads of its index, for the address book and metadata; null: it has none
 */
export function emulateApi(
  network: OpenNetwork,
  dnsRoots: readonly DnsRoot[],
  indexed: { readonly index: NetworkIndex; readonly facts: Omit<V3Network, 'index'> } | null,
): HttpApi<EmulateContext, EmulateSwitches> {
  return {
    ...emulateDescription,
    freshness: (group) => network.poolOf(group).freshness(),
    hasten: (group) => network.poolOf(group).watch.hasten(),
    context: (request) => {
      const { read, profile, switches, header, worked, group } = request;
      const pool = network.poolOf(group);
      const { meaningOf, emulateTrace } = networkEmulation(pool, dnsRoots);
      const { chain, contracts } = pool.v2;
      return {
        network: { chain, contracts, emulation: { emulateTrace }, meanings: { meaningOf } },
        ...{ profile, switches, read, header, worked },
        slices: new WorkSlices(systemClock, read.signal),
        index: indexed === null ? null : indexContext(indexed, request),
      };
    },
  };
}

/** Context of reads of the index by an API that has no switches for them. */
function indexContext(
  { index, facts }: { readonly index: NetworkIndex; readonly facts: Omit<V3Network, 'index'> },
  request: ApiRequest<SwitchValues<EmulateSwitches>>,
): V3Context {
  const own = { timeoutMs: index.queryTimeoutMs, noAddressBook: false, noMetadata: false, debug: false };
  return v3Context({ index: index.reads, ...facts }, { ...request, switches: { ...own, ...request.switches } });
}

/** Polling interval for the head of the liteserver. */
const EVERY_MS = 5;

/**
 * The control API of a local network.
 * @param network verified reads of the same chain
 * @param ended aborted when the network is closed: its head moves no more
 */
export function localnetApi(node: LocalNode, network: OpenNetwork, ended: AbortSignal): HttpApi<LocalnetContext> {
  return {
    ...localnetDescription,
    context: ({ group, read }) => {
      const { v2, lite } = network.poolOf(group);
      const { chain } = v2;
      return {
        node,
        balanceOf: async (address) => {
          const { head } = await node.status();
          const { block } = await chain.waitForHead(head.seqno, read);
          const { account } = await chain.account(address, { ...read, at: block, pruned: true });
          return account?.kind === 'account' ? account.storage.balance.grams : 0n;
        },
        untilKnown: async ({ seqno }) => {
          const signal = AbortSignal.any([read.signal, ended]);
          const known = async (): Promise<void> => {
            await chain.waitForHead(seqno, { ...read, signal });
            // Cached responses depend on the head reported by the liteserver.
            while (lite.headSeqno < seqno && !signal.aborted) await pause(EVERY_MS, systemClock, signal);
          };
          await known().catch((error: unknown) => {
            if (!ended.aborted) throw error;
          });
          if (ended.aborted) throw localnetErrors['other-command']({ command: 'the replacement of its chain' });
        },
      };
    },
  };
}
