import { stringify } from 'yaml';
import { adminDescription } from '#api/admin/description.js';
import { type DescribedApi, openApiDocument } from '#api/http/openapi.js';
import { localnetDescription } from '#api/localnet/description.js';
import { streamAsyncApi, streamOpenApi } from '#api/stream/description.js';
import { emulateDescription } from '#api/v3/emulate-api.js';
import { v3Description } from '#api/v3/v3-api.js';
import { webhooksOpenApi } from '#api/webhooks/description.js';
import { v2Description } from '#app/service/apis.js';

/** The APIs whose documents are committed, by the files that have them. */
export const DOCUMENTED: Readonly<Record<string, DescribedApi>> = {
  'openapi/v2.yaml': v2Description,
  'openapi/v3.yaml': v3Description,
  'openapi/emulate.yaml': emulateDescription,
  'openapi/localnet.yaml': localnetDescription,
  'openapi/admin.yaml': adminDescription,
};

/** The document of an API in the `spec` profile, as it is committed. */
export function openApiPage(api: DescribedApi): string {
  const name = api.prefix.slice(api.prefix.lastIndexOf('/') + 1);
  const note =
    `# Written by npm run docs:openapi from the endpoints of API ${name}. ` +
    `A running Tern serves it at ${api.prefix}/openapi.json.\n`;
  return note + stringify(openApiDocument(api, 'spec'), { lineWidth: 120, aliasDuplicateObjects: false });
}

/** Documents that are written as they are, by the files that have them, and where a running Tern serves them. */
export const WRITTEN: Readonly<Record<string, readonly [path: string, document: object]>> = {
  'openapi/streaming.yaml': ['/api/streaming/openapi.json', streamOpenApi],
  'openapi/streaming.asyncapi.yaml': ['/api/streaming/asyncapi.json', streamAsyncApi],
  'openapi/webhooks.yaml': ['/api/webhooks/openapi.json', webhooksOpenApi],
};

export function writtenPage(path: string, document: object): string {
  const note = `# Written by npm run docs:openapi. A running Tern serves it at ${path}.\n`;
  return note + stringify(document, { lineWidth: 120, aliasDuplicateObjects: false });
}
