import type { IncomingHttpHeaders } from 'node:http';
import {
  FormatRegistry,
  type StaticDecode,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { TransformDecodeCheckError, TransformDecodeError } from '@sinclair/typebox/value';
import { type AnyEndpoint, COMMA_SEPARATED, NULL_IS_VALUE, type RawParameters } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { isTernError } from '#kernel/tern-error.js';

/** The conventions of the queries of an API. */
export interface QueryGrammar {
  /** Whether `nameOf` returns lower case; then the names of parameters must be in lower case. */
  readonly foldsNames: boolean;
  /** The parameter of a given name. */
  readonly nameOf: (given: string) => string;
  /** Undefined: neither true nor false. */
  readonly booleanOf: (text: string) => boolean | undefined;
  /** Most arguments of one query. */
  readonly maxArguments: number;
}

const EXACT_BOOLEANS = booleans(['y', 'yes', 't', 'true', 'on', '1'], ['n', 'no', 'f', 'false', 'off', '0']);

/** Case-sensitive names; booleans as words in any letter case. */
export const exactGrammar: QueryGrammar = {
  foldsNames: false,
  nameOf: (given) => given,
  booleanOf: (text) => EXACT_BOOLEANS.get(text.toLowerCase()),
  maxArguments: 1_000,
};

const FOLDING_BOOLEANS = booleans(
  ['1', 't', 'T', 'true', 'True', 'TRUE', 'on'],
  ['0', 'f', 'F', 'false', 'False', 'FALSE'],
);

/** Case-insensitive names, with or without a trailing `[]`. */
export const foldingGrammar: QueryGrammar = {
  foldsNames: true,
  nameOf: (given) => (given.endsWith('[]') ? given.slice(0, -2) : given).toLowerCase(),
  booleanOf: (text) => FOLDING_BOOLEANS.get(text),
  maxArguments: 2_000,
};

function booleans(yes: readonly string[], no: readonly string[]): ReadonlyMap<string, boolean> {
  return new Map([...yes.map((text) => [text, true] as const), ...no.map((text) => [text, false] as const)]);
}

/** A space, a control character or a byte above ASCII, which URLs must percent-encode. */
const STRAY = /[^!-~]/;

/**
 * Parses the query of a URL (after `?`). The result has no prototype: `__proto__` is a name like any other.
 *
 * @throws http/bad-query when it is not percent-encoded UTF-8
 */
export function parseQuery(text: string, { nameOf, maxArguments }: QueryGrammar = exactGrammar): RawParameters {
  const parameters: RawParameters = Object.create(null);
  if (text === '') return parameters;
  if (STRAY.test(text)) throw httpErrors['bad-query']({ problem: 'it has characters that must be percent-encoded' });
  let count = 0;
  for (let at = 0; at <= text.length; ) {
    let end = text.indexOf('&', at);
    if (end < 0) end = text.length;
    if (end > at) {
      if (++count > maxArguments) throw httpErrors['bad-query']({ problem: `more than ${maxArguments} arguments` });
      const equals = text.indexOf('=', at);
      const nameEnd = equals < 0 || equals > end ? end : equals;
      const name = nameOf(percentDecode(text.slice(at, nameEnd)));
      const value = nameEnd === end ? '' : percentDecode(text.slice(nameEnd + 1, end));
      const before = parameters[name];
      if (before === undefined) parameters[name] = value;
      else if (Array.isArray(before)) before.push(value);
      else parameters[name] = [before, value];
    }
    at = end + 1;
  }
  return parameters;
}

/**
 * Removes parameters that are not known, and values that are empty.
 *
 * @param keepsEmpty whether empty values of a known parameter are left
 * @returns names of the parameters that are not known
 */
export function dropMeaningless(
  parameters: RawParameters,
  isKnown: (name: string) => boolean,
  keepsEmpty: (name: string) => boolean,
): readonly string[] {
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(parameters)) {
    if (!isKnown(name)) {
      unknown.push(name);
      delete parameters[name];
      continue;
    }
    if (keepsEmpty(name)) continue;
    const rest = (Array.isArray(value) ? value : [value]).filter((one) => one !== '');
    if (rest.length === 0) delete parameters[name];
    else parameters[name] = rest.length === 1 ? rest[0] : rest;
  }
  return unknown;
}

