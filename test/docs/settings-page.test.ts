import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { flagOf } from '#app/config/setting.js';
import {
  backfillSettings,
  checkSettings,
  devSettings,
  localnetSettings,
  migrateSettings,
  serveSettings,
} from '#app/config/settings.js';
import { settingsPage } from './settings-page.js';

const page = settingsPage();

it('docs/config.md is what the code says; npm run docs:config writes it again', () => {
  expect(readFileSync('docs/config.md', 'utf8')).toBe(page);
});

it('has a row for every setting', () => {
  const { replay, fork, port, host, mining, blockTime, transactions, signatures } = devSettings;
  const { liteserverPort, index, databaseUrl, metadata, profile, webhooks, webhookTargets, logLevel } = devSettings;
  const { maxUnbegunPerClient, maxConnectionsPerAddress, maxBodiesPerAddress } = devSettings;
  const ofClient = { maxUnbegunPerClient, maxConnectionsPerAddress, maxBodiesPerAddress };
  const network = { replay, fork, port, host, mining, blockTime, transactions, signatures, liteserverPort };
  for (const [title, table] of [
    ['tern serve', serveSettings],
    [
      'tern dev',
      { ...network, index, databaseUrl, metadata, profile, webhooks, webhookTargets, ...ofClient, logLevel },
    ],
    ['tern localnet', localnetSettings],
    ['tern index', backfillSettings],
    ['tern check', checkSettings],
    ['tern migrate', migrateSettings],
  ] as const) {
    const rows = page
      .split(`## ${title}\n`)[1]!
      .split('\n## ')[0]!
      .split('\n')
      .filter((line) => line.startsWith('| `--'));
    expect(
      rows.map((line) => /`(--[a-z-]+)/.exec(line)![1]),
      title,
    ).toEqual(Object.keys(table).map(flagOf));
  }
});
