// npm run docs:examples: writes the answers that the reference pages show, from recordings of the reference services.
import { writeFileSync } from 'node:fs';
import { exampleAnswers, recordedApis } from '#test/docs/example-answers.js';

for (const api of recordedApis) writeFileSync(api.exampleAnswers, exampleAnswers(api));