function percentDecode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
    throw httpErrors['bad-query']({ problem: `${shown} is not percent-encoded UTF-8` });
  }
}

/**
 * Marks the schema of a parameter of which an empty value is refused. Under `/toncenter` empty values of all others count as not
 * given, as for the live service.
 */
export const REFUSES_EMPTY = Symbol('refuses an empty value');

/** Checks and decodes the parameters of one endpoint. */
export interface ParameterReader {
  /** Names of all parameters. */
  readonly names: ReadonlySet<string>;
  /** Those of which an empty value is refused. */
  readonly neverEmpty: ReadonlySet<string>;
  /** Whether all parameters may be left out. */
  readonly allOptional: boolean;
  /** @throws http/unknown-parameter, http/missing-parameter, http/bad-parameter, and what the endpoint's `check` throws */
  read(raw: RawParameters, source: ParameterSource): never;
}

interface Field {
  readonly coerce: Coercion;
  readonly optional: boolean;
  /** Whether null is a value, and differs from leaving it out. */
  readonly takesNull: boolean;
  /** Undefined: none. */
  readonly byDefault: unknown;
}

/**
 * Compiles the reader of an endpoint's parameters, once.
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
    names: new Set(fields.keys()),
    neverEmpty: new Set(Object.keys(schema.properties).filter((name) => REFUSES_EMPTY in schema.properties[name]!)),
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

/** An error of the check or of a decoder as an error that names the parameter. */
function asParameterError(error: unknown): unknown {
  if (error instanceof TransformDecodeCheckError) {
    const { path, message, value } = error.error;
    const [parameter, inside] = splitPath(path);
    const problem = `${inside}${message.slice(0, 1).toLowerCase()}${message.slice(1)}, not ${describeValue(value)}`;
    return httpErrors['bad-parameter']({ parameter, problem });
  }
  if (error instanceof TransformDecodeError) {
    const cause: unknown = error.error;
    if (isTernError(cause, 'http/bad-parameter')) return cause;
    if (isTernError(cause) && cause.class !== 'caller') return cause;
    const [parameter, inside] = splitPath(error.path);
    const problem = isTernError(cause) ? cause.message : `${describeValue(error.value)} cannot be decoded`;
    return httpErrors['bad-parameter']({ parameter, problem: `${inside}${problem}` }, cause);
  }
  return error;
}

/** `/stack/0/1` is the parameter `stack` and the path `0.1: ` in it. */
function splitPath(path: string): [parameter: string, inside: string] {
  const [parameter = '', ...rest] = path.split('/').slice(1);
  return [parameter, rest.length === 0 ? '' : `at ${rest.join('.')}: `];
}

/** Formats are documentation only; the checker would refuse every string of a format that is not registered. */
function acceptFormats(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { format } = schema as TSchema & { format?: unknown };
  if (typeof format === 'string' && !FormatRegistry.Has(format)) FormatRegistry.Set(format, () => true);
  for (const part of Object.values(schema)) acceptFormats(part);
}

/** Where parameters come from: strings of a query, or values of a JSON body. */
export type ParameterSource = 'query' | 'body';

/** Converts a raw value to the JSON type of the schema; what cannot be converted is left to the check. */
type Coercion = (value: unknown, source: ParameterSource, parameter: string) => unknown;

/** Bound of signed and unsigned 64-bit fields. */
const MAX_INTEGER = 2 ** 64;

/** Integers as strings. */
export const INTEGER_PATTERN = '^[+-]?[0-9]{1,40}$';

