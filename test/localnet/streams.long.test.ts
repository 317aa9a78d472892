import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { normalizedExternalHash, readExternalInMessage } from '#formats/tlb/message.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import { buildInternalMessage, commentBody, createTransfer } from '#localnet/wallets/create-transfer.js';
import { fundedWallets } from '#localnet/wallets/wallet-contract.js';
import { ServedTern } from '#test/support/served-tern.js';
import { runTern } from '#test/support/tern-process.js';
import { HighloadSender, sendBoc } from '../load/highload-senders.js';
import { differencesOf } from '../sim/followed.js';
import { type FollowedMessage, FollowedMessages } from './followed-messages.js';
import { SseClient, type StreamClient, type StreamEvent, WebSocketClient } from './stream-clients.js';

const folder = mkdtempSync(join(tmpdir(), 'tern-streams-'));
const accounts = fundedWallets()
  .filter(({ version, address }) => version !== 'highload-v3' && address.workchain === 0)
  .map(({ address }) => address.toRaw().toUpperCase());
const ALL = { types: ['transactions', 'actions', 'account_state_change', 'jettons_change'], addresses: accounts };
const ONLY_FINAL = { types: ['transactions'], addresses: accounts };

let tern: ServedTern;
/** From before the first message on. */
let pendingWs: WebSocketClient;
let pendingSse: SseClient;
let finalWs: WebSocketClient;
/** Where all streams began. */
let beginning: string;
/** Hashes of the transactions of the accounts, as API v3 lists them. */
let indexed: readonly string[];
/** Hash of a message whose trace is broken. */
let impersonated: string;
let hook: WebhookReceiver;
let followed: readonly FollowedMessage[];

