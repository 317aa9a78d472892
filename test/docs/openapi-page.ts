import { stringify } from 'yaml';
import { openApiDocument } from '#api/http/openapi.js';
import { v2Description } from '#app/service/v2-api.js';

const NOTE =
  '# Written by npm run docs:openapi from the endpoints of API v2. A running Tern serves it at /api/v2/openapi.json.\n';

/** `openapi/v2.yaml`: the document of API v2 in the `spec` profile. */
export function openApiPage(): string {
  return NOTE + stringify(openApiDocument(v2Description, 'spec'), { lineWidth: 120, aliasDuplicateObjects: false });
}
