import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  startEmbeddedServer,
} from '#drivers/store/embedded/embedded-server.js';
import { systemClock } from '#kernel/clock.js';
import { copyFolder } from '#test/support/database-server.js';
import { ServedTern } from '#test/support/served-tern.js';
import { runTern } from '#test/support/tern-process.js';

/** What the replica is behind its primary. */
const APPLY_DELAY_MS = 300;
/** Clients that write and read their own writes; each has an account. */
const CLIENTS = 40;
const BLOCK_TIME_MS = 200;
const MOST_ATTEMPTS = 5;

interface Write {
  readonly account: string;
  readonly hash: string;
  /** The masterchain block of the answer to the write. */
  readonly seqno: number;
}

interface Answer {
  readonly error?: string;
  readonly transactions?: readonly { readonly in_msg?: { readonly hash: string } | null }[];
}

/**
 * A local network that writes its index into a primary, and another process that reads a lagging replica of it. Clients write,
 * and read what they wrote in both, with `X-Tern-Min-Seqno`. @returns what was stale, or was not explained
 */
export async function readOwnWrites(
  program: string,
  { pairs, say }: { readonly pairs: number; readonly say: (line: string) => void },
): Promise<readonly string[]> {
  const away = mkdtempSync(join(tmpdir(), 'tern-fresh-'));
  chmodSync(away, 0o755);
  const closers: (() => Promise<unknown>)[] = [];
  try {
    const { primary, replica } = await replicatedServers(away, closers);
    const data = join(away, 'data');
    const network = ['dev', '--port', '0', '--data', data, '--block-time', String(BLOCK_TIME_MS)];
    const writer = await ServedTern.start([...network, '--database-url', primary.url], program);
    closers.push(() => writer.close());
    const config = `tern-dev=${join(data, 'localnet', 'global.config.json')}`;
    const reading = ['--database-url', primary.url, '--database-read-url', replica.url];
    const service = ['serve', '--role', 'api', '--network', config, '--listen', '127.0.0.1:0'];
    const reader = await ServedTern.start([...service, '--data', join(away, 'api'), ...reading], program);
    closers.push(() => reader.close());
    const found: string[] = [];
    found.push(...(await writeThenRead(writer.url, reader.url, pairs, say)));
    found.push(...(await stoppedReplica(replica, writer.url, reader.url)));
    return found;
  } finally {
    for (const close of closers.reverse()) await close();
    rmSync(away, { recursive: true, force: true });
  }
}

/** A primary with the schema of Tern and a standby that streams from it. */
async function replicatedServers(
  away: string,
  closers: (() => Promise<unknown>)[],
): Promise<{ readonly primary: EmbeddedServer; readonly replica: EmbeddedServer }> {
  const start = async (name: string, settings: EmbeddedServerOptions['settings'] = {}) => {
    const all = {
      fsync: 'off',
      shared_buffers: '64MB',
      wal_level: 'replica',
      max_wal_senders: 4,
      wal_keep_size: '1GB',
    };
    const options = { folder: join(away, name), sync: false, settings: { ...all, ...settings } };
    const server = await startEmbeddedServer(options, { clock: systemClock });
    return server;
  };
  const empty = await start('primary');
  const migrated = await runTern(['migrate', '--database-url', empty.url]);
  await empty.close();
  if (migrated.status !== 0) throw new Error(`tern migrate: ${migrated.stderr}`);
  await copyFolder(join(away, 'primary'), join(away, 'replica'));
  writeFileSync(join(away, 'replica', 'cluster', 'standby.signal'), '');
  const primary = await start('primary');
  closers.push(() => primary.close());
  const { host, port, user } = new pg.Client(connectionConfig(primary.url));
  const replica = await start('replica', {
    primary_conninfo: `host=${host} port=${port} user=${user}`,
    recovery_min_apply_delay: `${APPLY_DELAY_MS}ms`,
  });
  // Before its primary, which waits for what it has not sent.
  closers.push(() => replica.close());
  return { primary, replica };
}

