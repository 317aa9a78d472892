// npm run docs:openapi: writes openapi/v2.yaml from the endpoints of API v2.
import { writeFileSync } from 'node:fs';
import { openApiPage } from '#test/docs/openapi-page.js';

writeFileSync('openapi/v2.yaml', openApiPage());
