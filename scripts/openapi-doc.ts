// npm run docs:openapi: writes openapi/*.yaml from the endpoints of the APIs.
import { writeFileSync } from 'node:fs';
import { DOCUMENTED, openApiPage, WRITTEN, writtenPage } from '#test/docs/openapi-page.js';

for (const [file, api] of Object.entries(DOCUMENTED)) writeFileSync(file, openApiPage(api));
for (const [file, [path, document]] of Object.entries(WRITTEN)) writeFileSync(file, writtenPage(path, document));
