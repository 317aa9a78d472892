import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { flagOf, readSettings, variableOf } from '#app/config/setting.js';
import { backfillSettings, checkSettings, devSettings, migrateSettings, serveSettings } from '#app/config/settings.js';

const tables = [serveSettings, devSettings, backfillSettings, checkSettings, migrateSettings];
const names = [...new Set(tables.flatMap((table) => Object.keys(table)))];
const variables = new Set(names.map(variableOf));
const flags = new Set([...names.map(flagOf), '--print', '--check', '--recreate']);
/** Of the compose file alone. */
const composeOnly = ['TERN_PUBLISH'];

const text = (file: string) => readFileSync(file, 'utf8');

describe.each(['Dockerfile', 'compose.yaml', 'docs/guides/self-hosting.md', 'README.md'])('%s', (file) => {
  it('names only variables that there are', () => {
    const named = text(file).match(/TERN_[A-Z_]+/g) ?? [];
    expect(named.filter((name) => !variables.has(name) && !composeOnly.includes(name))).toEqual([]);
  });

  it('names only flags that there are, on lines of the commands that have settings', () => {
    const lines = text(file)
      .split('\n')
      .filter((line) => /\btern (serve|dev|index|check|migrate)\b|^docker run/.test(line) && !/\bnpm\b/.test(line));
    const named = lines.flatMap((line) => line.match(/--[a-z][a-z-]+/g) ?? []);
    expect(named.filter((name) => !flags.has(name))).toEqual([]);
  });
});

describe('compose.yaml', () => {
  interface Service {
    readonly command: readonly string[] | string;
    readonly environment?: Readonly<Record<string, string>>;
  }
  const { services } = parse(text('compose.yaml')) as { readonly services: Readonly<Record<string, Service>> };
  /** `${NAME:-default}` as it is when NAME is not set. */
  const unset = (value: string) => value.replace(/\$\{\w+:-([^}]*)\}/g, '$1');

  it('gives tern settings that it accepts', () => {
    const { command, environment = {} } = services.tern!;
    const set = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, unset(value)]));
    expect(command[0]).toBe('--network');
    const { values } = readSettings(serveSettings, {
      flags: { network: [unset(command[1] as string)] },
      environment: set,
    });
    expect(values).toMatchObject({
      ...{ network: [{ name: null, source: 'mainnet' }], redisUrl: null, maxHeadAge: 60_000 },
      ...{ databaseUrl: [{ network: null, url: 'postgresql://tern:tern@postgres/tern' }], keep: null },
    });
    const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD } = services.postgres!.environment!;
    expect([POSTGRES_USER, unset(POSTGRES_PASSWORD!), POSTGRES_DB]).toEqual(['tern', 'tern', 'tern']);
  });
});

describe('Dockerfile', () => {
  it('runs the entry of the package, and copies what the package has', () => {
    const dockerfile = text('Dockerfile');
    const { bin, files } = JSON.parse(text('package.json')) as { bin: { tern: string }; files: string[] };
    expect(dockerfile).toContain(`ENTRYPOINT ["node", "/app/${bin.tern}", "serve"]`);
    // What begins with `!` is left out of what another entry has.
    for (const file of files.filter((each) => !each.startsWith('!')))
      expect(dockerfile, file).toMatch(new RegExp(`^COPY --from=build .*/src/${file}\\b`, 'm'));
  });
});
