import { FormatRegistry, type TObject, type TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { TransformDecodeCheckError, TransformDecodeError } from '@sinclair/typebox/value';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { NULL_IS_VALUE } from '#api/http/null-value.js';
import { type Coercion, coercionOf, type ParameterSource, shown } from '#api/http/parameter-coercion.js';
import { exactGrammar, type QueryGrammar } from '#api/http/query-grammar.js';
import type { RawParameters } from '#api/http/query-string.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** Checks and decodes the parameters of one endpoint. */
export interface ParameterReader {
  /** Whether a request without any is complete. */
  readonly allOptional: boolean;
  /** @throws http/unknown-parameter, http/missing-parameter, http/bad-parameter, and what the endpoint's `check` throws */
  read(raw: RawParameters, source: ParameterSource): never;
}

interface Field {
  readonly coerce: Coercion;
  readonly optional: boolean;
  /** Whether null is a value, and not the same as none. */
  readonly takesNull: boolean;
  /** Undefined: none. */
  readonly byDefault: unknown;
}

/**
 * Makes the reader of an endpoint's parameters; done once.
 *
 * @throws http/bad-endpoint
 */
export function compileParameters(
  endpoint: Pick<AnyEndpoint<never>, 'name' | 'params' | 'check'>,
  grammar: QueryGrammar = exactGrammar,
): ParameterReader {
  const schema = endpoint.params as TObject;
  if (schema.type !== 'object' || schema.additionalProperties !== false) {
    const problem = 'params must be a Type.Object with additionalProperties: false';
    throw httpErrors['bad-endpoint']({ endpoint: endpoint.name, problem });
  }
  const required = new Set(schema.required ?? []);
  const fields = new Map<string, Field>();
  for (const [name, field] of Object.entries(schema.properties)) {
    const takesNull = NULL_IS_VALUE in field;
    const optional = !required.has(name);
    fields.set(name, { coerce: coercionOf(field, grammar), optional, takesNull, byDefault: field.default });
  }
  acceptFormats(schema);
  const checker = TypeCompiler.Compile(schema);
  const known = fields.size === 0 ? 'no parameters' : [...fields.keys()].join(', ');

  const gather = (raw: RawParameters, source: ParameterSource) => {
    for (const name of Object.keys(raw)) {
      if (!fields.has(name)) {
        throw httpErrors['unknown-parameter']({
          parameter: name.length > 80 ? `${name.slice(0, 77)}...` : name,
          known,
        });
      }
    }
    const values: Record<string, unknown> = {};
    for (const [name, { coerce, optional, takesNull, byDefault }] of fields) {
      const value = raw[name];
      if (value === null && takesNull) values[name] = null;
      else if (value !== undefined && value !== null) values[name] = coerce(value, source, name);
      else if (byDefault !== undefined) values[name] = byDefault;
      else if (!optional) throw httpErrors['missing-parameter']({ parameter: name });
    }
    return values;
  };
  return {
    allOptional: [...fields.values()].every(({ optional, byDefault }) => optional || byDefault !== undefined),
    read(raw, source) {
      const values = gather(raw, source);
      try {
        const decoded = checker.Decode(values) as never;
        endpoint.check?.(decoded);
        return decoded;
      } catch (error) {
        throw asParameterError(error);
      }
    },
  };
}

/** What the check or a decoder of a field found, as an error that names the parameter. */
function asParameterError(error: unknown): unknown {
  if (error instanceof TransformDecodeCheckError) {
    const { path, message, value } = error.error;
    const [parameter, inside] = splitPath(path);
    const problem = `${inside}${message.slice(0, 1).toLowerCase()}${message.slice(1)}, not ${shown(value)}`;
    return httpErrors['bad-parameter']({ parameter, problem });
  }
  if (error instanceof TransformDecodeError) {
    const cause: unknown = error.error;
    if (isTernError(cause, 'http/bad-parameter')) return cause;
    if (isTernError(cause) && cause.class !== 'caller') return cause;
    const [parameter, inside] = splitPath(error.path);
    const problem = isTernError(cause) ? cause.message : `${shown(error.value)} cannot be read`;
    return httpErrors['bad-parameter']({ parameter, problem: `${inside}${problem}` }, cause);
  }
  return error;
}

/** `/stack/0/1` is the parameter `stack`, and inside of it `0.1: `. */
function splitPath(path: string): [parameter: string, inside: string] {
  const [parameter = '', ...rest] = path.split('/').slice(1);
  return [parameter, rest.length === 0 ? '' : `at ${rest.join('.')}: `];
}

/** Formats are for the reader of the document: the checker would refuse every text of a format that it does not know. */
function acceptFormats(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { format } = schema as TSchema & { format?: unknown };
  if (typeof format === 'string' && !FormatRegistry.Has(format)) FormatRegistry.Set(format, () => true);
  for (const part of Object.values(schema)) acceptFormats(part);
}
