import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { toBase64 } from '#kernel/bytes.js';
import type { HttpCall } from '../../../bench/v2/keep-alive-client.js';
import type { HighloadSender } from '../highload-senders.js';
import type { NetworkFacts } from './hostile-network.js';
import type { IssuedKeys } from './measured-tern.js';

const TIMEOUT_MS = 5_000;
/** How long the index may take to classify the traces that are asked for. */
const CLASSIFIED_WITHIN_MS = 120_000;
/** Requests of one client that may wait for their answers. */
const MOST_OPEN = 64;

/** A client that does nothing but what its plan allows. */
export interface HonestClient {
  /** As it stands in the table. */
  readonly name: string;
  /** Whether the bound of the latency holds for it: not for what an operator alone asks. */
  readonly isBounded: boolean;
  readonly from: string;
  readonly key: string | null;
  readonly perSecond: number;
  /** The next request, and what tells whether its answer is right: the problem, or null. */
  next(): { readonly call: HttpCall; readonly problemOf: (text: string) => string | null };
}

/** What a client saw. */
export interface HonestTally {
  readonly client: HonestClient;
  /** Milliseconds, of all requests. */
  readonly durations: number[];
  /** Requests without an answer 200, by what came. */
  readonly errors: Map<string, number>;
  /** What was wrong in answers, the first ones. */
  readonly wrong: string[];
  wrongCount: number;
}

/** Asks at the rate of each client, whether or not earlier requests were answered, until the time has come. */
export function runHonestClients(
  url: string,
  clients: readonly HonestClient[],
  until: number,
): Promise<readonly HonestTally[]> {
  return Promise.all(clients.map((client) => runClient(url, client, until)));
}

async function runClient(url: string, client: HonestClient, until: number): Promise<HonestTally> {
  const tally: HonestTally = { client, durations: [], errors: new Map(), wrong: [], wrongCount: 0 };
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 8 });
  const open = new Set<Promise<void>>();
  const began = performance.now();
  for (let number = 0; ; number++) {
    const due = began + (number * 1000) / client.perSecond;
    if (due >= until) break;
    if (due > performance.now()) await delay(due - performance.now());
    if (open.size >= MOST_OPEN) {
      count(tally.errors, 'not sent: too many are unanswered');
      continue;
    }
    const asking = askOnce(url, client, agent, tally);
    open.add(asking);
    void asking.finally(() => open.delete(asking));
  }
  await Promise.all(open);
  agent.destroy();
  return tally;
}

async function askOnce(url: string, client: HonestClient, agent: Agent, tally: HonestTally): Promise<void> {
  const { call, problemOf } = client.next();
  const began = performance.now();
  try {
    const { status, text } = await ask(url, call, { agent, from: client.from, key: client.key });
    tally.durations.push(performance.now() - began);
    if (status !== 200) {
      count(tally.errors, String(status));
      return;
    }
    const problem = problemOf(text);
    if (problem === null) return;
    tally.wrongCount++;
    if (tally.wrong.length < 3) tally.wrong.push(`${call.path}: ${problem}`);
  } catch (error) {
    tally.durations.push(performance.now() - began);
    const { code, message } = error as NodeJS.ErrnoException;
    count(tally.errors, code ?? message);
  }
}

interface AskOptions {
  readonly agent: Agent;
  readonly from: string;
  readonly key: string | null;
}

