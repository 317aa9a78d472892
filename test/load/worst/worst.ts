import { setPriority } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { stopTestServer, testDatabase } from '#test/support/test-database.js';
import { Attackers } from './attackers.js';
import {
  type HonestGround,
  honestClients,
  masterchainInfoClient,
  operatorClients,
  runHonestClients,
} from './honest-clients.js';
import { HostileNetwork } from './hostile-network.js';
import { MeasuredTern } from './measured-tern.js';
import { raisePriority } from './priorities.js';
import { type ProbeSummary, readingsBetween, summary } from './probe-readings.js';
import { ProcessorWatch } from './processor-time.js';
import { type StallCause, stallCauses } from './stall-causes.js';
import type { WorstArguments } from './worst-arguments.js';
import { breaches, honestRow, type WorstCase, worstCaseText, worstTableText } from './worst-report.js';

const BLOCK_TIME_MS = 1_000;
/** More than there are honest clients and abuses. */
const FREE_KEYS = 80;
/** Of these, those of honest clients. */
const HONEST_KEYS = 10;
const SENDERS = 8;
/** Between two abuses, so that what one left behind is not counted for the next; also before the first. */
const PAUSE_MS = 500;
/** Before an honest client asks in the table, so that what it sees is the abuse under way. */
const HEAD_START_MS = 250;
/** How soon the index must have what was sent, once no message waits in the network any more. */
const INDEXED_MS = 30_000;
/** How long messages may wait in the network after the end: those of the abuses are before them, and some never end. */
const EXECUTED_MS = 300_000;
const CAUSES = 5;
/** The honest clients are a clock: what they wait for a processor is nothing that Tern does. They need a few percent of one. */
const CLOCK_NICE = -15;
/** The network has processors of its own elsewhere: here, it comes after the event loop of Tern, and before its workers. */
const NETWORK_NICE = -8;
/** So do the attackers: they come before what Tern does in the background, or they could not attack. */
const ATTACKERS_NICE = -3;

