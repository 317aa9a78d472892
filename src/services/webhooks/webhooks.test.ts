import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { listDeliveries, readWebhooks, replayDead } from '#drivers/store/write/webhooks.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import type { EventSource, EventTaker, GivenEvents } from '#services/webhooks/event-source.js';
import type { WebhookSettings } from '#services/webhooks/options.js';
import { Webhooks } from '#services/webhooks/webhooks.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

/** Events 1, 2, 3, …, whose cursor is their number. */
class CountedEvents implements EventSource {
  readonly #takers = new Map<EventTaker, number>();
  #last = 0;
  /** Events up to this one are not known any more. */
  forgotten = 0;

  get cursor(): string {
    return String(this.#last);
  }

  check(): void {}

  resumable(cursor: string) {
    if (Number(cursor) >= this.forgotten) return { cursor, gap: null };
    return { cursor: String(this.forgotten), gap: `begins behind ${this.forgotten}` };
  }

  subscribe(_: unknown, cursor: string, taker: EventTaker): GivenEvents {
    for (let number = Number(cursor) + 1; number <= this.#last; number++) this.#give(taker, number);
    this.#takers.set(taker, this.#last);
    return { cursor: () => this.cursor, end: () => void this.#takers.delete(taker) };
  }

  add(count: number): void {
    for (let i = 0; i < count; i++) {
      this.#last++;
      for (const taker of this.#takers.keys()) this.#give(taker, this.#last);
    }
  }

  /** Events of others. */
  pass(count: number): void {
    this.#last += count;
  }

  #give(taker: EventTaker, number: number): void {
    taker.event(JSON.stringify({ type: 'transactions', number }), String(number));
  }
}

/** How a receiver answers. */
type Manner = 'ok' | 'error' | 'hang' | 'redirect' | 'slow';

let database: Database;
let test: TestDatabase;
let server: Server;
let manner: Manner = 'ok';
let received: { id: string; number: number; isSigned: boolean }[] = [];
let attempts = 0;
let secret = '';
/** Signatures that came with one event. */
let signatures: readonly string[] = [];
let url = '';
const running: Webhooks[] = [];
/** Keys that cannot be used any more. */
const revoked = new Set<string>();

beforeAll(async () => {
  test = await testDatabase();
  database = await Database.open({ url: test.url }, { clock: systemClock });
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      attempts++;
      if (manner === 'error') response.writeHead(500).end();
      else if (manner === 'redirect') response.writeHead(307, { location: 'http://10.0.0.1/' }).end();
      else if (manner !== 'hang') {
        const headers = request.headers as Record<string, string>;
        signatures = headers['webhook-signature']!.split(' ');
        let isSigned = true;
        try {
          new Webhook(secret).verify(body, headers);
        } catch {
          isSigned = false;
        }
        received.push({ id: headers['webhook-id']!, number: JSON.parse(body).number, isSigned });
        if (manner === 'slow') setTimeout(() => response.end('ok'), 50);
        else response.end('ok');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await database.close();
  await test.close();
});
beforeEach(() => {
  [manner, received, attempts] = ['ok', [], 0];
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
  revoked.clear();
  await database.transaction((client) => client.query('DELETE FROM webhooks'));
});

const QUICK: Partial<WebhookSettings> = { allowPrivateNetworks: true, firstRetryMs: 20, mostRetryMs: 50, pollMs: 20 };

function start(source: EventSource, settings: Partial<WebhookSettings> = {}, used: Database = database): Webhooks {
  const webhooks = new Webhooks(
    { ...QUICK, ...settings },
    {
      ...{ source, clock: systemClock, unixTimeMs: Date.now, logger: silentLogger, isLeader: () => true },
      isValidOwner: (keyId) => !revoked.has(keyId),
      database: async () => used,
      randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
    },
  );
  webhooks.start();
  running.push(webhooks);
  return webhooks;
}

async function hook(webhooks: Webhooks, owner: string | null = null): Promise<string> {
  const added = await webhooks.add(owner, { url, filter: {} });
  secret = added.secrets.secret;
  return added.id;
}

/** The code that a promise is rejected with. */
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (isTernError(error) ? error.code : String(error)),
  );

const numbers = () => received.map(({ number }) => number);
/** Each once: an attempt that an end broke off may have arrived, and is made again. */
const distinctNumbers = () => [...new Set(numbers())];
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

describe('a webhook', () => {
  it('gets each event once, in order, signed', async () => {
    const source = new CountedEvents();
    const id = await hook(start(source));
    source.add(100);
    await expect.poll(numbers).toEqual(upTo(100));
    expect(received.every(({ isSigned }) => isSigned)).toBe(true);
    expect(new Set(received.map(({ id: message }) => message)).size).toBe(100);
    // Lists are cut by their count and by their bytes.
    const listed = async (count: number, bytes: number) =>
      (await database.transaction((client) => listDeliveries(client, id, null, { count, bytes }))).map(({ number }) =>
        Number(number),
      );
    const { length } = JSON.stringify({ type: 'transactions', number: 100 });
    expect(await listed(3, 1e6)).toEqual([100, 99, 98]);
    expect(await listed(10, length + 1)).toEqual([100, 99]);
    expect(await listed(10, 1)).toEqual([100]);
  });

  it.each(['error', 'redirect'] as const)('is tried again while the receiver answers with %s', async (bad) => {
    manner = bad;
    const source = new CountedEvents();
    await hook(start(source));
    source.add(3);
    await expect.poll(() => attempts).toBeGreaterThan(3);
    manner = 'ok';
    await expect.poll(numbers).toEqual(upTo(3));
  });

  it('does not read again what waits behind an event that is to be repeated later', async () => {
    manner = 'error';
    let read = 0;
    const counted: Pick<Database, 'withWriter' | 'transaction'> = {
      transaction: (work) => database.transaction(work),
      withWriter: async (work) => {
        const done = await database.withWriter(work);
        if (Array.isArray(done)) read += done.length;
        return done;
      },
    };
    const source = new CountedEvents();
    await hook(start(source, { firstRetryMs: 3_600_000, mostRetryMs: 3_600_000 }, counted as Database));
    source.add(1);
    await expect.poll(() => attempts).toBe(1);
    for (let i = 0; i < 30; i++) {
      source.add(1);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(read).toBeLessThan(60);
  });

  it('keeps its order with a slow receiver', async () => {
    manner = 'slow';
    const source = new CountedEvents();
    await hook(start(source));
    source.add(10);
    await expect.poll(numbers).toEqual(upTo(10));
  });

  it('goes on where it was after the process has ended while the receiver was away', async () => {
    manner = 'hang';
    const source = new CountedEvents();
    const first = start(source);
    await hook(first);
    source.add(5);
    await expect.poll(() => attempts).toBeGreaterThan(0);
    await running.splice(running.indexOf(first), 1)[0]!.close();
    source.add(5);
    manner = 'ok';
    start(source);
    await expect.poll(distinctNumbers).toEqual(upTo(10));
  });

  it('leaves events in the index while too many wait', async () => {
    manner = 'error';
    const source = new CountedEvents();
    await hook(start(source, { maxWaiting: 10 }));
    for (let i = 0; i < 5; i++) {
      source.add(10);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    manner = 'ok';
    await expect.poll(numbers).toEqual(upTo(50));
  });

  it('goes on where the index begins, and says so, when its cursor lies before that', async () => {
    manner = 'error';
    const source = new CountedEvents();
    const first = start(source, { maxWaiting: 2 });
    const id = await hook(first);
    source.add(2);
    await expect.poll(() => attempts, { timeout: 10_000 }).toBeGreaterThan(0);
    await running.splice(running.indexOf(first), 1)[0]!.close();
    source.add(8);
    source.forgotten = 7;
    manner = 'ok';
    const webhooks = start(source);
    await expect.poll(distinctNumbers, { timeout: 10_000 }).toEqual([1, 2, undefined, 8, 9, 10]);
    const deliveries = await webhooks.deliveries(null, id, null);
    expect(JSON.parse(deliveries.find(({ number }) => number === 3n)!.body)).toEqual({
      ...{ type: 'gap', error: 'begins behind 7', behind: '2', cursor: '7' },
    });
  });

  it('lacks nothing after a restart, when it was up to date and the index does not reach back to its last event', async () => {
    const source = new CountedEvents();
    const first = start(source, { moveMs: 20 });
    await hook(first);
    source.add(1);
    await expect.poll(numbers).toEqual([1]);
    source.pass(500);
    const cursors = async () => (await first.list(null)).map(({ cursor }) => cursor);
    await expect.poll(cursors).toEqual(['501']);
    await running.splice(running.indexOf(first), 1)[0]!.close();
    source.forgotten = 400;
    start(source);
    source.add(1);
    await expect.poll(distinctNumbers).toEqual([1, 502]);
  });

  it('is sent in order by two processes that both think that they lead', async () => {
    manner = 'slow';
    const source = new CountedEvents();
    const id = await hook(start(source));
    start(source);
    source.add(10);
    await expect.poll(distinctNumbers, { timeout: 20_000 }).toEqual(upTo(10));
    // Of each event both may have begun an attempt; what counts is the last one.
    const states = async () => (await running[0]!.deliveries(null, id, null)).map(({ state }) => state);
    await expect.poll(states, { timeout: 10_000 }).toEqual(Array.from({ length: 10 }, () => 'delivered'));
  });

  it('is signed with both secrets after one was replaced, and with the new one later', async () => {
    const source = new CountedEvents();
    const webhooks = start(source, { keepSecretMs: 60_000 });
    const id = await hook(webhooks);
    const before = secret;
    const rotated = await webhooks.rotate(null, id);
    expect(rotated).toMatchObject({ previous_secret: before });
    expect(rotated.secret).not.toBe(before);
    source.add(1);
    await expect.poll(numbers, { timeout: 10_000 }).toEqual([1]);
    expect(signatures.length).toBe(2);
    secret = rotated.secret;
    source.add(1);
    await expect.poll(numbers, { timeout: 10_000 }).toEqual([1, 2]);
    expect(received.every(({ isSigned }) => isSigned)).toBe(true);
    const quick = start(source, { keepSecretMs: 0 });
    secret = (await quick.rotate(null, id)).secret;
    source.add(1);
    await expect.poll(() => numbers().at(-1), { timeout: 10_000 }).toBe(3);
    expect(signatures.length).toBe(1);
    expect(received.at(-1)!.isSigned).toBe(true);
    expect(await codeOf(webhooks.rotate('key2', id))).toBe('webhooks/no-such-hook');
  });

  it('gives events up after some time, lists them, and sends them again on demand', async () => {
    manner = 'error';
    const source = new CountedEvents();
    const webhooks = start(source, { giveUpMs: 1 });
    const id = await hook(webhooks);
    source.add(2);
    const dead = async () => (await webhooks.deliveries(null, id, 'dead')).map(({ number }) => number);
    await expect.poll(dead).toEqual([2n, 1n]);
    const [newest] = await webhooks.deliveries(null, id, 'dead');
    expect(newest).toMatchObject({ status: 500, problem: 'it answered 500' });
    manner = 'ok';
    expect(await webhooks.replay(null, id, 1n)).toBe(1);
    await expect.poll(numbers).toEqual([1]);
    expect(await webhooks.replay(null, id, null)).toBe(1);
    await expect.poll(numbers).toEqual([1, 2]);
  });

  it('is sent what another process has sent again, before an event that is to be repeated later', async () => {
    manner = 'error';
    const source = new CountedEvents();
    const first = start(source, { giveUpMs: 1 });
    const id = await hook(first);
    source.add(1);
    await expect.poll(async () => (await first.deliveries(null, id, 'dead')).length).toBe(1);
    await running.splice(running.indexOf(first), 1)[0]!.close();
    const before = attempts;
    start(source, { firstRetryMs: 3_600_000, mostRetryMs: 3_600_000 });
    source.add(1);
    await expect.poll(() => attempts).toBe(before + 1);
    manner = 'ok';
    expect(await database.transaction((client) => replayDead(client, id, 1n, Date.now()))).toBe(1);
    await expect.poll(numbers).toEqual([1]);
  });

  it('is tested at once', async () => {
    const webhooks = start(new CountedEvents());
    const id = await hook(webhooks);
    expect(await webhooks.test(null, id)).toEqual({ status: 200, problem: null });
    manner = 'error';
    expect(await webhooks.test(null, id)).toEqual({ status: 500, problem: 'it answered 500' });
  });

  it('belongs to its key; the operator sees all', async () => {
    const webhooks = start(new CountedEvents());
    const id = await hook(webhooks, 'key1');
    expect((await webhooks.list('key1')).map((each) => each.id)).toEqual([id]);
    expect(await webhooks.list('key2')).toEqual([]);
    expect((await webhooks.list(null)).map((each) => each.id)).toEqual([id]);
    expect(await codeOf(webhooks.remove('key2', id))).toBe('webhooks/no-such-hook');
    await webhooks.remove('key1', id);
    expect(await webhooks.list(null)).toEqual([]);
  });

  it('is not sent while its key cannot be used, does not count, and can be removed by the operator', async () => {
    const source = new CountedEvents();
    const webhooks = start(source, { maxHooks: 1 });
    const id = await hook(webhooks, 'key1');
    source.add(1);
    await expect.poll(numbers).toEqual([1]);
    expect(await codeOf(webhooks.add('key2', { url, filter: {} }))).toBe('webhooks/too-many');
    revoked.add('key1');
    await expect.poll(() => webhooks.metrics().hooks).toBe(0);
    source.add(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(numbers()).toEqual([1]);
    revoked.delete('key1');
    await expect.poll(numbers).toEqual([1, 2]);
    revoked.add('key1');
    await webhooks.add('key2', { url, filter: {} });
    await webhooks.remove(null, id);
    expect((await webhooks.list(null)).map(({ owner }) => owner)).toEqual(['key2']);
  });

  it('has its filter in a list until they are too long together', async () => {
    const webhooks = start(new CountedEvents());
    const ids = [await hook(webhooks), await hook(webhooks), await hook(webhooks)];
    const listed = await database.transaction((client) => readWebhooks(client, null, 5));
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(ids));
    expect(listed.map(({ filter }) => filter)).toEqual(['{}', '{}', null]);
  });

  it.each(['\0', '\ud800'])('is refused when the database cannot store its filter: %j', async (text) => {
    const webhooks = start(new CountedEvents());
    for (const filter of [{ types: [text] }, { [text]: 1 }]) {
      expect(await codeOf(webhooks.add(null, { url, filter }))).toBe('webhooks/parameter');
    }
  });

  it('is refused beyond the bound, and for a target that is not public', async () => {
    const webhooks = start(new CountedEvents(), { maxPerOwner: 1 });
    await hook(webhooks, 'key1');
    expect(await codeOf(webhooks.add('key1', { url, filter: {} }))).toBe('webhooks/too-many');
    const strict = start(new CountedEvents(), { allowPrivateNetworks: false });
    for (const target of [url, 'http://10.0.0.1/', 'http://[::1]/', 'http://localhost/', 'ftp://example.com/', 'x']) {
      expect(await codeOf(strict.add(null, { url: target, filter: {} })), target).toBe('webhooks/target');
    }
  });
});
