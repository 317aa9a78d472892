import type { StaticDecode, TObject, TSchema } from '@sinclair/typebox';
import type { Endpoint } from '#api/http/endpoint.js';
import type { AnswerHeaders, Profile } from '#api/http/http-api.js';
import { v3Errors } from '#api/v3/errors.js';
import { ACCOUNT_PRICE, GET_METHOD_PRICE } from '#api/v3/price.js';
import {
  coverageText,
  historyText,
  type IndexCoverage,
  isHistoryComplete,
  isStateComplete,
} from '#drivers/store/index-state.js';
import type { Address } from '#formats/address/address.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import type { TernError } from '#kernel/tern-error.js';
import type { LookUps, NamedContracts } from '#services/lookups/named-contracts.js';

/** The header of answers that may lack something because the index does not have all of the chain. */
export const COVERAGE_HEADER = 'X-Tern-Coverage';

/** Headers of an answer that was kept: the coverage of the index goes on with its head. */
export function coverageAsOfNow(headers: AnswerHeaders, index: IndexCoverage): AnswerHeaders {
  if (headers.every(([name]) => name !== COVERAGE_HEADER)) return headers;
  return headers.map(([name, value]) => {
    if (name !== COVERAGE_HEADER) return [name, value];
    const unknown = /; unknown=\d+$/.exec(value)?.[0] ?? '';
    return [name, coverageText(index) + unknown];
  });
}

/** A part of an index on which answers depend: its blocks, or the newest states of all accounts. */
type CoveragePart = 'history' | 'state';

/** What a request names; each is looked up on the chain if the index has never seen it. */
export interface NamedByRequest {
  /** Accounts whose state is wanted. */
  readonly accounts?: readonly Address[] | undefined;
  /** Accounts of which it is also wanted which contract they are. */
  readonly contracts?: readonly Address[] | undefined;
  /** Each owner's wallet of each jetton. */
  readonly jettonWallets?: { readonly owners: readonly Address[]; readonly jettons: readonly Address[] };
  /** The items of these collections with these indexes. */
  readonly nftItems?: { readonly collections: readonly Address[]; readonly indexes: readonly bigint[] };
  readonly domains?: readonly string[] | undefined;
}

/** How an answer depends on what the index has of the chain: declared with each endpoint. */
export interface EndpointCoverage<Params> {
  /** The parts that it depends on as a whole, as lists do. What is named alone needs none: it is looked up. */
  readonly needs: readonly CoveragePart[] | ((params: Params) => readonly CoveragePart[]);
  readonly names?: (params: Params, profile: Profile) => NamedByRequest;
  /** The masterchain block that the request names; one before the history is an error. */
  readonly mcBlock?: (params: Params) => number | undefined;
}

/** Coverage of endpoints whose answers never lack anything because of the index. */
export const NEEDS_NOTHING = { needs: [] } as const;

/** Coverage of endpoints whose lists are made of blocks. */
export const NEEDS_HISTORY = { needs: ['history'] } as const;

/** Coverage of lists of contracts that name those they want by this parameter; without it they depend on all states. */
export function namedBy<Name extends string>(
  parameter: Name,
): EndpointCoverage<{ readonly [Parameter in Name]?: readonly Address[] | undefined }> {
  return {
    needs: ({ [parameter]: contracts }) => (contracts === undefined ? ['state'] : []),
    names: ({ [parameter]: contracts }) => ({ contracts }),
  };
}

/** What one answer depends on, and whether the index has it. */
export class AnswerCoverage {
  /** Undefined: of an index that has all of its chain. */
  readonly #index: IndexCoverage | undefined;
  readonly #needs = new Set<CoveragePart>();
  #unknown = 0;

  constructor(index: IndexCoverage | undefined) {
    this.#index = index;
  }

  /** Whether every account is known. */
  get isStateComplete(): boolean {
    return this.#index === undefined || isStateComplete(this.#index);
  }

  dependOn(part: CoveragePart): void {
    this.#needs.add(part);
  }

  /** Contracts that were named and could not be looked up. */
  addUnknown(count: number): void {
    this.#unknown += count;
  }

