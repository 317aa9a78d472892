import type { TObject, TSchema } from '@sinclair/typebox';
import { TONCENTER_MOUNT } from '#api/http/api-paths.js';
import {
  type ApiStyle,
  COMMON_STATUSES,
  errorResponse,
  rpcRequestSchema,
  rpcResponseSchema,
  security,
  securitySchemes,
  styleOf,
} from '#api/http/api-style.js';
import { type AnyEndpoint, NULL_IS_VALUE } from '#api/http/endpoint.js';
import type { AnyHttpApi, Profile } from '#api/http/http-api.js';
import { JSON_RPC } from '#api/http/json-body.js';
import { minSeqnoSwitch } from '#api/http/min-seqno.js';
import { applyProfileKeywords, type OpenApiJson, SchemaComponents } from '#api/http/openapi-schemas.js';
import { INTEGER_PATTERN, type RequestSwitches } from '#api/http/parameters.js';

/** An API without what runs it. */
export type DescribedApi = Omit<AnyHttpApi, 'context'>;

const RPC_TAG = 'RPC';

/** Of requests that wait for a block in vain. */
const NOT_FRESH = 409;

/** Statuses of any method. */
const RPC_STATUSES = [400, 404, 409, 422, 504, 542];

/**
 * The OpenAPI 3.1 document of an API: a path for each published endpoint, with an operation for each verb, and JSON-RPC where
 * its style has it. Plain JSON.
 *
 * @param profile determines the names of types
 * @param server where the paths begin: `/`, or the mount of the profile
 * @throws http/bad-endpoint when two schemas have one name
 */
export function openApiDocument(
  api: DescribedApi,
  profile: Profile,
  server: string = profile === 'spec' ? '/' : TONCENTER_MOUNT,
): OpenApiJson {
  const components = new SchemaComponents();
  const style = styleOf(api);
  components.add(style.errorName, style.errorSchema(profile));
  const forAll = api.hasFreshness === true ? { minSeqno: minSeqnoSwitch } : {};
  const parameters = switchParameters({ ...api.switches, ...forAll }, components);
  const shared = Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const statuses = new Set<number>(COMMON_STATUSES);
  const published = (api.endpoints as readonly AnyEndpoint<never>[]).filter(({ unpublished }) => !unpublished);
  const paths: OpenApiJson = {};
  for (const endpoint of published) {
    const own = [...statusesOf(endpoint, profile, style), ...(api.hasFreshness === true ? [NOT_FRESH] : [])];
    for (const status of own) statuses.add(status);
    const operations = operationsOf(endpoint, style, own, components);
    paths[`${api.prefix}/${endpoint.name}`] = shared.length === 0 ? operations : { parameters: shared, ...operations };
  }
  if (style.hasRpc) {
    paths[`${api.prefix}/${JSON_RPC}`] = { post: rpcOperation(components) };
    for (const status of RPC_STATUSES) statuses.add(status);
  }
  const responses = [...statuses]
    .sort((a, b) => a - b)
    .map((status) => [status, errorResponse(status, style, profile, api.maxUrlBytes)]);
  const document = {
    openapi: '3.1.0',
    info: { title: api.title, version: api.version, description: api.description },
    servers: [{ url: server }],
    tags: tagsOf(api, published, style),
    paths,
    components: {
      schemas: components.schemas,
      ...(shared.length === 0 ? {} : { parameters }),
      responses: Object.fromEntries(responses),
      securitySchemes,
    },
  };
  // Schemas have symbols and undefined values, which JSON drops.
  const plain = JSON.parse(JSON.stringify(document)) as OpenApiJson;
  applyProfileKeywords(plain, profile);
  if (profile === 'toncenter') renameTypes(plain, api.typeNames ?? {});
  return plain;
}

/** Renames types in `const`, `default`, `enum`, and in the mapping of a union. */
function renameTypes(schema: OpenApiJson, names: Readonly<Record<string, string>>): void {
  const renamed = (value: unknown) => (typeof value === 'string' && Object.hasOwn(names, value) ? names[value] : value);
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'const' || key === 'default') schema[key] = renamed(value);
    else if (key === 'enum' && Array.isArray(value)) schema[key] = [...new Set(value.map(renamed))];
    else if (typeof value === 'object' && value !== null) renameTypes(value as OpenApiJson, names);
    if (key === 'mapping' && typeof value === 'object' && value !== null) {
      schema[key] = Object.fromEntries(Object.entries(value).map(([name, target]) => [renamed(name), target]));
    }
  }
}

/** `getAddressInformation` is `AddressInformation`, `tryLocateTx` is `LocateTx`, `jetton/wallets` is `JettonWallets`. */
export function schemaNameOf({ name, schemaName }: AnyEndpoint<never>): string {
  if (schemaName !== undefined) return schemaName;
  const bare = name.replace(/^(?:get|try)(?=[A-Z])/, '');
  return bare.replace(/(?:^|\/)(.?)/g, (_, first: string) => first.toUpperCase());
}