/** The keywords of a schema that decide about the coercion. */
interface Shape {
  readonly type?: string;
  readonly format?: string;
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly const?: unknown;
  readonly [COMMA_SEPARATED]?: boolean;
}

/** The coercion of a field by its schema; see `Endpoint.params`. */
function coercionOf(schema: TSchema, grammar: QueryGrammar): Coercion {
  const { type, format, anyOf, items, [COMMA_SEPARATED]: hasCommas } = schema as Shape;
  if (anyOf !== undefined) return unionCoercion(anyOf, grammar);
  if (type === 'integer' || type === 'number') return numberCoercion(type);
  if (type === 'boolean') return booleanCoercion(grammar);
  if (type === 'string') return format === 'int64' ? toDecimal : single;
  if (type === 'array' && items !== undefined && !Array.isArray(items)) {
    const item = coercionOf(items, grammar);
    return hasCommas ? commaCoercion(item) : arrayCoercion(item);
  }
  return single;
}

/** A repeated name of a query is a list, which only arrays accept. */
function refuseRepeated(value: unknown, source: ParameterSource, parameter: string): void {
  if (source === 'query' && Array.isArray(value)) {
    throw httpErrors['bad-parameter']({ parameter, problem: `it is given ${value.length} times` });
  }
}

const single: Coercion = (value, source, parameter) => {
  refuseRepeated(value, source, parameter);
  return value;
};

function numberCoercion(type: 'integer' | 'number'): Coercion {
  const pattern = type === 'integer' ? new RegExp(INTEGER_PATTERN) : /^[+-]?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?$/;
  return (value, source, parameter) => {
    refuseRepeated(value, source, parameter);
    if (typeof value !== 'string') return value;
    if (!pattern.test(value)) {
      const wanted = type === 'integer' ? 'a whole number in decimal digits' : 'a decimal number';
      throw httpErrors['bad-parameter']({ parameter, problem: `${describeValue(value)} is not ${wanted}` });
    }
    return Number(value);
  };
}

function booleanCoercion({ booleanOf }: QueryGrammar): Coercion {
  return (value, source, parameter) => {
    refuseRepeated(value, source, parameter);
    if (source === 'body' || typeof value !== 'string') return value;
    const read = booleanOf(value);
    if (read !== undefined) return read;
    throw httpErrors['bad-parameter']({ parameter, problem: `${describeValue(value)} is neither true nor false` });
  };
}

/** 64-bit integers are strings of digits; in JSON bodies integers are accepted, too. */
const toDecimal: Coercion = (value, source, parameter) => {
  refuseRepeated(value, source, parameter);
  if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) > MAX_INTEGER) return value;
  return BigInt(value).toString();
};

function arrayCoercion(item: Coercion): Coercion {
  return (value, source, parameter) => {
    if (source === 'query' && typeof value === 'string') return [item(value, source, parameter)];
    return Array.isArray(value) ? value.map((one) => item(one, source, parameter)) : value;
  };
}

/** Repeated names and comma-separated parts are items. */
function commaCoercion(item: Coercion): Coercion {
  const inner = arrayCoercion(item);
  return (value, source, parameter) => {
    if (source !== 'query') return inner(value, source, parameter);
    const given = (Array.isArray(value) ? value : [value]) as readonly string[];
    const parts = given.flatMap((text) => (text.includes(',') ? text.split(',') : text));
    const empty = parts.indexOf('');
    if (empty >= 0) throw httpErrors['bad-parameter']({ parameter, problem: `at ${empty}: it is empty` });
    return inner(parts, source, parameter);
  };
}

/** A string stays a string where the union has strings; else the first member that it can be converted to. */
function unionCoercion(members: readonly TSchema[], grammar: QueryGrammar): Coercion {
  const isText = (member: TSchema) => (member as Shape).type === 'string';
  if (members.some((member) => isText(member) && (member as Shape).format !== 'int64')) return single;
  const coercions = members.map((member) => coercionOf(member, grammar));
  return (value, source, parameter) => {
    if (typeof value !== 'string') return single(value, source, parameter);
    for (const coercion of coercions) {
      try {
        const turned = coercion(value, source, parameter);
        if (turned !== value) return turned;
      } catch {
        // Not this member; the check reports the error when it is none of them.
      }
    }
    return value;
  };
}

