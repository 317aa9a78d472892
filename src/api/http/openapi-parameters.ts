import type { TObject, TSchema } from '@sinclair/typebox';
import { NULL_IS_VALUE } from '#api/http/null-value.js';
import type { JsonObject, SchemaComponents } from '#api/http/openapi-schemas.js';
import { INTEGER_PATTERN } from '#api/http/parameter-coercion.js';
import type { RequestSwitches } from '#api/http/request-switches.js';

/** Of each switch: the header, and the argument of the query. */
export function switchParameters(switches: RequestSwitches, components: SchemaComponents): JsonObject {
  const parameters: JsonObject = {};
  for (const { header, query, schema } of Object.values(switches)) {
    parameters[header] = parameterOf(header, 'header', schema, false, components);
    if (query !== undefined) parameters[query] = parameterOf(query, 'query', schema, false, components);
  }
  return parameters;
}

/** Of each parameter of an endpoint, as an argument of the query. */
export function queryParameters(params: TObject, components: SchemaComponents): JsonObject[] {
  const required = new Set(params.required ?? []);
  return Object.entries(params.properties).map(([name, field]) =>
    parameterOf(name, 'query', field, required.has(name), components),
  );
}

function parameterOf(
  name: string,
  place: 'query' | 'header',
  field: TSchema,
  required: boolean,
  components: SchemaComponents,
): JsonObject {
  const { description, examples, ...schema } = components.write(field);
  const [example] = Array.isArray(examples) ? examples : [];
  return {
    name,
    in: place,
    required,
    ...(description === undefined ? {} : { description }),
    schema,
    ...(example === undefined ? {} : { example }),
  };
}

/**
 * The parameters as a body may have them: null for one that may be left out is the same as none, and whole numbers may be
 * texts.
 */
export function bodySchema(params: TObject): JsonObject {
  const required = new Set(params.required ?? []);
  const fields = Object.entries(params.properties).map(([name, field]) => [name, bodyField(field, required.has(name))]);
  return { ...params, properties: Object.fromEntries(fields) };
}

function bodyField(field: TSchema, isRequired: boolean): JsonObject {
  const { anyOf, description, default: byDefault, examples, ...alone } = field as JsonObject;
  const members = Array.isArray(anyOf) ? anyOf : [alone];
  const { type, format } = alone;
  const more: JsonObject[] = [];
  if (type === 'integer') more.push({ type: 'string', pattern: INTEGER_PATTERN });
  if (type === 'string' && format === 'int64') more.push({ type: 'integer' });
  if (!isRequired && !(NULL_IS_VALUE in field)) more.push({ type: 'null' });
  if (more.length === 0) return field;
  return { anyOf: [...members, ...more], description, default: byDefault, examples };
}

/** @param schema that of the body */
export function requestBody(schema: JsonObject, { params }: { readonly params: TObject }): JsonObject {
  const { required = [], properties } = params;
  const examples = Object.entries(properties).map(([name, { examples: given }]): [string, unknown] => {
    return [name, Array.isArray(given) ? given[0] : undefined];
  });
  const example = Object.fromEntries(examples.filter(([, value]) => value !== undefined));
  // Only one that can be sent as it is; otherwise readers of the document make up values for all fields.
  const isWhole = required.every((name) => Object.hasOwn(example, name));
  return {
    required: required.length > 0,
    content: { 'application/json': { schema, ...(isWhole ? { example } : {}) } },
  };
}
