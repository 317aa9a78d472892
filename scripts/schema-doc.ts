// node --conditions=source --import tsx scripts/schema-doc.ts: writes schemas/tern.tlb from the schema lines that the code quotes.
import { writeFileSync } from 'node:fs';
import { collectSchema, schemaPage } from '#test/docs/schema-page.js';

writeFileSync('schemas/tern.tlb', schemaPage(collectSchema()));
