// npm run docs:config: writes docs/config.md from the tables of settings.
import { writeFileSync } from 'node:fs';
import { settingsPage } from '#test/docs/settings-page.js';

writeFileSync('docs/config.md', settingsPage());
