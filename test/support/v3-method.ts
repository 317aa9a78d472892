import { plainStyle } from '#api/http/api-style.js';
import { type AnyEndpoint, JsonText } from '#api/http/endpoint.js';
import type { Profile } from '#api/http/http-api.js';
import {
  compileParameters,
  dropMeaningless,
  foldingGrammar,
  type ParameterReader,
  parseQuery,
} from '#api/http/parameters.js';
import { statusOf } from '#api/http/replies.js';
import { type V3ChainContext, type V3ChainNetwork, v3Context } from '#api/v3/context.js';
import { v3Endpoints } from '#api/v3/v3-api.js';
import { isTernError } from '#kernel/tern-error.js';

/** What a method answered to one call. */
export interface V3Answer {
  readonly status: number;
  /** Undefined when it failed. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of all methods
  readonly body: any;
  /** Empty when it did not fail. */
  readonly error: string;
  /** The code of the error. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Work units beside the price. */
  readonly work: number;
  readonly isKept: boolean;
}

/** How a call is made; by default in the `spec` profile, without switches. */
export interface V3Call {
  readonly network?: Partial<V3ChainNetwork>;
  readonly profile?: Profile;
  readonly switches?: Partial<V3ChainContext['switches']>;
  readonly foresee?: V3ChainContext['foresee'];
}

const NO_SWITCHES = {
  timeoutMs: null,
  noAddressBook: false,
  noMetadata: false,
  debug: false,
  actionsVersion: null,
};

/** @throws RangeError when there is none */
export function v3Endpoint(name: string): AnyEndpoint<V3ChainContext> {
  const endpoint = v3Endpoints.find((one) => one.name === name || one.aliases?.includes(name));
  if (endpoint === undefined) throw new RangeError(`there is no method ${name}`);
  return endpoint;
}

const readers = new Map<AnyEndpoint<V3ChainContext>, ParameterReader>();

function readerOf(endpoint: AnyEndpoint<V3ChainContext>): ParameterReader {
  const known = readers.get(endpoint);
  if (known !== undefined) return known;
  const reader = compileParameters(endpoint, foldingGrammar);
  readers.set(endpoint, reader);
  return reader;
}

/**
 * Calls a method as the HTTP layer does. What is not an error of ours goes through.
 *
 * @param given a query, or the JSON value of a body
 */
export async function callV3(name: string, given: string | object, call: V3Call = {}): Promise<V3Answer> {
  const { network = {}, profile = 'spec', switches = {}, foresee = () => {} } = call;
  const endpoint = v3Endpoint(name);
  const headers: Record<string, string> = {};
  let work = 0;
  let isKept = true;
  const context = v3Context({ isTestnet: false, ...network } as V3ChainNetwork, {
    read: {
      signal: new AbortController().signal,
      deadlineMs: 10_000,
      client: { id: 'test', hasKey: false, onTvmCost: () => {} },
    },
    profile,
    switches: { ...NO_SWITCHES, ...switches },
    group: null,
    worked: (units) => {
      work += units;
    },
    header: (header, value) => {
      headers[header] = value;
    },
    foresee,
    dependsOn: () => {},
    notKept: () => {
      isKept = false;
    },
  });
  try {
    const reader = readerOf(endpoint);
    const query = typeof given === 'string' ? parseQuery(given, foldingGrammar) : null;
    if (query !== null && profile === 'toncenter') {
      dropMeaningless(
        query,
        (parameter) => reader.names.has(parameter),
        (parameter) => reader.neverEmpty.has(parameter),
      );
    }
    const params = query === null ? reader.read({ ...(given as object) }, 'body') : reader.read(query, 'query');
    const result: unknown = await endpoint.handle(params, context);
    const body = JSON.parse(result instanceof JsonText ? result.text : JSON.stringify(result));
    return { status: 200, body, error: '', code: '', headers, work, isKept };
  } catch (error) {
    if (!isTernError(error)) throw error;
    const status = statusOf(error, endpoint as AnyEndpoint<never>, profile, plainStyle);
    return { status, body: undefined, error: error.message, code: error.code, headers, work, isKept };
  }
}