/** Honest clients beside all abuses at once, or beside each alone. Says whether all bounds held. */
export async function loadWorst(
  { isTable, abuses, ms, isJson, isProfiled, bounds }: WorstArguments,
  folder: string,
  write: (line: string) => void,
): Promise<boolean> {
  const say = (line: string): void => {
    if (!isJson) write(line);
  };
  const closers: (() => unknown)[] = [];
  try {
    const started = performance.now();
    say('worst: a local network is populated …');
    const network = await HostileNetwork.start(join(folder, 'network'), SENDERS, BLOCK_TIME_MS);
    closers.push(() => network.close());
    const database = await testDatabase('empty');
    closers.push(() => stopTestServer());
    const options = { config: network.config, databaseUrl: database.url, data: join(folder, 'tern') };
    const tern = await MeasuredTern.start({ ...options, freeKeys: FREE_KEYS });
    closers.push(() => tern.close());
    await tern.indexed(await network.headSeqno());
    const attackers = new Attackers();
    closers.push(() => attackers.close());

    const heads = new Map<number, string>();
    const sent: string[] = [];
    const { keys, url } = tern;
    const ground: HonestGround = { url, keys, facts: network.facts, senders: network.senders, heads, sent };
    const order = { url, keys: keys.free.slice(HONEST_KEYS), facts: network.facts };

    /** Some abuses at once, with honest clients beside them. */
    const attack = async (names: readonly string[], isBrief: boolean): Promise<WorstCase> => {
      const clients = isBrief
        ? [masterchainInfoClient(ground, 40), ...operatorClients(8)]
        : await honestClients(ground);
      await delay(PAUSE_MS);
      const ownLoop = monitorEventLoopDelay({ resolution: 5 });
      ownLoop.enable();
      if (isProfiled) await tern.startProfile();
      const processors = new ProcessorWatch({
        Tern: ({ pid }) => pid === tern.pid,
        'its database': ({ command }) => command.startsWith('postgres: ') && command.includes(` ${database.name} `),
        'the network': ({ pid }) => pid === network.pid,
        attackers: ({ pid }) => pid === attackers.pid,
        'honest clients': ({ pid }) => pid === process.pid,
      });
      const began = Date.now();
      const attacking = attackers.attack({ ...order, names, ms });
      if (isBrief) await delay(HEAD_START_MS);
      const [tallies, honest] = await Promise.all([
        attacking,
        runHonestClients(url, clients, performance.now() + ms - (isBrief ? HEAD_START_MS : 0)),
      ]);
      const ended = Date.now();
      const { times } = processors;
      ownLoop.disable();
      const profile = isProfiled && tern.crash === null ? await tern.endProfile() : null;
      await delay(PAUSE_MS);
      // Writing a profile takes time of the process, which is not that of an abuse.
      const readings = readingsBetween(tern.readings(), began, ended + (isProfiled ? 0 : PAUSE_MS));
      const stalls = readings.flatMap((reading) => reading.stalls);
      const causes: readonly StallCause[] = profile === null ? [] : stallCauses(profile, stalls, CAUSES);
      const probe: ProbeSummary = summary(readings);
      const ownLoopMs = { p99: ownLoop.percentile(99) / 1e6, max: ownLoop.max / 1e6 };
      return {
        names,
        seconds: ms / 1000,
        honest,
        tallies,
        probe,
        causes,
        ownLoopMs,
        processors: Object.fromEntries(times),
      };
    };

    if (tern.isRaised) {
      setPriority(process.pid, CLOCK_NICE);
      raisePriority(network.pid, NETWORK_NICE);
      raisePriority(attackers.pid, ATTACKERS_NICE);
    }
    // What is compiled and cached at first use is not to be counted for the first abuse.
    await runHonestClients(url, await honestClients(ground), performance.now() + 3_000);

    if (!tern.isRaised)
      say('worst: Tern has no priority before the network and the attackers, which share its processors');
    say(`worst: ready after ${((performance.now() - started) / 1000).toFixed(0)} s`);
    const cases: WorstCase[] = [];
    if (isTable) {
      for (const name of abuses) {
        cases.push(await attack([name], true));
        if (tern.crash !== null) break;
      }
    } else {
      cases.push(await attack(abuses, false));
    }
    const wrong = [
      ...cases.flatMap(({ honest }) => honest.flatMap((tally) => tally.wrong)),
      ...(await wrongHeads(heads, network)),
      ...(tern.crash === null ? await lostMessages(tern, network, sent) : []),
    ];
    const result = { cases, wrong, sent: sent.length, crash: tern.crash };
    const broken = breaches(result, bounds);
    if (isJson) write(JSON.stringify({ ...result, cases: cases.map(withoutSamples), breaches: broken }));
    for (const line of isTable ? worstTableText(result) : worstCaseText(result)) say(line);
    for (const line of broken) say(`breach: ${line}`);
    return broken.length === 0;
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

/** Blocks of which getMasterchainInfo told other hashes than the node has. */
async function wrongHeads(heads: ReadonlyMap<number, string>, network: HostileNetwork): Promise<string[]> {
  const wrong: string[] = [];
  for (const [seqno, hashes] of heads) {
    const { root_hash, file_hash } = await network.masterchainBlock(seqno);
    if (hashes !== `${root_hash} ${file_hash}`) wrong.push(`getMasterchainInfo: block ${seqno} is another one`);
  }
  return wrong;
}

/** Messages that were accepted and that the index does not have, with what is known of them. */
async function lostMessages(tern: MeasuredTern, network: HostileNetwork, sent: readonly string[]): Promise<string[]> {
  const headers = { 'x-api-key': tern.keys.unlimited };
  /** What was answered last about those that were not found. */
  let lost = new Map(sent.map((hash) => [hash, '']));
  const last = Date.now() + EXECUTED_MS;
  let until = Date.now() + INDEXED_MS;
  for (; lost.size > 0 && Date.now() < until; await delay(500)) {
    if ((await network.waitingMessages()) > 0) until = Math.min(last, Date.now() + INDEXED_MS);
    const still = new Map<string, string>();
    for (const hash of lost.keys()) {
      const query = `msg_hash=${encodeURIComponent(hash)}&direction=in`;
      const answer = await fetch(`${tern.url}/api/v3/transactionsByMessage?${query}`, { headers });
      const text = await answer.text();
      const { transactions = [] } = (answer.ok ? JSON.parse(text) : {}) as { transactions?: unknown[] };
      if (transactions.length !== 1) still.set(hash, `${answer.status} ${text.slice(0, 100)}`);
    }
    lost = still;
  }
  const found: string[] = [];
  for (const [hash, answered] of lost) {
    const follow = await fetch(`${tern.url}/api/v3/follow/${encodeURIComponent(hash)}?timeout=0`, { headers });
    const became = (await follow.text()).slice(0, 300);
    const where = `${await network.waitingMessages()} messages wait in the network`;
    found.push(`message ${hash} was accepted and is not in the index: ${answered}; ${became}; ${where}`);
  }
  return found;
}

/** For JSON: the percentiles instead of all durations. */
function withoutSamples({ honest, ...rest }: WorstCase) {
  return { ...rest, honest: honest.map(honestRow) };
}
