import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { flagOf } from '#app/config/setting.js';
import { devSettings, serveSettings } from '#app/config/settings.js';
import { settingsPage } from './settings-page.js';

const page = settingsPage();

it('docs/config.md is what the code says; npm run docs:config writes it anew', () => {
  expect(readFileSync('docs/config.md', 'utf8')).toBe(page);
});

it('has a row for every setting', () => {
  const names = new Set([...Object.keys(serveSettings), ...Object.keys(devSettings)]);
  const rows = page.split('\n').filter((line) => line.startsWith('| `--'));
  expect(rows).toHaveLength(names.size);
  for (const name of names)
    expect(
      rows.filter((line) => line.startsWith(`| \`${flagOf(name)} `)),
      name,
    ).toHaveLength(1);
});
