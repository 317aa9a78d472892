import type { TSchema } from '@sinclair/typebox';
import { COMMA_SEPARATED } from '#api/http/comma-list.js';
import { httpErrors } from '#api/http/errors.js';
import type { QueryGrammar } from '#api/http/query-grammar.js';

/** Where parameters came from: texts of a query, or values of a JSON body. */
export type ParameterSource = 'query' | 'body';

/** Turns a value as it came into the JSON value that the schema describes; what cannot be turned is left for the check. */
export type Coercion = (value: unknown, source: ParameterSource, parameter: string) => unknown;

/** Signed and unsigned: no field of 64 bits holds more. */
const MAX_INTEGER = 2 ** 64;

/** Whole numbers as texts. */
export const INTEGER_PATTERN = '^[+-]?[0-9]{1,40}$';

/** The parts of a schema that tell what is to be turned into what. */
interface Shape {
  readonly type?: string;
  readonly format?: string;
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly const?: unknown;
  readonly [COMMA_SEPARATED]?: boolean;
}

/** The coercion of a field by its schema; see `Endpoint.params`. */
export function coercionOf(schema: TSchema, grammar: QueryGrammar): Coercion {
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

/** A query gives a list for a repeated name: only arrays take that. */
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
      throw httpErrors['bad-parameter']({ parameter, problem: `${shown(value)} is not ${wanted}` });
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
    throw httpErrors['bad-parameter']({ parameter, problem: `${shown(value)} is neither true nor false` });
  };
}

/** 64-bit numbers are texts of digits; in JSON an integer will do. */
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

/** Arguments, and parts between commas, are items. */
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

/** A text stays one where the union has texts; else the first member that can be made of it. */
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
        // Not this member; the check names what is wrong when it is none of them.
      }
    }
    return value;
  };
}

/** A value as an error message can show it. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
