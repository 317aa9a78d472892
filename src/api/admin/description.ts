import { adminKeyEndpoints } from '#api/admin/keys.js';
import { adminPlanEndpoints } from '#api/admin/plans.js';

const DOCUMENT_VERSION = '1.0.0';

const DESCRIPTION = `Keys, plans and usage of a Tern with \`--access keys\`.

Every request needs an admin key in the header \`X-API-Key\`: \`tern keys create --admin --plan unlimited\` makes the first one.
Other keys get 403. Methods that change something take POST with a JSON object.`;

/** The admin API as its document describes it. */
export const adminDescription = {
  prefix: '/admin',
  title: 'Tern admin API',
  version: DOCUMENT_VERSION,
  description: DESCRIPTION,
  style: 'plain',
  apiVersion: DOCUMENT_VERSION,
  clients: 'admin',
  ignores: 'nothing',
  tags: [
    { name: 'Keys', description: 'API keys and their usage' },
    { name: 'Plans', description: 'What keys may do' },
  ],
  endpoints: [...adminKeyEndpoints, ...adminPlanEndpoints],
} as const;
