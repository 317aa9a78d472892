import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { ServedTern } from '#test/support/served-tern.js';
import { hashesOf } from '../load/streams.js';

/** What a receiver does while it is out of order; a slow one answers late all the time. */
const MANNERS = ['is away', 'answers 500', 'hangs', 'redirects', 'is slow'] as const;
type Manner = (typeof MANNERS)[number];

const ACCOUNTS = Array.from({ length: 4 }, (_, i) => `0:${(0xe0 + i).toString(16).toUpperCase().repeat(32)}`);
/** Between two transfers. */
const TRANSFER_MS = 1_000;
const SLOW_MS = 400;
/** Kills of the process while receivers are out of order. */
const KILLS = 3;
/** How long a busy service may take to list transactions. */
const READ_MS = 60_000;
/** Retries come after 5 s, 10 s, 20 s, …: after an outage as late as the outage was long. */
const settleMs = (outageMs: number): number => 2 * outageMs + 120_000;

interface Delivered {
  readonly id: string;
  readonly transactions: readonly { readonly account: string; readonly hash: string }[];
}

/** A receiver of webhooks that verifies what it accepts. */
class Receiver {
  readonly manner: Manner;
  readonly accepted: Delivered[] = [];
  isInOrder = false;
  refused = 0;
  unsigned = 0;
  secret = '';
  readonly #server: Server;
  readonly #elsewhere: string;
  #port = 0;

  constructor(manner: Manner, elsewhere: string) {
    this.manner = manner;
    this.#elsewhere = elsewhere;
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request) body += part;
    if (!this.isInOrder && this.manner !== 'is slow') {
      this.refused++;
      if (this.manner === 'answers 500') response.writeHead(500).end();
      if (this.manner === 'redirects') response.writeHead(307, { location: this.#elsewhere }).end();
      return;
    }
    const headers = request.headers as Record<string, string>;
    try {
      new Webhook(this.secret).verify(body, headers);
    } catch {
      this.unsigned++;
    }
    this.accepted.push({ id: headers['webhook-id']!, transactions: JSON.parse(body).transactions });
    if (this.manner === 'is slow') await delay(SLOW_MS);
    response.writeHead(204).end();
  }

  /** What is wrong with what was accepted. @param expected hashes of the transactions of each account, in their order */
  problems(expected: ReadonlyMap<string, readonly string[]>): string[] {
    const found: string[] = [];
    if (this.unsigned > 0) found.push(`${this.unsigned} deliveries without a valid signature`);
    const once = this.accepted.filter(({ id }, i) => id !== this.accepted[i - 1]?.id);
    if (new Set(once.map(({ id }) => id)).size !== once.length) found.push('an event came again after a later one');
    for (const [account, hashes] of expected) {
      const got = once.flatMap(({ transactions }) => transactions.filter((each) => each.account === account));
      if (got.map(({ hash }) => hash).join() !== hashes.join())
        found.push(`${account}: ${got.length} transactions instead of ${hashes.length}, or in another order`);
    }
    return found.map((problem) => `the receiver that ${this.manner}: ${problem}`);
  }
}

/**
 * Webhooks of a local network whose receivers are out of order for minutes, while it is killed and started again.
 * @returns what was lost, reordered, unsigned or reached though it must not be
 */
export async function webhookOutages(
  program: string,
  { minutes, say }: { readonly minutes: number; readonly say: (line: string) => void },
): Promise<readonly string[]> {
  const data = mkdtempSync(join(tmpdir(), 'tern-webhooks-'));
  let reached = 0;
  const elsewhere = createServer((_, response) => {
    reached++;
    response.end();
  });
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  const target = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
  const receivers = MANNERS.map((manner) => new Receiver(manner, target));
  const start = (port: number) =>
    ServedTern.start(['dev', '--data', join(data, 'data'), '--port', String(port)], program);
  let tern = await start(0);
  const { url } = tern;
  try {
    for (const receiver of receivers) {
      await receiver.listen();
      const filter = { types: ['transactions'], addresses: ACCOUNTS };
      receiver.secret = (await post(`${url}/api/webhooks/add`, { url: receiver.url, filter })).secret;
      if (receiver.manner === 'is away') await receiver.close();
    }
    const outageMs = minutes * 60_000;
    const end = performance.now() + outageMs;
    let transfers = 0;
    const transferring = async () => {
      for (; performance.now() < end; await delay(TRANSFER_MS)) {
        const to = ACCOUNTS[transfers % ACCOUNTS.length]!;
        const impersonated = { from: `0:${'ab'.repeat(32)}`, to, amount: '1000000' };
        // None is taken while the process starts again.
        await post(`${url}/localnet/impersonate`, impersonated).then(
          () => transfers++,
          () => {},
        );
      }
    };
    const killing = async () => {
      for (let i = 0; i < KILLS; i++) {
        await delay(outageMs / (KILLS + 1));
        tern.send('SIGKILL');
        await tern.ended;
        tern = await start(Number(new URL(url).port));
      }
    };
    await Promise.all([transferring(), killing()]);
    for (const receiver of receivers) {
      receiver.isInOrder = true;
      if (receiver.manner === 'is away') await receiver.listen();
    }
    const expected = new Map<string, readonly string[]>();
    for (const account of ACCOUNTS) expected.set(account, await indexedHashes(url, account));
    let late: string[] = [];
    for (const began = performance.now(); performance.now() < began + settleMs(outageMs); await delay(1_000)) {
      late = receivers.flatMap((receiver) => receiver.problems(expected));
      if (late.length === 0) break;
    }
    for (const { manner, accepted, refused } of receivers) {
      const repeats = accepted.length - new Set(accepted.map(({ id }) => id)).size;
      say(
        `the receiver that ${manner}: ${accepted.length} deliveries accepted, ${repeats} repeats, ${refused} refused`,
      );
    }
    say(`${minutes} minutes out of order, ${KILLS} kills, ${transfers} transfers`);
    return reached === 0 ? late : [...late, `a redirect was followed ${reached} times`];
  } finally {
    for (const receiver of receivers) await receiver.close();
    elsewhere.close();
    await tern.close();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Hashes of the transactions of an account; a busy service is asked again. */
async function indexedHashes(url: string, account: string): Promise<readonly string[]> {
  for (const until = performance.now() + READ_MS; ; await delay(1_000)) {
    const hashes = await hashesOf(url, account);
    if (hashes !== null) return hashes;
    if (performance.now() > until) throw new Error(`the transactions of ${account} cannot be read`);
  }
}

async function post(url: string, body: object): Promise<{ readonly secret: string }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { readonly secret: string };
}
