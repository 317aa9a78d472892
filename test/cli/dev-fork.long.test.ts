import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { toBase64 } from '#kernel/bytes.js';
import { openReplay } from '#localnet/replay/replay-ledger.js';
import { runTern, TernProcess } from '#test/support/tern-process.js';

const chain = fileURLToPath(new URL('../../vectors/dev-chain', import.meta.url));
const away = mkdtempSync(join(tmpdir(), 'tern-forked-'));
chmodSync(away, 0o755);
const data = join(away, 'data');
/** Another name of the recorded chain, which can be taken away. */
const source = join(away, 'chain');
symlinkSync(chain, source);
afterAll(() => rmSync(away, { recursive: true, force: true }));

const AT = 300;
/** Wallets of the recorded network, which had sent several messages by then. */
const V5 = 'EQDbs0PF6sUpAbJkf7cjLuxmK7BH_Rs9V_1QwB9-R736f4_O';
const V3 = 'EQC-jjbPsAIuFYCyt9blRPn7BRrz237XPNoTqaxJ0sh5COq6';
const V4 = 'EQBmXNSiUcfXq0NoAA01r5W6W1y1nepKEPo8WLtFLQiUU8mc';
const V2 = 'EQBUK-8MjmbarBddBkUJOPu43epE0sxX9jtSrO96z5XgUBFE';
const NOBODY = '0:abababababababababababababababababababababababababababababababab';

let running: TernProcess | null = null;
afterEach(async () => {
  await running?.kill();
  running = null;
});

async function start(...args: readonly string[]): Promise<{ readonly dev: TernProcess; readonly url: string }> {
  const all = ['dev', '--data', data, '--index', 'off', '--mining', 'steady', ...args];
  const dev = await TernProcess.start(all, ({ out }) => out.includes('Press Ctrl-C to stop'), { TERN_PORT: '0' });
  running = dev;
  return { dev, url: /health +(http:\/\/\S+)\/readyz/.exec(dev.out)![1]! };
}

/** Answers have any form. */
type Answer = any;

async function get(url: string, path: string): Promise<Answer> {
  const answer = (await (await fetch(`${url}/api/v2/${path}`)).json()) as Answer;
  return answer.ok === true ? answer.result : answer;
}

async function post(url: string, path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

const lts = async (url: string, address: string): Promise<bigint[]> =>
  (await get(url, `getTransactions?address=${address}&limit=30`)).map((each: Answer) => BigInt(each.transaction_id.lt));

describe('tern dev --fork', () => {
  it('begins from a recorded network, whose accounts live on', async () => {
    const ledger = openReplay(chain, { to: AT, head: null });
    const endLt = ledger.head!.end_lt;
    const { dev, url } = await start('--fork', `${source}@${AT}`);
    expect(dev.out).toContain(`a fork of ${source} at masterchain block ${AT}`);

    // Reads at the head bring what they are about.
    const before = await get(url, `getWalletInformation?address=${V5}`);
    expect(before).toMatchObject({ wallet: true, account_state: 'active', wallet_type: 'wallet v5 r1' });
    expect(BigInt(before.last_transaction_id.lt)).toBeLessThan(endLt);
    expect(await get(url, `getAddressState?address=${NOBODY}`)).toBe('uninitialized');
    const seqno = await post(url, '/api/v2/runGetMethod', { address: V3, method: 'seqno', stack: [] });
    expect(seqno.result).toMatchObject({ exit_code: 0 });

    // What it did on the other network can be read on, and belongs together with what it does here.
    const there = await lts(url, V5);
    expect(there.length).toBeGreaterThan(1);
    const funded = await post(url, '/localnet/faucet', { address: V5, amount: '5000000000' });
    expect(funded.block.seqno).toBeGreaterThan(1);
    const both = await lts(url, V5);
    expect(both.slice(1)).toEqual(there);
    expect(both[0]).toBeGreaterThan(endLt);
    const after = BigInt(await get(url, `getAddressBalance?address=${V5}`));
    expect(after - BigInt(before.balance)).toBeGreaterThan(4_990_000_000n);

    // A message brings the account that it is for.
    await post(url, '/localnet/impersonate', { from: NOBODY, to: V4, value: '1000000000' });
    expect((await lts(url, V4))[0]).toBeGreaterThan(endLt);

    // The configuration is theirs, the validator is ours, and time does not go back.
    const status = (await (await fetch(`${url}/localnet/status`)).json()) as Answer;
    expect(status.fork).toMatchObject({ source, block: { seqno: AT, root_hash: toBase64(ledger.head!.id.root_hash) } });
    expect(status.gen_utime).toBeGreaterThanOrEqual(ledger.timeOf(AT));
    const dnsRoot = await get(url, 'getConfigParam?config_id=4');
    expect(dnsRoot['@type']).toBe('configInfo');
  });

  it('goes on without the other network, but for accounts that have not been needed', async () => {
    renameSync(source, join(away, 'gone'));
    const { dev, url } = await start();
    expect(dev.out).toMatch(/a fork of .* continues from masterchain block/s);
    expect(await get(url, `getWalletInformation?address=${V5}`)).toMatchObject({ wallet: true });
    const missing = await get(url, `getAddressInformation?address=${V2}`);
    expect(missing).toMatchObject({ ok: false });
    expect(missing.error).toContain('cannot be imported');
    expect(dev.err).toContain('the forked network is unreachable');
    // Once it is there again, they come: a recorded chain is read whole before, which may take longer than a request.
    renameSync(join(away, 'gone'), source);
    for (const end = Date.now() + 240_000; ; ) {
      const state = await get(url, `getAddressState?address=${V2}`);
      if (state === 'active') break;
      expect(Date.now(), JSON.stringify(state)).toBeLessThan(end);
      await delay(200);
    }
  });

  it('goes back to where it began', async () => {
    const { url } = await start('--fork', source);
    const head = async () => (await (await fetch(`${url}/localnet/status`)).json()) as Answer;
    const { chain: first } = await head();
    await fetch(`${url}/localnet/reset`, { method: 'POST' });
    for (const end = Date.now() + 30_000; ; await delay(100)) {
      const now = await head().catch(() => null);
      if (now?.chain !== undefined && now.chain !== first) {
        expect(now.fork.block.seqno).toBe(AT);
        break;
      }
      expect(Date.now()).toBeLessThan(end);
    }
    const [newest] = await lts(url, V5);
    expect(newest).toBeLessThan(openReplay(chain, { to: AT, head: null }).head!.end_lt);
  });

  it('is not taken for a fork of something else', async () => {
    const other = await runTern(['dev', '--data', data, '--index', 'off', '--fork', `${source}@${AT + 1}`]);
    expect(other.status).not.toBe(0);
    expect(other.stderr).toContain(`is a fork of ${source}, block ${AT}`);
    expect(other.stderr).toContain('--reset');
    // A start that fails leaves the chain as it is.
    const reset = ['dev', '--data', data, '--index', 'off', '--reset'];
    for (const wrong of [
      ['--fork', `${source}@4000000`],
      ['--mining', 'auto', '--block-time', '400'],
    ]) {
      const { status, stderr } = await runTern([...reset, ...wrong]);
      expect([status, stderr.split('\n').length]).toEqual([1, 2]);
    }
    const { url } = await start();
    const status = (await (await fetch(`${url}/localnet/status`)).json()) as Answer;
    expect(status.fork.block.seqno).toBe(AT);
    const nowhere = await runTern(['dev', '--data', join(away, 'new'), '--index', 'off', '--fork', join(away, 'no')]);
    expect(nowhere.stderr).toContain('the file does not exist');
  });
});