/** A value, shortened for messages. */
function describeValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** A parameter of all methods of an API. */
export interface RequestSwitch<Schema extends TSchema = TSchema, Default = unknown> {
  /** Its header: `X-No-Metadata`. It takes precedence over the query. */
  readonly header: string;
  /** Its query parameter: `x_no_metadata`; default: none. */
  readonly query?: string;
  /** As for a parameter, with a description. */
  readonly schema: Schema;
  /** The value for requests that do not give it. */
  readonly byDefault: Default;
}

/** The switches of an API by their internal names. */
export type RequestSwitches = Readonly<Record<string, RequestSwitch>>;

/** For an API without switches. */
export type NoSwitches = Readonly<Record<never, RequestSwitch>>;

/** The values of the switches in a request. */
export type SwitchValues<Switches extends RequestSwitches> = {
  readonly [Name in keyof Switches]: StaticDecode<Switches[Name]['schema']> | Switches[Name]['byDefault'];
};

/** Declares a switch with the type of its value inferred. */
export function requestSwitch<Schema extends TSchema, const Default>(
  definition: RequestSwitch<Schema, Default>,
): RequestSwitch<Schema, Default> {
  return definition;
}

/** The switches of one request. */
export interface ReadSwitches {
  readonly values: Readonly<Record<string, unknown>>;
  /** The raw values by internal name; null: none was given. */
  readonly given: RawParameters | null;
}

/** For an API without switches. */
export const NO_SWITCHES: ReadSwitches = { values: {}, given: null };

/** Removes the switches from a request and returns them. @throws http/bad-parameter */
export type TakeSwitches = (headers: IncomingHttpHeaders, query: RawParameters) => ReadSwitches;

/** Compiles the reader of the switches of an API, once. */
export function compileSwitches(switches: RequestSwitches, grammar: QueryGrammar): TakeSwitches {
  const list = Object.entries(switches).map(([name, { header, query }]) => ({
    name,
    header,
    lowerHeader: header.toLowerCase(),
    query,
  }));
  const byDefault = Object.fromEntries(Object.entries(switches).map(([name, { byDefault }]) => [name, byDefault]));
  const nothing: ReadSwitches = { values: byDefault, given: null };
  if (list.length === 0) return () => nothing;

  // Header and query name are both fields, so that an error says which of them is wrong.
  const fields: TProperties = {};
  for (const { header, query, schema } of Object.values(switches)) {
    fields[header] = Type.Optional(schema);
    if (query !== undefined) fields[query] = Type.Optional(schema);
  }
  const params = Type.Object(fields, { additionalProperties: false });
  const reader = compileParameters({ name: 'switches', params }, grammar);

  return (headers, query) => {
    let raw: RawParameters | null = null;
    const given: RawParameters = {};
    for (const one of list) {
      const inQuery = one.query === undefined ? undefined : query[one.query];
      if (one.query !== undefined && inQuery !== undefined) delete query[one.query];
      const inHeader = headers[one.lowerHeader];
      const value = inHeader ?? inQuery;
      if (value === undefined) continue;
      raw ??= {};
      raw[inHeader === undefined ? (one.query as string) : one.header] = value;
      given[one.name] = value;
    }
    if (raw === null) return nothing;
    const read = reader.read(raw, 'query') as Readonly<Record<string, unknown>>;
    const values: Record<string, unknown> = { ...byDefault };
    for (const { name, header, query: inQuery } of list) {
      if (given[name] === undefined) continue;
      values[name] = header in raw ? read[header] : read[inQuery as string];
    }
    return { values, given };
  };
}
