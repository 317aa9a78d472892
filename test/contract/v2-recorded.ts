import type { TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { compileParameters, type ParameterReader, parseQuery } from '#api/http/parameters.js';
import { statusOf } from '#api/http/replies.js';
import { typeRenamer } from '#api/http/response-cache.js';
import type { V2Context, V2Network } from '#api/v2/context.js';
import { V2_TYPE_NAMES } from '#api/v2/endpoints.js';
import { TernError } from '#kernel/tern-error.js';
import type { Answer, RecordedCall, Recording } from '#test/contract/recorded-calls.js';

/** The call of a method that a recording is; `null` for requests that are about the transport. */
export function recordedCall(recording: Recording): RecordedCall | null {
  const { method, path, query } = recording;
  const body = jsonOf(recording.body);
  if (path === '/jsonRPC') {
    if (!isObject(body) || typeof body.method !== 'string') return null;
    const params = body.params ?? {};
    return isObject(params) ? { recording, name: body.method, source: 'body', params } : null;
  }
  const name = path.slice(1);
  if (method === 'GET') return { recording, name, source: 'query', params: parseQuery(query ?? '') };
  if (method === 'POST' && isObject(body)) return { recording, name, source: 'body', params: body };
  return null;
}

interface ReadyEndpoint {
  readonly endpoint: AnyEndpoint<V2Context>;
  readonly reader: ParameterReader;
  readonly result: TypeCheck<TSchema>;
}

/**
 * Answers calls as the HTTP layer does, in the `toncenter` profile, without HTTP. Every result is held against the schema of
 * its method.
 */
export class RecordedCalls {
  readonly #byName = new Map<string, ReadyEndpoint>();
  readonly #network: V2Network;
  readonly #rename = typeRenamer(V2_TYPE_NAMES);

  constructor(endpoints: readonly AnyEndpoint<V2Context>[], network: V2Network) {
    this.#network = network;
    for (const endpoint of endpoints) {
      const ready = { endpoint, reader: compileParameters(endpoint), result: TypeCompiler.Compile(endpoint.result) };
      for (const name of [endpoint.name, ...(endpoint.aliases ?? [])]) this.#byName.set(name, ready);
    }
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  async answer({ name, params, source }: RecordedCall): Promise<Answer> {
    const { endpoint, reader, result: schema } = this.#byName.get(name)!;
    try {
      const decoded = reader.read(params, source);
      const context: V2Context = { network: this.#network, read: {}, header: () => {}, worked: () => {} };
      const text = JSON.stringify(await endpoint.handle(decoded, context));
      const misfit = schema.Errors(JSON.parse(text)).First();
      if (misfit !== undefined)
        throw new RangeError(`the result of ${name} is not as its schema says: ${JSON.stringify(misfit)}`);
      return { status: 200, response: { ok: true, result: JSON.parse(this.#rename(text)) } };
    } catch (error) {
      if (!(error instanceof TernError)) throw error;
      const code = statusOf(error, endpoint as AnyEndpoint<never>, 'toncenter');
      return { status: code, response: { ok: false, error: error.message, code } };
    }
  }
}

function jsonOf(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
