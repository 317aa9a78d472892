import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readCsv } from '#test/support/csv.js';
import { type RecordedNetwork, serveRecording } from '#test/support/recorded-network.js';
import { TernProcess } from '#test/support/tern-process.js';
import { testDatabase } from '#test/support/test-database.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const FROM = 1050;
const away = mkdtempSync(join(tmpdir(), 'tern-late-index-'));
const network = join(away, 'recorded.config.json');
let recorded: RecordedNetwork;
const open: (() => Promise<void>)[] = [];

beforeAll(async () => {
  recorded = await serveRecording(vectorPath('collection/recorded-net/chain'), 1060, network);
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
afterAll(async () => {
  await recorded.close();
  rmSync(away, { recursive: true });
});

interface Row {
  readonly [column: string]: string;
}

/** Wallets that the reference index knows and that do not move after the beginning. */
function wallets(): readonly Row[] {
  const all = readCsv(readBytes(vectorPath('collection/recorded-net/v3-tables/jetton_wallets.csv.br')));
  return [...all].filter(({ balance }) => balance !== '0').slice(0, 5);
}

async function start(args: readonly string[]): Promise<{ readonly serve: TernProcess; readonly url: string }> {
  const all = ['serve', '--data', join(away, 'data'), '--listen', '127.0.0.1:0', '--tvm-workers', '1'];
  const serve = await TernProcess.start([...all, '--metadata', 'off', '--network', network, ...args], ({ err }) =>
    err.includes('ready for requests'),
  );
  open.push(() => serve.kill());
  return { serve, url: /"url":"([^"]+)"/.exec(serve.err)![1]! };
}

async function get(url: string) {
  const answer = await fetch(url);
  const text = await answer.text();
  const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, any>) : null;
  return { status: answer.status, body, text, coverage: answer.headers.get('x-tern-coverage') };
}

async function until(url: string, wanted: (answer: Awaited<ReturnType<typeof get>>) => boolean) {
  for (const end = Date.now() + 240_000; ; await delay(100)) {
    const answer = await get(url);
    if (wanted(answer)) return answer;
    if (Date.now() > end) throw new Error(`${url} does not answer as wanted: ${answer.status} ${answer.text}`);
  }
}

const COVERED = `history=${FROM}-1060; state=partial`;
const isFilled = ({ body }: Awaited<ReturnType<typeof get>>) =>
  body?.networks.recorded.details.index_coverage === COVERED;
const PLAIN = 'x_no_address_book=true&x_no_metadata=true';

it('looks accounts up in API processes, whose index another process writes', async () => {
  const { url } = await opened();
  const shared = ['--database-url', url];
  const indexer = await start([...shared, '--role', 'indexer', '--from', String(FROM)]);
  await until(`${indexer.url}/readyz`, isFilled);
  const api = await start([...shared, '--role', 'api']);
  const ready = await until(`${api.url}/readyz`, isFilled);
  expect(ready.status).toBe(200);
  expect(api.serve.err).toContain(COVERED);
  const [wallet, second, third] = wallets();
  const address = encodeURIComponent(wallet!.address!);

  const off = await start([...shared, '--role', 'api', '--look-ups', '0']);
  await until(`${off.url}/readyz`, isFilled);
  expect(await get(`${off.url}/api/v3/jetton/wallets?address=${address}&${PLAIN}`)).toMatchObject({
    body: { jetton_wallets: [] },
    coverage: COVERED,
  });

  const found = await get(`${api.url}/api/v3/jetton/wallets?address=${address}&${PLAIN}`);
  expect(found).toMatchObject({
    coverage: null,
    body: { jetton_wallets: [{ balance: wallet!.balance, jetton: wallet!.jetton, owner: wallet!.owner }] },
  });
  const named = `owner_address=${encodeURIComponent(second!.owner!)}&jetton_address=${encodeURIComponent(second!.jetton!)}`;
  expect(await get(`${api.url}/api/v3/jetton/wallets?${named}&${PLAIN}`)).toMatchObject({
    coverage: null,
    body: { jetton_wallets: [{ address: second!.address, balance: second!.balance }] },
  });
  // A list of all wallets of an owner has those that are known.
  const listed = `${api.url}/api/v3/jetton/wallets?owner_address=${encodeURIComponent(third!.owner!)}&${PLAIN}`;
  expect(await get(listed)).toMatchObject({ status: 200, coverage: COVERED });
  const metrics = (await get(`${api.url}/metrics`)).text;
  expect(metrics).toMatch(/^tern_lookups_found_total\{network="recorded"\} [1-9]/m);
  expect(metrics).toContain('tern_index_state_complete{network="recorded"} 0\n');
  expect(metrics).toContain(`tern_index_history_first_seqno{network="recorded"} ${FROM}\n`);
}, 300_000);

it('reads the states of selected accounts at the start', async () => {
  const { url } = await opened();
  const selected = wallets();
  const file = join(away, 'accounts.txt');
  writeFileSync(file, selected.map(({ address }) => `${address}\n`).join(''));
  const all = await start(['--database-url', url, '--from', String(FROM), '--accounts', file]);
  const list = selected.map(({ address }) => address).join(',');
  const found = await until(`${all.url}/api/v3/accountStates?address=${list}&${PLAIN}`, ({ body, coverage }) => {
    return body?.accounts?.length === selected.length && coverage?.startsWith(COVERED) === true;
  });
  expect(found.coverage).toBe(`${COVERED}; accounts=selected`);
  const tokens = await until(`${all.url}/api/v3/jetton/wallets?address=${list}&${PLAIN}`, ({ body }) => {
    return body?.jetton_wallets?.length === selected.length;
  });
  expect(tokens.body!.jetton_wallets.map((each: Row) => each.balance).sort()).toEqual(
    selected.map(({ balance }) => balance).sort(),
  );
}, 300_000);

it('indexes the wallets of selected accounts for the jettons that the list names', async () => {
  const { url } = await opened();
  const selected = wallets();
  const [{ jetton }] = selected as [Row];
  const owned = selected.filter((each) => each.jetton === jetton);
  const file = join(away, 'owners.txt');
  writeFileSync(file, `jetton ${jetton}\n${owned.map(({ owner }) => `${owner}\n`).join('')}`);
  const all = await start(['--database-url', url, '--from', String(FROM), '--accounts', file]);
  const query = owned.map(({ owner }) => `owner_address=${encodeURIComponent(owner!)}`).join('&');
  const found = await until(`${all.url}/api/v3/jetton/wallets?${query}&${PLAIN}`, ({ body }) => {
    return body?.jetton_wallets?.length === owned.length;
  });
  const [balances, expected] = [found.body!.jetton_wallets as Row[], owned].map((rows) =>
    rows.map(({ balance }) => balance),
  );
  expect(balances!.toSorted()).toEqual(expected!.toSorted());
  const masters = await get(`${all.url}/api/v3/jetton/masters?address=${encodeURIComponent(jetton!)}&${PLAIN}`);
  expect(masters.body!.jetton_masters).toHaveLength(1);
}, 300_000);

async function opened() {
  const database = await testDatabase('empty');
  open.push(() => database.close());
  return database;
}