function operationsOf(
  endpoint: AnyEndpoint<never>,
  style: ApiStyle,
  statuses: readonly number[],
  components: SchemaComponents,
): OpenApiJson {
  const { name, tag, summary, description } = endpoint;
  const schemaName = schemaNameOf(endpoint);
  const body = style.successSchema(components.write(endpoint.result as TSchema));
  const response = '$ref' in body ? body : components.add(`${schemaName}Response`, body);
  const responses = responsesOf('Success.', response, statuses);
  const operations: OpenApiJson = {};
  for (const verb of endpoint.verbs) {
    const lower = verb.toLowerCase();
    operations[lower] = {
      tags: [tag],
      summary,
      description,
      operationId: `${name.replaceAll('/', '_')}_${lower}`,
      ...(verb === 'GET'
        ? { parameters: queryParameters(endpoint.params as TObject, components) }
        : {
            requestBody: requestBody(
              components.add(requestName(endpoint, schemaName), bodyParametersSchema(endpoint.params as TObject)),
              endpoint,
            ),
          }),
      responses,
      security,
    };
  }
  return operations;
}

/** Live services respond with 500 where something does not exist, except for errors that declare 404. */
function statusesOf(
  { statuses, errorStatuses = {} }: AnyEndpoint<never>,
  profile: Profile,
  { concealsAbsence }: ApiStyle,
): readonly number[] {
  if (profile === 'spec' || !concealsAbsence || Object.values(errorStatuses).includes(404)) return statuses;
  return statuses.filter((status) => status !== 404);
}

function requestName(endpoint: AnyEndpoint<never>, schemaName: string): string {
  return (endpoint.params as TObject).$id ?? `${schemaName}Request`;
}

function responsesOf(description: string, schema: OpenApiJson, statuses: readonly number[]): OpenApiJson {
  const responses: OpenApiJson = { 200: { description, content: { 'application/json': { schema } } } };
  const all = new Set([...statuses, ...COMMON_STATUSES]);
  for (const status of [...all].sort((a, b) => a - b)) {
    responses[status] = { $ref: `#/components/responses/${status}` };
  }
  return responses;
}

function rpcOperation(components: SchemaComponents): OpenApiJson {
  return {
    tags: [RPC_TAG],
    summary: 'JSON-RPC',
    description:
      'All methods of this API at one path: the name in `method`, the parameters in `params`. Results, errors and statuses ' +
      'are those of the method, with `jsonrpc` and `id` added. Batches are not supported.',
    operationId: `${JSON_RPC}_post`,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: components.add('JsonRpcRequest', rpcRequestSchema) } },
    },
    responses: responsesOf(
      'The result of the method.',
      components.add('JsonRpcResponse', rpcResponseSchema),
      RPC_STATUSES,
    ),
    security,
  };
}

/** The groups in use, those that the API describes first and in its order. */
function tagsOf(api: DescribedApi, endpoints: readonly AnyEndpoint<never>[], { hasRpc }: ApiStyle): OpenApiJson[] {
  const inUse = new Set(endpoints.map(({ tag }) => tag));
  const described = (api.tags ?? []).filter(({ name }) => inUse.has(name));
  const names = new Set(described.map(({ name }) => name));
  const others = [...inUse].filter((name) => !names.has(name)).map((name) => ({ name }));
  const rpc = hasRpc ? [{ name: RPC_TAG, description: 'All methods at one path' }] : [];
  return [...described.map(({ name, description }) => ({ name, description })), ...others, ...rpc];
}

/** For each switch: its header and its query parameter. */
function switchParameters(switches: RequestSwitches, components: SchemaComponents): OpenApiJson {
  const parameters: OpenApiJson = {};
  for (const { header, query, schema } of Object.values(switches)) {
    parameters[header] = parameterOf(header, 'header', schema, false, components);
    if (query !== undefined) parameters[query] = parameterOf(query, 'query', schema, false, components);
  }
  return parameters;
}

/** The parameters of an endpoint as query parameters. */
function queryParameters(params: TObject, components: SchemaComponents): OpenApiJson[] {
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
): OpenApiJson {
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
 * The parameters in a JSON body: null is the same as leaving out an optional parameter, and integers may be strings.
 */
function bodyParametersSchema(params: TObject): OpenApiJson {
  const required = new Set(params.required ?? []);
  const fields = Object.entries(params.properties).map(([name, field]) => [name, bodyField(field, required.has(name))]);
  return { ...params, properties: Object.fromEntries(fields) };
}

function bodyField(field: TSchema, isRequired: boolean): OpenApiJson {
  const { anyOf, description, default: byDefault, examples, ...alone } = field as OpenApiJson;
  const members = Array.isArray(anyOf) ? anyOf : [alone];
  const { type, format } = alone;
  const more: OpenApiJson[] = [];
  if (type === 'integer') more.push({ type: 'string', pattern: INTEGER_PATTERN });
  if (type === 'string' && format === 'int64') more.push({ type: 'integer' });
  if (!isRequired && !(NULL_IS_VALUE in field)) more.push({ type: 'null' });
  if (more.length === 0) return field;
  return { anyOf: [...members, ...more], description, default: byDefault, examples };
}

/** @param schema the schema of the body */
function requestBody(schema: OpenApiJson, { params }: { readonly params: TObject }): OpenApiJson {
  const { required = [], properties } = params;
  const examples = Object.entries(properties).map(([name, { examples: given }]): [string, unknown] => {
    return [name, Array.isArray(given) ? given[0] : undefined];
  });
  const example = Object.fromEntries(examples.filter(([, value]) => value !== undefined));
  // Only a complete example, which can be sent unchanged.
  const isWhole = required.every((name) => Object.hasOwn(example, name));
  return {
    required: required.length > 0,
    content: { 'application/json': { schema, ...(isWhole ? { example } : {}) } },
  };
}