function ask(
  url: string,
  { path, body }: HttpCall,
  { agent, from, key }: AskOptions,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const headers: Record<string, string | number> = key === null ? {} : { 'x-api-key': key };
    if (body !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = Buffer.byteLength(body);
    }
    const method = body === undefined ? 'GET' : 'POST';
    const options = { agent, host: hostname, port, localAddress: from, method, path, headers, timeout: TIMEOUT_MS };
    const sent = request(options, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode!, text: Buffer.concat(parts).toString() }));
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer in ${TIMEOUT_MS / 1000} s`)));
    sent.on('error', reject);
    sent.end(body);
  });
}

/** What the honest clients are made from. */
export interface HonestGround {
  readonly url: string;
  readonly keys: IssuedKeys;
  readonly facts: NetworkFacts;
  readonly senders: readonly HighloadSender[];
  /** The blocks that getMasterchainInfo told of are added: to be compared with the chain. */
  readonly heads: Map<number, string>;
  /** Hashes of the messages that were sent are added: to be looked for in the index. */
  readonly sent: string[];
}

/** Addresses of honest clients; those of the attackers are in other networks. */
const address = (number: number): string => `127.0.1.${number}`;

const ACCOUNTS = 20;
const PAGE = 10;

/** getMasterchainInfo of a client whose plan has no limit. */
export function masterchainInfoClient({ keys, heads }: HonestGround, perSecond: number): HonestClient {
  let newest = 0;
  return {
    ...{ name: 'getMasterchainInfo, unlimited', isBounded: true, from: address(1), key: keys.unlimited, perSecond },
    next: () => {
      const atLeast = newest;
      return {
        call: { path: '/api/v2/getMasterchainInfo' },
        problemOf: (text) => {
          const { last } = (JSON.parse(text) as { result: { last: Record<string, string | number> } }).result;
          const seqno = Number(last.seqno);
          newest = Math.max(newest, seqno);
          if (seqno < atLeast) return `seqno ${seqno} after ${atLeast}`;
          const hashes = `${last.root_hash} ${last.file_hash}`;
          const known = heads.get(seqno);
          heads.set(seqno, hashes);
          return known === undefined || known === hashes ? null : `another block ${seqno} than before`;
        },
      };
    },
  };
}

/** `/healthz` and `/readyz`, which an operator asks for and which must be answered whatever happens. */
export function operatorClients(perSecond: number): readonly HonestClient[] {
  const client = (path: string, right: (answer: string) => boolean, rate: number): HonestClient => ({
    ...{ name: path, isBounded: true, from: '127.0.0.1', key: null, perSecond: rate },
    next: () => ({
      call: { path },
      problemOf: (text) => (right(text) ? null : text.slice(0, 200)),
    }),
  });
  return [
    client('/healthz', (text) => JSON.parse(text).ok === true, perSecond),
    client('/readyz', (text) => JSON.parse(text).ready === true, perSecond / 4),
    { ...client('/metrics', (text) => text.includes('\nprocess_cpu_seconds_total'), perSecond / 20), isBounded: false },
  ];
}

/** One client for each method, each with a key or an address of its own; what is right was read before the attack. */
export async function honestClients(ground: HonestGround): Promise<readonly HonestClient[]> {
  const { keys, facts } = ground;
  const accounts = [...facts.receivers.slice(0, ACCOUNTS), ...facts.wallets];
  let free = 0;
  const comparing = async (
    name: string,
    perSecond: number,
    calls: readonly HttpCall[],
    resultOf: (text: string) => string,
  ): Promise<HonestClient> => {
    const expected = await expectedResults(ground, calls, resultOf);
    const number = free++;
    let turn = 0;
    return {
      ...{ name, isBounded: true, from: address(10 + number), key: keys.free[number]!, perSecond },
      next: () => {
        const call = calls[turn++ % calls.length]!;
        const right = expected.get(call)!;
        return {
          call,
          problemOf: (text) => {
            const found = resultOf(text);
            return found === right ? null : differenceOf(found, right);
          },
        };
      },
    };
  };
  const of = (path: string, values: readonly string[]): HttpCall[] =>
    values.map((value) => ({ path: path.replace('{}', encodeURIComponent(value)) }));
  const seqnoCalls = facts.wallets.map((wallet) => ({
    path: '/api/v2/runGetMethod',
    body: JSON.stringify({ address: wallet, method: 'seqno', stack: [] }),
  }));
  const receivers = facts.receivers.slice(0, ACCOUNTS);
  return [
    masterchainInfoClient(ground, 20),
    { ...masterchainInfoClient(ground, 0.5), name: 'getMasterchainInfo, anonymous', key: null, from: address(2) },
    await comparing('getAddressInformation', 5, of('/api/v2/getAddressInformation?address={}', accounts), stateOf),
    await comparing('runGetMethod(seqno)', 5, seqnoCalls, methodResultOf),
    await comparing('v3 transactions', 4, of(`/api/v3/transactions?account={}&limit=${PAGE}`, receivers), whole),
    await comparing('v3 accountStates', 4, of('/api/v3/accountStates?address={}', accounts), whole),
    await comparing('v3 messages', 4, of(`/api/v3/messages?destination={}&limit=${PAGE}`, receivers), whole),
    await comparing('v3 messages, 30 a page', 2, of('/api/v3/messages?destination={}&limit=30', receivers), whole),
    await comparing(
      'v3 transactions, 100 a page',
      1,
      of('/api/v3/transactions?account={}&limit=100', receivers),
      whole,
    ),
    await comparing('v3 traces', 2, of(`/api/v3/traces?account={}&limit=2`, receivers), whole),
    sendingClient(ground, keys.free[free]!),
    ...operatorClients(4),
  ];
}

/** Sends a transfer a second, and compares the hash in the answer. */
function sendingClient({ senders, sent }: HonestGround, key: string): HonestClient {
  let turn = 0;
  return {
    ...{ name: 'sendBocReturnHash', isBounded: true, from: address(3), key, perSecond: 1 },
    next: () => {
      const sender = senders[turn++ % senders.length]!;
      const boc = sender.transfer({ to: sender.wallet.address, value: 1_000_000n, bounce: false });
      const expected = toBase64(parseBocRoot(boc).hash());
      return {
        call: { path: '/api/v2/sendBocReturnHash', body: JSON.stringify({ boc: toBase64(boc) }) },
        problemOf: (text) => {
          const { hash } = (JSON.parse(text) as { result: { hash: string } }).result;
          sent.push(expected);
          return hash === expected ? null : `hash ${hash} instead of ${expected}`;
        },
      };
    },
  };
}

async function expectedResults(
  { url, keys }: HonestGround,
  calls: readonly HttpCall[],
  resultOf: (text: string) => string,
): Promise<ReadonlyMap<HttpCall, string>> {
  const agent = new Agent({ keepAlive: true });
  const expected = new Map<HttpCall, string>();
  const until = Date.now() + CLASSIFIED_WITHIN_MS;
  for (const call of calls) {
    for (;;) {
      const { status, text } = await ask(url, call, { agent, from: '127.0.0.1', key: keys.unlimited });
      if (status !== 200) throw new Error(`${call.path}: ${status} ${text.slice(0, 300)}`);
      expected.set(call, resultOf(text));
      if (!text.includes('"classification_state":"unclassified"')) break;
      if (Date.now() > until) throw new Error(`${call.path}: the traces are not classified`);
      await delay(200);
    }
  }
  agent.destroy();
  return expected;
}

/** Where two answers begin to differ. */
function differenceOf(found: string, right: string): string {
  let at = 0;
  while (found[at] === right[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 100), at + 100);
  return `at ${at}: ${around(found)} instead of ${around(right)}`;
}

function whole(text: string): string {
  return text;
}

/** What getAddressInformation says about the account, and not about the block at which it was read. */
function stateOf(text: string): string {
  const { balance, code, data, state, frozen_hash, last_transaction_id } = JSON.parse(text).result;
  return JSON.stringify({ balance, code, data, state, frozen_hash, last_transaction_id });
}

function methodResultOf(text: string): string {
  const { exit_code, stack } = JSON.parse(text).result;
  return JSON.stringify({ exit_code, stack });
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
