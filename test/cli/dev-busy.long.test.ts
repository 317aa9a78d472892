import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { walletContract } from '#localnet/wallets/wallet-contract.js';
import { FULL } from '#test/support/full-depth.js';
import { TernProcess } from '#test/support/tern-process.js';
import { fundHighloadSenders, type HighloadSender, sendBoc } from '../load/highload-senders.js';

const away = mkdtempSync(join(tmpdir(), 'tern-busy-'));
chmodSync(away, 0o755);
const data = join(away, 'data');
let dev: TernProcess;
let url: string;

beforeAll(async () => {
  const args = ['dev', '--data', data, '--index', 'off', '--block-time', '200'];
  dev = await TernProcess.start(args, ({ out }) => out.includes('Press Ctrl-C to stop'), { TERN_PORT: '0' });
  url = /health +(http:\/\/\S+)\/readyz/.exec(dev.out)![1]!;
});

afterAll(async () => {
  await dev.kill();
  rmSync(away, { recursive: true, force: true });
});

/** Answers have any form. */
type Answer = any;

async function call(method: string, parameters?: object): Promise<{ status: number; answer: Answer }> {
  const how =
    parameters === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(parameters) };
  const response = await fetch(`${url}/localnet/${method}`, how);
  return { status: response.status, answer: await response.json() };
}

const statusOf = async () => (await call('status')).answer;

/** Transfers, reads and control calls without a pause, until it is stopped. Each request gets some answer. */
class Load {
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  /** Requests that got no answer at all. */
  readonly unanswered: string[] = [];
  sent = 0;
  readonly #senders: readonly HighloadSender[];

  constructor(senders: readonly HighloadSender[]) {
    this.#senders = senders;
    const to = walletContract({ version: 'v3r2', publicKey: new Uint8Array(32).fill(7) }).address;
    for (const sender of this.#senders) {
      this.#loop(async () => {
        const { accepted, problem } = await sendBoc(url, sender.transfer({ to, value: 10_000_000n, bounce: false }));
        if (accepted) this.sent++;
        if (/ECONN|fetch failed|UND_ERR/.test(problem)) this.unanswered.push(problem);
      });
    }
    for (const path of ['api/v2/getMasterchainInfo', `api/v2/getAddressInformation?address=${to.toRaw()}`, 'healthz']) {
      this.#loop(async () => void (await (await fetch(`${url}/${path}`)).text()));
    }
    this.#loop(async () => void (await call('mine', { blocks: 20 })));
    this.#loop(async () => void (await call('faucet', { address: to.toRaw(), amount: '1000' })));
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  #loop(work: () => Promise<void>): void {
    const run = async () => {
      while (!this.#stop.signal.aborted) {
        await work().catch((error: Error) => this.unanswered.push(String(error.cause ?? error)));
        await delay(5);
      }
    };
    this.#running.push(run());
  }
}

const METHODS = ['reset', 'snapshots/load', 'reset'] as const;

describe('a busy local network', () => {
  it('is reset, loaded from a snapshot, paused and moved in time, and never ends', async () => {
    for (const method of FULL ? METHODS : METHODS.slice(1)) {
      const { chain } = await statusOf();
      // Before the senders are paid: they are paid again on the chain that is loaded.
      if (method === 'snapshots/load') expect((await call('snapshots/save', { name: 'busy' })).status).toBe(200);
      const load = new Load(await fundHighloadSenders(url, 8));
      await expect.poll(() => load.sent).toBeGreaterThan(20);
      expect((await call('time', { advance: 60 })).status).toBe(200);
      expect((await call('pause', {})).status).toBe(200);
      expect((await call('resume', {})).status).toBe(200);
      const name = method === 'reset' ? {} : { name: 'busy' };

      // Two at once: one of them is refused.
      const both = await Promise.all([call(method, name), call(method, name)]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
      const refused = both.find(({ status }) => status === 409)!;
      expect(refused.answer.error).toMatch(/^the network is being changed by another command \(/);
      const { answer } = both.find(({ status }) => status === 200)!;
      expect(answer.chain).toBe(chain);

      // What was answered is true at once.
      const now = await statusOf();
      expect(now.chain).toBe(answer.new_chain);
      expect(now.chain).not.toBe(chain);
      await load.end();
      expect(load.unanswered).toEqual([]);
      const { head } = await statusOf();
      await expect.poll(async () => (await statusOf()).head.seqno).toBeGreaterThan(head.seqno);
      const proven = async () => {
        const info = (await (await fetch(`${url}/api/v2/getMasterchainInfo`)).json()) as Answer;
        return info.result?.last.seqno ?? 0;
      };
      await expect.poll(proven).toBeGreaterThanOrEqual(head.seqno);
    }
  });

  it('goes on with its chain when a snapshot cannot be loaded', async () => {
    expect((await call('snapshots/save', { name: 'broken' })).status).toBe(200);
    const folder = join(data, 'localnet', 'snapshots', 'broken');
    const pack = readdirSync(folder).find((name) => name.endsWith('.pack'))!;
    // Its files are those of the chain, too: this one gets its own, which is damaged.
    rmSync(join(folder, pack));
    writeFileSync(join(folder, pack), new Uint8Array(100));
    const before = await statusOf();
    const { status, answer } = await call('snapshots/load', { name: 'broken' });
    expect([status, answer.error]).toEqual([422, expect.stringMatching(/is damaged|cannot be read/)]);
    const after = await statusOf();
    expect(after.chain).toBe(before.chain);
    await expect.poll(async () => (await statusOf()).head.seqno).toBeGreaterThan(before.head.seqno);
  });

  it('refuses folders that cannot be made, and goes on', async () => {
    for (const folder of ['/proc/tern/x', '/dev/null/x', `/tmp/${'n'.repeat(300)}/x`]) {
      const { status, answer } = await call('export', { folder });
      expect([folder, status]).toEqual([folder, 422]);
      expect(answer.error).toMatch(/cannot be created/);
    }
    expect((await call('mine', { blocks: 1 })).status).toBe(200);
  });
});
