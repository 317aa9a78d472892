/**
 * Writes src/formats/tl/generated/ from schemas/lite_api.tl and schemas/adnl.tl:
 * `node --conditions=source --import tsx scripts/generate-tl.ts`. A test compares the two.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { generateTl } from './tl-code.js';
import { parseTlSchema } from './tl-schema.js';

const schemas = ['lite_api.tl', 'adnl.tl'].map((name) => readFileSync(`schemas/${name}`, 'utf8'));
const folder = 'src/formats/tl/generated';
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [name, code] of generateTl(schemas.flatMap(parseTlSchema))) writeFileSync(`${folder}/${name}`, code);
