import type { TObject, TSchema } from '@sinclair/typebox';
import type { ApiStyle } from '#api/http/api-style.js';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import type { AnyHttpApi, Profile } from '#api/http/http-api.js';
import { JSON_RPC } from '#api/http/json-rpc.js';
import { bodySchema, queryParameters, requestBody, switchParameters } from '#api/http/openapi-parameters.js';
import {
  COMMON_STATUSES,
  errorResponse,
  rpcRequestSchema,
  rpcResponseSchema,
  security,
  securitySchemes,
} from '#api/http/openapi-responses.js';
import { type JsonObject, SchemaComponents } from '#api/http/openapi-schemas.js';
import { TONCENTER_MOUNT } from '#api/http/profile.js';
import { applyProfileKeywords } from '#api/http/profile-keywords.js';
import { styleOf } from '#api/http/styles.js';

/** An API without what runs it. */
export type DescribedApi = Omit<AnyHttpApi, 'context'>;

const RPC_TAG = 'RPC';

/** Those of any method. */
const RPC_STATUSES = [400, 404, 409, 422, 504, 542];

/**
 * The OpenAPI 3.1 document of an API: a path for each published endpoint, with an operation for each verb it takes, and
 * JSON-RPC where its style has that. Plain JSON.
 *
 * @param profile decides what types are called, and what the paths follow on: `/` or `/toncenter`
 * @throws http/bad-endpoint when two schemas have one name
 */
export function openApiDocument(api: DescribedApi, profile: Profile): JsonObject {
  const components = new SchemaComponents();
  const style = styleOf(api);
  components.add(style.errorName, style.errorSchema(profile));
  const parameters = switchParameters(api.switches ?? {}, components);
  const shared = Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const statuses = new Set<number>(COMMON_STATUSES);
  const published = (api.endpoints as readonly AnyEndpoint<never>[]).filter(({ unpublished }) => !unpublished);
  const paths: JsonObject = {};
  for (const endpoint of published) {
    const own = statusesOf(endpoint, profile, style);
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
    servers: [{ url: profile === 'spec' ? '/' : TONCENTER_MOUNT }],
    tags: tagsOf(api, published, style),
    paths,
    components: {
      schemas: components.schemas,
      ...(shared.length === 0 ? {} : { parameters }),
      responses: Object.fromEntries(responses),
      securitySchemes,
    },
  };
  // Schemas carry symbols and undefined values; the document is what JSON makes of it.
  const plain = JSON.parse(JSON.stringify(document)) as JsonObject;
  applyProfileKeywords(plain, profile);
  if (profile === 'toncenter') renameTypes(plain, api.typeNames ?? {});
  return plain;
}

/** Renames types where a schema names them: as values of `const`, `default`, `enum`, and in the mapping of a union. */
function renameTypes(schema: JsonObject, names: Readonly<Record<string, string>>): void {
  const renamed = (value: unknown) => (typeof value === 'string' && Object.hasOwn(names, value) ? names[value] : value);
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'const' || key === 'default') schema[key] = renamed(value);
    else if (key === 'enum' && Array.isArray(value)) schema[key] = [...new Set(value.map(renamed))];
    else if (typeof value === 'object' && value !== null) renameTypes(value as JsonObject, names);
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
): JsonObject {
  const { name, tag, summary, description } = endpoint;
  const schemaName = schemaNameOf(endpoint);
  const body = style.successSchema(components.write(endpoint.result as TSchema));
  const response = '$ref' in body ? body : components.add(`${schemaName}Response`, body);
  const responses = responsesOf('The answer.', response, statuses);
  const operations: JsonObject = {};
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
              components.add(requestName(endpoint, schemaName), bodySchema(endpoint.params as TObject)),
              endpoint,
            ),
          }),
      responses,
      security,
    };
  }
  return operations;
}

/** Live services answer 500 to what does not exist, but for errors that have a status of their own. */
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

function responsesOf(description: string, schema: JsonObject, statuses: readonly number[]): JsonObject {
  const responses: JsonObject = { 200: { description, content: { 'application/json': { schema } } } };
  const all = new Set([...statuses, ...COMMON_STATUSES]);
  for (const status of [...all].sort((a, b) => a - b)) {
    responses[status] = { $ref: `#/components/responses/${status}` };
  }
  return responses;
}

function rpcOperation(components: SchemaComponents): JsonObject {
  return {
    tags: [RPC_TAG],
    summary: 'JSON-RPC',
    description:
      'Every method of this API by one path: its name in `method`, its parameters in `params`. Answers, errors and ' +
      'statuses are those of the method, with `jsonrpc` and `id` beside them. One request at a time.',
    operationId: `${JSON_RPC}_post`,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: components.add('JsonRpcRequest', rpcRequestSchema) } },
    },
    responses: responsesOf(
      'The answer of the method.',
      components.add('JsonRpcResponse', rpcResponseSchema),
      RPC_STATUSES,
    ),
    security,
  };
}

/** The groups that are in use: those the API describes first, in its order. */
function tagsOf(api: DescribedApi, endpoints: readonly AnyEndpoint<never>[], { hasRpc }: ApiStyle): JsonObject[] {
  const inUse = new Set(endpoints.map(({ tag }) => tag));
  const described = (api.tags ?? []).filter(({ name }) => inUse.has(name));
  const names = new Set(described.map(({ name }) => name));
  const others = [...inUse].filter((name) => !names.has(name)).map((name) => ({ name }));
  const rpc = hasRpc ? [{ name: RPC_TAG, description: 'All methods by one path' }] : [];
  return [...described.map(({ name, description }) => ({ name, description })), ...others, ...rpc];
}
