import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FULL } from '#test/support/full-depth.js';
import { type RecordedNetwork, serveRecording } from '#test/support/recorded-network.js';
import { runTern, TernProcess } from '#test/support/tern-process.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { vectorPath } from '#test/support/vector-files.js';

const away = mkdtempSync(join(tmpdir(), 'tern-index-'));
const network = join(away, 'recorded.config.json');
const other = join(away, 'other.config.json');
const served: RecordedNetwork[] = [];

beforeAll(async () => {
  served.push(await serveRecording(vectorPath('recorded-chain'), null, network));
  served.push(await serveRecording(vectorPath('mainnet-genesis'), 9, other));
});
afterAll(async () => {
  for (const each of served) await each.close();
  rmSync(away, { recursive: true });
});

const databases: TestDatabase[] = [];
async function database(content: 'schema' | 'empty'): Promise<TestDatabase> {
  const made = await testDatabase(content);
  databases.push(made);
  return made;
}
afterEach(async () => {
  for (const made of databases.splice(0)) await made.close();
});

const common = (url: string, config = network) => [
  ...['--network', config, '--database-url', url],
  ...['--data', join(away, 'data'), '--log-level', 'silent'],
];
const last = () => served[0]!.lastSeqno;

describe('tern migrate', () => {
  it('makes the tables once, and reports by --check whether it has to', async () => {
    const { url } = await database('empty');
    const flags = ['migrate', '--database-url', url];
    expect(await runTern([...flags, '--check'])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^tern: store\/no-schema: .*Run tern migrate/),
    });
    expect(await runTern(['migrate'], { TERN_DATABASE_URL: url })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^test_\w+: ran 0001-index\.sql.*; schema version \d+\n$/),
      stderr: expect.stringMatching(/ 0 of \d+ migrations, running 0001-index\.sql\n/),
    });
    for (const args of [flags, [...flags, '--check']]) {
      expect(await runTern(args)).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^test_\w+: up to date, schema version \d+\n$/),
      });
    }
  });

  it('leaves a database of others untouched', async () => {
    const { url, connect } = await database('empty');
    const client = await connect();
    await client.query('CREATE TABLE theirs (a integer)');
    expect(await runTern(['migrate', '--database-url', url])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^tern: store\/schema-foreign: .* it has "theirs"; nothing was changed/),
    });
    expect((await client.query('SELECT FROM pg_tables WHERE schemaname = current_schema()')).rowCount).toBe(1);
  });
});