/** Each client writes, then reads in both processes. */
async function writeThenRead(
  writer: string,
  reader: string,
  pairs: number,
  say: (line: string) => void,
): Promise<string[]> {
  const found: string[] = [];
  const waits: number[] = [];
  let left = pairs;
  let staleWithout = 0;
  let asked = 0;
  const client = async (number: number) => {
    const account = `0:${(0x1000 + number).toString(16).padStart(64, '0')}`;
    while (left > 0 && found.length < MOST_FOUND) {
      left--;
      const write = await writeTo(writer, account);
      // Without the header the replica is read as it is: else nothing would be shown by what follows.
      if (number === 0) {
        asked++;
        const { body } = await ask(`${reader}${newest(account)}`);
        if (!shows(body, write)) staleWithout++;
      }
      const began = performance.now();
      const answers = await Promise.all([
        ask(`${reader}${newest(account)}`, write.seqno),
        ask(`${writer}${newest(account)}&min_mc_seqno=${write.seqno}`),
      ]);
      waits.push(performance.now() - began);
      for (const [i, { status, headers, body }] of answers.entries()) {
        const which = i === 0 ? 'the replica' : 'the primary';
        if (status !== 200) found.push(`${which} answered ${status} for block ${write.seqno}: ${body.error}`);
        else if (!shows(body, write)) found.push(`${which} lacked the message ${write.hash} of block ${write.seqno}`);
        else if (Number(headers.get('x-tern-mc-seqno')) < write.seqno)
          found.push(`${which} said that it has ${headers.get('x-tern-mc-seqno')} when asked for ${write.seqno}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i)));
  waits.sort((a, b) => a - b);
  const at = (part: number) => waits[Math.floor((waits.length - 1) * part)]!.toFixed(0);
  say(
    `${waits.length} pairs, the replica ${APPLY_DELAY_MS} ms behind: reads of both p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ` +
      `without the header ${staleWithout} of ${asked} answers of the replica were stale`,
  );
  if (staleWithout === 0) found.push('the replica was never behind: nothing was shown');
  return found;
}

const MOST_FOUND = 20;

const newest = (account: string) => `/api/v3/transactions?account=${account}&limit=1&sort=desc`;

function shows(body: Answer, { hash }: Write): boolean {
  return body.transactions?.[0]?.in_msg?.hash === hash;
}

/** Writes, once more when a busy network did not answer in time: which of the messages is read later does not matter. */
async function writeTo(url: string, account: string): Promise<Write> {
  const from = `0:${'ab'.repeat(32)}`;
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${url}/localnet/impersonate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ from, to: account, amount: '1000000' }),
    });
    if (response.status === 504 && attempt < MOST_ATTEMPTS) continue;
    if (response.status !== 200) throw new Error(`impersonate: ${response.status} ${await response.text()}`);
    const body = (await response.json()) as {
      readonly message_hash: string;
      readonly block: { readonly seqno: number };
    };
    return { account, hash: body.message_hash, seqno: body.block.seqno };
  }
}

/** A replica that gets nothing any more: a request for what it lacks ends with 409 and says how far it is. */
async function stoppedReplica(replica: EmbeddedServer, writer: string, reader: string): Promise<string[]> {
  const admin = new pg.Client(connectionConfig(replica.url));
  await admin.connect();
  try {
    await admin.query('SELECT pg_wal_replay_pause()');
    await delay(2 * APPLY_DELAY_MS);
    const account = `0:${'cd'.repeat(32)}`;
    const write = await writeTo(writer, account);
    const refused = await ask(`${reader}${newest(account)}`, write.seqno);
    const found: string[] = [];
    const has = Number(refused.headers.get('x-tern-mc-seqno'));
    if (refused.status !== 409 || !String(refused.body.error).includes(String(write.seqno)) || !(has < write.seqno))
      found.push(`a stopped replica answered ${refused.status}: ${JSON.stringify(refused.body)}`);
    await admin.query('SELECT pg_wal_replay_resume()');
    const { status, body } = await ask(`${reader}${newest(account)}`, write.seqno);
    if (status !== 200 || !shows(body, write)) found.push(`a replica that goes on answered ${status}`);
    return found;
  } finally {
    await admin.end();
  }
}

/** A request, once more when a busy database did not answer in time: what is looked for is answers that are stale. */
async function ask(url: string, minSeqno?: number): Promise<Answered> {
  const headers: Record<string, string> = minSeqno === undefined ? {} : { 'X-Tern-Min-Seqno': String(minSeqno) };
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, { headers });
    const body = (await response.json()) as Answer;
    if (response.status === 504 && attempt < MOST_ATTEMPTS) continue;
    return { status: response.status, headers: response.headers, body };
  }
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Answer;
}