  /** The value of the header; null: the answer lacks nothing. */
  get header(): string | null {
    const index = this.#index;
    if (index === undefined) return null;
    const lacksHistory = this.#needs.has('history') && !isHistoryComplete(index);
    const lacksState = this.#needs.has('state') && !isStateComplete(index);
    if (this.#unknown > 0) return `${coverageText(index)}; unknown=${this.#unknown}`;
    return lacksHistory || lacksState ? coverageText(index) : null;
  }

  /** For a masterchain block that a request names. @throws v3/not-indexed for one that is in no range before the head */
  requireMcBlock(mc_seqno: number): void {
    const index = this.#index;
    const head = index?.history.at(-1)?.to;
    if (index === undefined || head === undefined || mc_seqno > head) return;
    if (index.history.some(({ from, to }) => from <= mc_seqno && mc_seqno <= to)) return;
    throw v3Errors['not-indexed']({ mc_seqno, history: historyText(index.history) });
  }

  /** For a block that a request names and the index does not have. @throws v3/block-not-indexed unless the history is complete */
  requireHistory(): void {
    if (this.#index === undefined || isHistoryComplete(this.#index)) return;
    throw v3Errors['block-not-indexed']({ history: historyText(this.#index.history) });
  }
}

/** What {@link lookUpNamed} needs of a request. */
interface LookUpContext {
  readonly coverage: AnswerCoverage;
  readonly network: { readonly lookUps?: LookUps };
  readonly query: { readonly signal?: AbortSignal | undefined };
  readonly worked: (units: number) => void;
  readonly notKept: () => void;
  /** Milliseconds that are left for look-ups. */
  readonly lookUpMs: () => number;
}

/** What an endpoint with coverage needs of a request. */
interface CoverageContext extends LookUpContext {
  readonly profile: Profile;
  readonly header: (name: string, value: string) => void;
}

/** Headers of an error: that there is no such thing may be because of the index. */
export function coverageOfFailure(error: TernError, index: IndexCoverage): readonly (readonly [string, string])[] {
  if (error.class !== 'not-found') return [];
  return isHistoryComplete(index) && isStateComplete(index) ? [] : [[COVERAGE_HEADER, coverageText(index)]];
}

/**
 * Looks up what is named, within the time that the request has for it; what is not known afterwards is counted in the header, and the
 * answer is not kept.
 *
 * @returns whether all of it is known
 */
export async function lookUpNamed(named: NamedByRequest, context: LookUpContext): Promise<boolean> {
  const { coverage, network, worked, query } = context;
  if (coverage.isStateComplete) return true;
  const plain = plainNames(named);
  if (Object.values(plain).every((list) => list.length === 0)) return true;
  if (network.lookUps === undefined) {
    coverage.dependOn('state');
    return true;
  }
  const deadlineMs = context.lookUpMs();
  const signal = query.signal ?? sharedAbortController().signal;
  const { unknown, absent, read, ran } = await network.lookUps.lookUp(plain, { deadlineMs, signal });
  coverage.addUnknown(unknown);
  // An account that was deleted before the history would be known as that.
  if (absent > 0) coverage.dependOn('history');
  if (unknown > 0) context.notKept();
  if (read > 0 || ran > 0) worked(read * ACCOUNT_PRICE + ran * GET_METHOD_PRICE);
  return unknown === 0;
}

function plainNames({ accounts = [], contracts = [], jettonWallets, nftItems, domains = [] }: NamedByRequest) {
  const raw = (address: Address): string => address.toRaw();
  const { owners, jettons } = jettonWallets ?? { owners: [], jettons: [] };
  const { collections, indexes } = nftItems ?? { collections: [], indexes: [] };
  return {
    accounts: accounts.map(raw),
    contracts: contracts.map(raw),
    jettonWallets: owners.flatMap((owner) => jettons.map((jetton) => ({ owner: raw(owner), jetton: raw(jetton) }))),
    nftItems: collections.flatMap((collection) => indexes.map((index) => ({ collection: raw(collection), index }))),
    domains,
  } satisfies NamedContracts;
}

/** Adds the header to an answer that may lack something, or to one whose tail was written anew and may. */
export function tellCoverage({ coverage, header }: Pick<CoverageContext, 'coverage' | 'header'>): void {
  if (coverage.header !== null) header(COVERAGE_HEADER, coverage.header);
}

/** An endpoint with its coverage. */
type CoveredEndpoint<Context, Params extends TObject, Result extends TSchema> = Endpoint<Context, Params, Result> & {
  readonly coverage: EndpointCoverage<StaticDecode<Params>>;
};

/** For a type of context: a function that declares an endpoint whose answers say what they may lack. */
export function coveredEndpointOf<Context extends CoverageContext>() {
  return <Params extends TObject, Result extends TSchema>({
    coverage,
    ...endpoint
  }: CoveredEndpoint<Context, Params, Result>): Endpoint<Context, Params, Result> => ({
    ...endpoint,
    description: `${endpoint.description}${describedCoverage(coverage)}`,
    handle: async (params, context) => {
      const { needs, names, mcBlock } = coverage;
      for (const part of typeof needs === 'function' ? needs(params) : needs) context.coverage.dependOn(part);
      const mc_seqno = mcBlock?.(params);
      if (mc_seqno !== undefined) context.coverage.requireMcBlock(mc_seqno);
      if (names !== undefined) await lookUpNamed(names(params, context.profile), context);
      const answer = await endpoint.handle(params, context);
      tellCoverage(context);
      return answer;
    },
  });
}

/** For the API reference. */
function describedCoverage({ needs, names }: Pick<EndpointCoverage<never>, 'needs' | 'names'>): string {
  const sentences: string[] = [];
  if (Array.isArray(needs) && needs.includes('history')) {
    sentences.push(
      `From the indexed history; where that lacks blocks of the chain, the header \`${COVERAGE_HEADER}\` says so.`,
    );
  } else if (typeof needs === 'function' || needs.includes('state')) {
    sentences.push(
      `Lists have the accounts that the index knows; where it does not know all, \`${COVERAGE_HEADER}\` says so.`,
    );
  }
  if (names !== undefined) sentences.push('Accounts that the index has never seen are read from the chain.');
  return sentences.length === 0 ? '' : ` ${sentences.join(' ')}`;
}