describe('tern index and tern check', () => {
  it('fill an index in pieces, and find it as the chain is', async () => {
    const { url, connect } = await database('empty');
    const half = Math.floor(last() / 2);
    const range = ['--from', String(half), '--to', String(half + 2)];
    const first = await runTern(['index', ...common(url), ...range, '--workers', '1']);
    expect(first).toMatchObject({ status: 0, stdout: expect.stringMatching(/^wrote 3 masterchain blocks with /) });
    expect(await runTern(['check', ...common(url), '--from', '1', '--to', String(last())])).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(new RegExp(`^not indexed: 1-${half - 1}, ${half + 3}-${last()}$`, 'm')),
      stderr: expect.stringMatching(/^tern: cli\/index-differs: .* 0 differences, 2 missing ranges/m),
    });
    const rest = await runTern(['index', ...common(url), '--from', 'genesis']);
    expect(rest.stdout).toMatch(new RegExp(`^wrote ${last() - 3} masterchain blocks with `));
    expect((await runTern(['index', ...common(url)])).stdout).toMatch(/^wrote 0 masterchain blocks /);

    const check = await runTern(['check', ...common(url)]);
    expect(check).toMatchObject({ status: 0, stderr: '' });
    expect(check.stdout).toMatch(new RegExp(`^masterchain blocks 1-${last()}: compared ${last()} of them with`));
    expect(check.stdout).toMatch(/^no differences$/m);
    const sample = await runTern(['check', ...common(url), '--sample', '2']);
    expect(sample.stdout).toMatch(new RegExp(`^masterchain blocks 1-${last()}: compared 2 of them with`));

    const client = await connect();
    await client.query('UPDATE transactions SET now = now + 1 WHERE id = (SELECT min(id) FROM transactions)');
    const differs = await runTern(['check', ...common(url)]);
    expect(differs.status).toBe(1);
    expect(differs.stdout).toMatch(/^different: transaction, 1 times\n {2}transactions \d+, now: the chain has \d+/m);
    expect(differs.stderr).toMatch(/^tern: cli\/index-differs: the index differs from the chain: 1 differences/);
  });

  it('derive contracts, token events and actions again on demand', async () => {
    const { url, connect } = await database('empty');
    const tokens = join(away, 'tokens.config.json');
    served.push(await serveRecording(join(import.meta.dirname, '../../vectors/dev-chain'), 340, tokens));
    await runTern(['index', ...common(url, tokens)]);
    const client = await connect();
    const rows = async () =>
      (
        await client.query(`SELECT to_jsonb(c)::text AS row FROM contracts c UNION ALL
        SELECT to_jsonb(e)::text FROM token_events e UNION ALL SELECT to_jsonb(a)::text FROM actions a ORDER BY 1`)
      ).rows;
    const before = await rows();
    await client.query('TRUNCATE token_events, contracts, contract_references');
    for (let times = 0; times < (FULL ? 2 : 1); times++) {
      expect(await runTern(['index', ...common(url, tokens), '--rederive', 'contracts'])).toMatchObject({
        status: 0,
        stdout: 'all contracts, token events and actions are derived anew\n',
      });
      expect(await rows()).toEqual(before);
    }
    expect(before.length).toBeGreaterThan(0);
    expect(await runTern(['index', ...common(url), '--rederive', 'contracts', '--from', '1'])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^tern: cli\/usage: --rederive covers everything that is indexed/),
    });
  });

  it('report what they wait for, and that they were ended before they were done', async () => {
    const { url } = await database('schema');
    const gone = join(away, 'gone.config.json');
    await (await serveRecording(vectorPath('recorded-chain'), 1, gone)).close();
    for (const command of ['index', 'check']) {
      if (command === 'check')
        expect(await runTern(['index', ...common(url), '--to', '3'])).toMatchObject({ status: 0 });
      const running = await TernProcess.start([command, ...common(url, gone)], ({ err }) => err.includes('waiting: '));
      expect(running.err).toMatch(/^(0 .*masterchain blocks .*)?waiting: .*ECONNREFUSED/m);
      expect(await running.end('SIGINT')).toEqual({ code: 1, signal: null });
      expect(running.err.trimEnd().split('\n').at(-1)).toMatch(
        new RegExp(`^tern: cli/interrupted: tern ${command} was interrupted\\. `),
      );
    }
  });

  it('say in one line what is wrong, and write nothing', async () => {
    const empty = await database('empty');
    const schema = await database('schema');
    const indexed = await database('schema');
    await runTern(['index', ...common(indexed.url), '--to', '2']);
    const client = await indexed.connect();
    const state = async () => (await client.query('SELECT * FROM index_state')).rows;
    const before = await state();
    const nowhere = 'postgresql://nobody@127.0.0.1:1/none';
    for (const [args, line] of [
      [['index', ...common('mysql://x')], /^tern: config\/bad-setting: --database-url is invalid/],
      [['index', '--network', network], /^tern: config\/missing-setting: --database-url \(or TERN_DATABASE_URL\)/],
      [['index', ...common(`other=${empty.url}`)], /^tern: config\/setting-conflict: --database-url names the network/],
      [['index', ...common(nowhere)], /^tern: store\/unreachable: .*ECONNREFUSED 127\.0\.0\.1:1/],
      [['index', ...common(indexed.url, other)], /^tern: store\/other-network: .*nothing was changed/],
      [['check', ...common(indexed.url, other)], /^tern: store\/other-network: /],
      [['check', ...common(empty.url)], /^tern: store\/no-schema: .*Run tern migrate/],
      [['check', ...common(schema.url)], /^tern: store\/\S+|^tern: indexer\/\S+/],
      [['check', ...common(indexed.url), '--from', '5'], /^tern: indexer\/check-range: .*indexed: 1-2/],
    ] as const) {
      const { status, stdout, stderr } = await runTern([...args]);
      expect({ status, stdout }, args.join(' ')).toEqual({ status: 1, stdout: '' });
      expect(stderr, args.join(' ')).toMatch(line);
      expect(stderr.trim().split('\n'), args.join(' ')).toHaveLength(1);
    }
    expect(await state()).toEqual(before);
    const tables = await (await empty.connect()).query('SELECT FROM pg_tables WHERE schemaname = current_schema()');
    expect(tables.rowCount).toBe(0);
  });
});
