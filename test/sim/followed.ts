import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fundedWallets } from '#localnet/wallets/wallet-contract.js';
import { ServedTern } from '#test/support/served-tern.js';
import { type FollowedMessage, FollowedMessages, type SeenTransaction } from '../localnet/followed-messages.js';
import { WebSocketClient } from '../localnet/stream-clients.js';

/** Messages to a local network, each followed until it is final. @returns what was not as it should be */
export async function followMessages(
  program: string,
  { messages, say }: { readonly messages: number; readonly say: (line: string) => void },
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tern-followed-'));
  const args = ['dev', '--port', '0', '--data', join(folder, 'data'), '--block-time', '200'];
  const tern = await ServedTern.start(args, program);
  try {
    const client = await WebSocketClient.subscribe(tern.url, {
      ...{ types: ['transactions'], min_finality: 'pending' },
      addresses: fundedWallets().map(({ address }) => address.toRaw()),
    });
    const followed = await new FollowedMessages(tern.url).run(Math.ceil(messages / MESSAGES_OF_ROUND));
    const streamed = await streamDifferences(followed, client);
    await client.close();
    const byCommand = followed.filter(({ commandStatuses }) => commandStatuses !== null).length;
    const transactions = followed.reduce((sum, { real }) => sum + real.length, 0);
    say(`followed: ${followed.length} messages with ${transactions} transactions, ${byCommand} by tern send --follow`);
    say(`  ${client.events.length} events by WebSocket`);
    for (const isApart of [true, false]) {
      const those = followed.filter((message) => message.isApart === isApart);
      say(`  ${those.length} messages ${isApart ? 'sent one after the other' : `sent ${MESSAGES_OF_ROUND} at once`}`);
      const [pending, final] = [those.map(({ pendingMs }) => pendingMs), those.map(({ finalMs }) => finalMs)];
      say(histogram('  pending, after the answer', pending));
      say(histogram('  finalized, after the network had the block', final));
    }
    return [...followed.flatMap(differencesOf), ...streamed];
  } finally {
    await tern.close();
    rmSync(folder, { recursive: true });
  }
}

/** Wallets with coins in the basechain. */
const MESSAGES_OF_ROUND = 6;

/** How long events may take on a machine that does much else. */
const PATIENCE_MS = 30_000;

/** The events of a client that began before the messages: each trace once with each finality, and in their order. */
async function streamDifferences(
  followed: readonly FollowedMessage[],
  client: WebSocketClient,
): Promise<readonly string[]> {
  const ranks = ['pending', 'confirmed', 'finalized'];
  const eventsOf = (hash: string) => client.events.filter((event) => event.trace_external_hash_norm === hash);
  const isWhole = ({ hash }: FollowedMessage) => eventsOf(hash).some(({ finality }) => finality === 'finalized');
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until && !followed.every(isWhole); ) await delay(50);
  const found: string[] = [];
  for (const { name, hash, real } of followed) {
    const events = eventsOf(hash);
    const order = events.map(({ finality }) => finality);
    if (order[0] !== 'pending' || order.at(-1) !== 'finalized') found.push(`${name}: events ${order.join()}`);
    if (order.toSorted((a, b) => ranks.indexOf(a) - ranks.indexOf(b)).join() !== order.join()) {
      found.push(`${name}: events fall: ${order.join()}`);
    }
    const final: string[] = events
      .filter(({ finality }) => finality === 'finalized')
      .flatMap(({ transactions }) => transactions.map((each: { readonly hash: string }) => each.hash));
    const known = new Set(real.map((each) => each.hash));
    if (new Set(final).size !== final.length) found.push(`${name}: a transaction came twice`);
    if (final.length === 0 || final.some((each) => !known.has(each))) found.push(`${name}: other transactions came`);
  }
  return found;
}

/** What was not as it was emulated, or not in order. */
export function differencesOf(message: FollowedMessage): readonly string[] {
  const { name, statuses, commandStatuses, success, fails, emulated, real, emulatedActions, realActions } = message;
  const found: string[] = [];
  const compare = (what: string, a: unknown, b: unknown) => {
    if (JSON.stringify(a) !== JSON.stringify(b))
      found.push(`${name}: ${what} ${JSON.stringify(a)}, then ${JSON.stringify(b)}`);
  };
  const keys = (seen: readonly SeenTransaction[]) => seen.map(({ key }) => key);
  compare('transactions', keys(emulated), keys(real));
  found.push(...valueDifferences(emulated, real).map((problem) => `${name}: ${problem}`));
  compare('actions', emulatedActions, realActions);
  compare('success', !fails, success);
  for (const seen of [statuses, commandStatuses ?? statuses]) {
    const order = seen.filter((status, i) => status !== seen[i - 1]);
    compare('the last statuses', ['pending', 'finalized'], order.slice(-2));
    compare('statuses that came once', order.length, new Set(order).size);
  }
  return found;
}

/** Values may differ by what storage costs more or less until the block, other fees not at all. */
function valueDifferences(emulated: readonly SeenTransaction[], real: readonly SeenTransaction[]): string[] {
  if (emulated.length !== real.length) return [];
  const size = (value: bigint) => (value < 0n ? -value : value);
  const slack = emulated.reduce((sum, { storageFees }, i) => sum + size(storageFees - real[i]!.storageFees), 0n);
  return emulated.flatMap(({ key, value, otherFees }, i) => {
    const other = real[i]!;
    const isOther = otherFees !== other.otherFees || size(value - other.value) > slack;
    return isOther ? [`${key}: value ${value} and fees ${otherFees}, then ${other.value} and ${other.otherFees}`] : [];
  });
}

const BOUNDS_MS = [10, 20, 50, 100, 150, 200, 500, 1_000, 2_000, 5_000];

function histogram(name: string, times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!.toFixed(0);
  const counts = BOUNDS_MS.map((bound, i) => {
    const least = BOUNDS_MS[i - 1] ?? 0;
    return `≤${bound}: ${sorted.filter((ms) => ms > least && ms <= bound).length}`;
  });
  return `  ${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ${counts.join(', ')}`;
}
