// npm run docs:errors: writes docs/errors.md from the error tables of the code.
import { writeFileSync } from 'node:fs';
import { collectErrors, errorsPage } from '#test/docs/errors-page.js';

writeFileSync('docs/errors.md', errorsPage(await collectErrors('src')));