/** A server that fails the first delivery, and keeps all of them. */
class WebhookReceiver {
  readonly attempts: { readonly headers: Record<string, string>; readonly body: string }[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<WebhookReceiver> {
    const server = createServer((incoming, response) => {
      let body = '';
      incoming.on('data', (part: Buffer) => {
        body += part.toString();
      });
      incoming.on('end', () => {
        receiver.attempts.push({ headers: incoming.headers as Record<string, string>, body });
        response.statusCode = receiver.attempts.length === 1 ? 500 : 204;
        response.end();
      });
    });
    const receiver = new WebhookReceiver(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Asks again as long as a machine that does much else is late. */
async function get(path: string): Promise<StreamEvent> {
  for (;;) {
    const response = await fetch(`${tern.url}${path}`);
    if (response.status !== 503 && response.status !== 504) return response.json();
    await delay(500);
  }
}

async function post(path: string, body: object): Promise<StreamEvent> {
  const headers = { 'Content-Type': 'application/json' };
  return (await fetch(`${tern.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

/** The transactions of all accounts that were not there before. */
async function listTransactions(): Promise<readonly { readonly hash: string; readonly mc_block_seqno: number }[]> {
  const query = accounts.map((account) => `account=${encodeURIComponent(account)}`).join('&');
  const { transactions } = await get(`/api/v3/transactions?${query}&limit=1000`);
  return transactions;
}

const isFinal = ({ finality }: StreamEvent) => finality === 'finalized';

/** Hashes of transactions in final events, in the order of arrival. */
function finalHashes({ events }: Pick<StreamClient, 'events'>): readonly string[] {
  return events
    .filter((event) => event.type === 'transactions' && isFinal(event))
    .flatMap(({ transactions }) => transactions.map(({ hash }: { readonly hash: string }) => hash));
}

function expectAll(client: StreamClient): void {
  const got = finalHashes(client);
  expect(new Set(got).size).toBe(got.length);
  expect(got.toSorted()).toEqual(indexed.toSorted());
}

beforeAll(async () => {
  tern = await ServedTern.start([
    ...['dev', '--port', '0', '--data', join(folder, 'data'), '--block-time', '200'],
    ...['--max-stream-buffer-kb', '64'],
  ]);
  hook = await WebhookReceiver.start();
  const before = new Set((await listTransactions()).map(({ hash }) => hash));
  pendingWs = await WebSocketClient.subscribe(tern.url, { ...ALL, min_finality: 'pending' });
  pendingSse = await SseClient.subscribe(tern.url, { ...ALL, min_finality: 'pending' });
  beginning = pendingSse.cursor!;
  finalWs = await WebSocketClient.subscribe(tern.url, { ...ONLY_FINAL, resume_from: beginning });
  followed = await new FollowedMessages(tern.url).run(6);
  // A message of which nobody has the transaction that sent it: its trace is broken.
  const from = `0:${'AB'.repeat(32)}`;
  const forged = await post('/localnet/impersonate', { from, to: accounts[1], amount: '1000000' });
  impersonated = forged.message_hash;
  // A trace is sent when all of it is final: the index may have more of it for a moment.
  for (;;) {
    const listed = await listTransactions();
    indexed = listed.map(({ hash }) => hash).filter((hash) => !before.has(hash));
    const isWhole = listed.some(({ mc_block_seqno: seqno }) => seqno >= forged.block.seqno);
    if (isWhole && [finalWs, pendingWs, pendingSse].every((client) => finalHashes(client).length >= indexed.length))
      break;
    await delay(100);
  }
});

afterAll(async () => {
  for (const client of [pendingWs, pendingSse, finalWs]) await client?.close();
  hook?.close();
  await tern?.close();
  rmSync(folder, { recursive: true });
});

describe('messages', () => {
  // A thousand: npm run -s sim -- followed
  it('come as they were emulated, in order, none missing and none double', () => {
    expect(followed.length).toBe(36);
    expect(followed.flatMap(differencesOf)).toEqual([]);
  });
});

describe('clients from the beginning', () => {
  it('get all transactions of the index once, over WebSocket and SSE', async () => {
    expect(indexed.length).toBeGreaterThan(36);
    expectAll(finalWs);
    expectAll(pendingWs);
    await expect.poll(() => finalHashes(pendingSse).length).toBe(indexed.length);
    expectAll(pendingSse);
  });

  it('get events of all types for their accounts', async () => {
    for (const client of [pendingWs, pendingSse]) {
      await expect
        .poll(() => [...new Set(client.events.map(({ type }) => type))].sort())
        .toEqual(['account_state_change', 'actions', 'jettons_change', 'transactions']);
    }
  });

  it('get what is pending before what is final, and nothing less certain after it', async () => {
    const ranks = ['pending', 'confirmed', 'finalized'];
    for (const { events } of [pendingWs, pendingSse]) {
      /** Of each kind of events of each trace, in the order of arrival. */
      const orders = () => {
        const found = new Map<string, number[]>();
        for (const { type, finality, trace_external_hash_norm: norm } of events) {
          if (norm === undefined || type === 'trace_invalidated') continue;
          const key = `${type} ${norm}`;
          found.set(key, [...(found.get(key) ?? []), ranks.indexOf(finality)]);
        }
        return [...found.values()];
      };
      await expect.poll(() => orders().filter((order) => order.at(-1) !== 2)).toEqual([]);
      for (const order of orders()) expect(order).toEqual(order.toSorted());
      expect(orders().some(([first]) => first === 0)).toBe(true);
    }
  });
});

describe('clients that resume', () => {
  it('get all from the beginning, over WebSocket and SSE', async () => {
    const ws = await WebSocketClient.subscribe(tern.url, { ...ONLY_FINAL, resume_from: beginning });
    const sse = await SseClient.subscribe(tern.url, ONLY_FINAL, beginning);
    for (const client of [ws, sse]) {
      await expect.poll(() => finalHashes(client).length).toBe(indexed.length);
      expectAll(client);
      await client.close();
    }
  });

  it('get what follows each of the events that they have seen', async () => {
    const withCursor = finalWs.events.filter(({ cursor }) => cursor !== undefined);
    for (const place of [0, Math.floor(withCursor.length / 2), withCursor.length - 2]) {
      const seen = finalWs.events.slice(0, finalWs.events.indexOf(withCursor[place]!) + 1);
      const sse = await SseClient.subscribe(tern.url, ONLY_FINAL, withCursor[place]!.cursor);
      const expected = finalHashes(finalWs).slice(finalHashes({ events: seen }).length);
      await expect.poll(() => finalHashes(sse).length).toBe(expected.length);
      expect(finalHashes(sse).toSorted()).toEqual(expected.toSorted());
      await sse.close();
    }
  });

  it('get the traces that they name, though they are over', async () => {
    const all = new Set<string>(finalWs.events.map((event) => event.trace_external_hash_norm));
    // The actions of a broken trace are not known.
    expect(all.delete(impersonated)).toBe(true);
    const norms = [...all];
    const ws = await WebSocketClient.subscribe(tern.url, {
      ...{ types: ['trace'], trace_external_hash_norms: norms, resume_from: beginning },
    });
    await expect.poll(() => ws.events.length).toBe(norms.length);
    expect(ws.events.map((event) => event.trace_external_hash_norm).toSorted()).toEqual(norms.toSorted());
    for (const { type, trace, actions } of ws.events) {
      expect(type).toBe('trace');
      expect(trace.tx_hash).toMatch(/=$/);
      expect(actions.length).toBeGreaterThan(0);
    }
    await ws.close();
  });

  it('are refused with a cursor that is none, and told which field is wrong', async () => {
    const ws = await WebSocketClient.open(tern.url);
    expect(await ws.ask({ operation: 'subscribe', ...ONLY_FINAL, resume_from: 'x' })).toMatchObject({
      error: expect.stringContaining('resume_from'),
    });
    await ws.close();
  });
});

describe('wrong requests', () => {
  it.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['no operation', {}],
    ['an unknown operation', { operation: 'shout' }],
    ['no accounts', { operation: 'subscribe', types: ['transactions'] }],
    ['an unknown type', { operation: 'subscribe', types: ['blocks'], addresses: accounts }],
    ['an address that is none', { operation: 'subscribe', types: ['transactions'], addresses: ['here'] }],
    ['an unknown finality', { operation: 'subscribe', ...ONLY_FINAL, min_finality: 'perhaps' }],
  ])('leave the connection open: %s', async (_, message) => {
    const ws = await WebSocketClient.open(tern.url);
    expect(await ws.ask(message)).toMatchObject({ error: expect.any(String) });
    expect(await ws.ask({ id: '7', operation: 'ping' })).toMatchObject({ id: '7', status: 'pong' });
    await ws.close();
  });
});

describe('a webhook', () => {
  it('gets signed events in order, again after a failure, none missing', async () => {
    const added = await post('/api/webhooks/add', { url: hook.url, filter: { ...ONLY_FINAL, resume_from: beginning } });
    const verifier = new Webhook(added.secret);
    await post('/localnet/faucet', { address: accounts[0], amount: '1000000' });
    await expect.poll(() => hook.attempts.length).toBeGreaterThanOrEqual(2);
    const [first, second] = hook.attempts;
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    const events = hook.attempts.slice(1).map(({ body, headers }) => verifier.verify(body, headers) as StreamEvent);
    expect(events[0].type).toBe('transactions');
    expect(() => verifier.verify(`${first!.body} `, first!.headers)).toThrow();
    const seqnos = events.flatMap(({ transactions }) =>
      transactions.map(({ mc_block_seqno }: { readonly mc_block_seqno: number }) => mc_block_seqno),
    );
    expect(seqnos).toEqual(seqnos.toSorted((a: number, b: number) => a - b));
    expect(await post('/api/webhooks/remove', { id: added.id })).not.toHaveProperty('error');
  });
});

describe('a client that does not read', () => {
  /** How many clients were told that they lag, or were disconnected because they took nothing for too long. */
  async function endings(): Promise<number> {
    const metrics = await (await fetch(`${tern.url}/metrics`)).text();
    const counters = metrics.matchAll(/^tern_(?:stream_lagging|http_closed_connections)_total(\S*) (\d+)$/gm);
    return [...counters].reduce((sum, [, labels, count]) => {
      return labels!.includes('reason') && !labels!.includes('answer-not-read') ? sum : sum + Number(count);
    }, 0);
  }

  const recipient = new HighloadSender(2).wallet.address;
  /** To none of the other clients, which would lag as well. A message is full of them. */
  const LONG_TRANSFERS = Array.from({ length: 18 }, () => ({
    ...{ to: recipient, value: 1n, bounce: false },
    body: commentBody('x'.repeat(3_000)),
  }));
  /** Transactions of a message: the wallet receives it, then one of its own that sends the transfers, which are received. */
  const TRANSACTIONS = 2 + LONG_TRANSFERS.length;

  it('is disconnected, goes on from its cursor, and gets the rest then', async () => {
    const sender = new HighloadSender(1);
    const addresses = [sender.wallet.address, recipient].map((each) => each.toRaw());
    const wanted = { types: ['transactions'], addresses, include_address_book: true };
    const lazy = await SseClient.subscribe(tern.url, wanted, null, false);
    await post('/localnet/faucet', { address: addresses[0], amount: '100000000000' });
    const accounts = addresses.map((each) => `account=${each}`).join('&');
    const listed = async (limit: number, offset: number): Promise<readonly string[]> => {
      const { transactions } = await get(`/api/v3/transactions?${accounts}&limit=${limit}&offset=${offset}`);
      return transactions.map(({ hash }: { readonly hash: string }) => hash);
    };
    const before = await endings();
    let sent = 0;
    while ((await endings()) === before) {
      for (const end = sent + 3; sent < end; sent++) {
        expect(await sendBoc(tern.url, sender.transfer(...LONG_TRANSFERS))).toMatchObject({ accepted: true });
      }
      // The transaction in which the wallet gets its coins is the one more.
      while ((await listed(1, TRANSACTIONS * sent)).length === 0) await delay(100);
    }
    // Which of the two it was depends on how fast the machine is.
    lazy.read();
    await lazy.closed;
    let rest = await SseClient.subscribe(tern.url, wanted, lazy.cursor);
    const parts = [lazy, rest];
    const all: string[] = [];
    for (let page = await listed(500, 0); page.length > 0; page = await listed(500, all.length)) all.push(...page);
    all.sort();
    expect(all).toHaveLength(1 + TRANSACTIONS * sent);
    expect(finalHashes(lazy).length).toBeLessThan(all.length);
    const got = async (): Promise<readonly string[]> => {
      // One event is more than may be buffered: on a busy machine a client that reads may lag as well, and goes on from its cursor.
      if (rest.names.at(-1) === 'lagging') {
        rest = await SseClient.subscribe(tern.url, wanted, rest.cursor);
        parts.push(rest);
      }
      return parts.flatMap(finalHashes).toSorted();
    };
    await expect.poll(got).toEqual(all);
    await rest.close();
  });
});

describe('messages that will not be', () => {
  const [wallet, other] = fundedWallets().filter(({ version }) => version === 'v4r2' || version === 'v5r1');

  /** A transfer of the first wallet. @param lasts seconds until it expires */
  async function transferOf(fields: { readonly value: bigint; readonly seqno?: number; readonly lasts?: number }) {
    const { stack } = await post('/api/v3/runGetMethod', {
      ...{ address: wallet!.address.toRaw(), method: 'seqno', stack: [] },
    });
    const { now } = await get('/localnet/status');
    const out = buildInternalMessage({ to: other!.address, value: fields.value, bounce: false, body: commentBody('') });
    const message = createTransfer(wallet!, {
      seqno: fields.seqno ?? Number(stack[0].value),
      validUntil: Math.floor(now) + (fields.lasts ?? 600),
      messages: [{ message: out }],
    });
    const boc = serializeBoc(message);
    const norm = normalizedExternalHash(readExternalInMessage(message, boc).message);
    return { boc: toBase64(boc), hash: toHex(norm), norm: toBase64(norm) };
  }

  const follow = (hash: string, after = '') => get(`/api/v3/follow/${hash}?timeout=60${after}`);

  it('say so when the contract refuses them', async () => {
    const { boc, hash } = await transferOf({ value: 1n, seqno: 999_999 });
    expect(await post('/api/v3/message', { boc })).toMatchObject({ error: expect.any(String) });
    expect(await follow(hash)).toMatchObject({
      ...{ status: 'refused', settled: true, exit_code: 33, problem: expect.stringContaining('seqno') },
    });
  });

  it('say so when another message takes their place; those who follow the trace see it go or become final', async () => {
    await post('/localnet/pause', {});
    const [first, second] = [await transferOf({ value: 2n }), await transferOf({ value: 3n })];
    const traces = { types: ['trace'], min_finality: 'pending' };
    const ws = await WebSocketClient.subscribe(tern.url, {
      ...traces,
      trace_external_hash_norms: [first.norm, second.norm],
    });
    const sse = await SseClient.subscribe(tern.url, {
      ...traces,
      trace_external_hash_norms: [first.norm, second.norm],
    });
    for (const { boc } of [first, second]) expect(await post('/api/v3/message', { boc })).not.toHaveProperty('error');
    for (const { hash } of [first, second])
      expect(await follow(hash, '&after=accepted')).toHaveProperty('status', 'pending');
    await post('/localnet/resume', {});
    const ends = await Promise.all([follow(first.hash), follow(second.hash)]);
    const [final, replaced] = ends.toSorted((a, b) => a.status.localeCompare(b.status));
    expect(final).toMatchObject({ status: 'finalized', settled: true, success: true });
    expect(replaced).toMatchObject({ status: 'replaced', settled: true, problem: expect.stringContaining('seqno') });
    for (const client of [ws, sse]) {
      const of = (norm: string) =>
        client.events
          .filter((event) => event.trace_external_hash_norm === norm)
          .map(({ type, finality }) => (type === 'trace' ? finality : type));
      await expect.poll(() => of(final.message_hash_norm).at(-1)).toBe('finalized');
      await expect.poll(() => of(replaced.message_hash_norm).at(-1)).toBe('trace_invalidated');
      expect(of(final.message_hash_norm)[0]).toBe('pending');
      expect(of(final.message_hash_norm).filter((finality) => finality === 'finalized').length).toBe(1);
      expect(new Set(of(replaced.message_hash_norm))).toEqual(new Set(['pending', 'trace_invalidated']));
      await client.close();
    }
  });

  it('say so when they expire, also to `tern send --follow`', async () => {
    await post('/localnet/pause', {});
    const { boc, hash } = await transferOf({ value: 4n, lasts: 120 });
    const sent = runTern(['send', boc, '--follow', '--json', '--url', tern.url]);
    await expect.poll(async () => (await follow(hash, '&after=accepted')).status).toBe('pending');
    await post('/localnet/time', { advance: 300 });
    await post('/localnet/resume', {});
    expect(await follow(hash)).toMatchObject({
      ...{ status: 'expired', settled: true, problem: expect.stringContaining('valid_until') },
    });
    const { stdout } = await sent;
    const steps = stdout
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line).status);
    expect(steps).toContain('pending');
    expect(steps.at(-1)).toBe('expired');
  });
});
