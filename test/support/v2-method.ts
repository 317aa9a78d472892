import type { AnyEndpoint } from '#api/http/endpoint.js';
import { compileParameters } from '#api/http/parameters.js';
import { statusOf } from '#api/http/replies.js';
import type { V2Context, V2Network } from '#api/v2/context.js';
import { isTernError } from '#kernel/tern-error.js';

/** What a method answered to one call. */
export interface V2Answer {
  readonly status: number;
  /** In the `spec` profile; undefined when it failed. */
  readonly result: unknown;
  /** Empty when it did not fail. */
  readonly error: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Calls a method with a JSON body, as the HTTP layer does. What is not an error of ours goes through. */
export async function callV2(
  endpoints: readonly AnyEndpoint<V2Context>[],
  name: string,
  body: Readonly<Record<string, unknown>>,
  network: Partial<V2Network> = {},
): Promise<V2Answer> {
  const endpoint = endpoints.find((one) => one.name === name || one.aliases?.includes(name));
  if (endpoint === undefined) throw new RangeError(`there is no method ${name}`);
  const headers: Record<string, string> = {};
  const context: V2Context = {
    network: network as V2Network,
    read: { deadlineMs: 1_000 },
    worked: () => {},
    header: (header, value) => {
      headers[header] = value;
    },
  };
  try {
    const params = compileParameters(endpoint).read(body, 'body');
    const result: unknown = JSON.parse(JSON.stringify(await endpoint.handle(params, context)));
    return { status: 200, result, error: '', headers };
  } catch (error) {
    if (!isTernError(error)) throw error;
    const status = statusOf(error, endpoint as AnyEndpoint<never>, 'spec');
    return { status, result: undefined, error: error.message, headers };
  }
}
