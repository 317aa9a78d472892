import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServedTern } from '#test/support/served-tern.js';
import { type FollowedMessage, FollowedMessages } from '../localnet/followed-messages.js';

/** Messages to a local network, each followed until it is final. @returns what was not as it should be */
export async function followMessages(
  program: string,
  { messages, say }: { readonly messages: number; readonly say: (line: string) => void },
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tern-followed-'));
  const args = ['dev', '--port', '0', '--data', join(folder, 'data'), '--block-time', '200'];
  const tern = await ServedTern.start(args, program);
  try {
    const followed = await new FollowedMessages(tern.url).run(Math.ceil(messages / MESSAGES_OF_ROUND));
    say(`followed: ${followed.length} messages`);
    say(
      histogram(
        'pending, after the answer',
        followed.map(({ pendingMs }) => pendingMs),
      ),
    );
    say(
      histogram(
        'finalized, after blocks were made again',
        followed.map(({ finalMs }) => finalMs),
      ),
    );
    return followed.flatMap(differencesOf);
  } finally {
    await tern.close();
    rmSync(folder, { recursive: true });
  }
}

/** Wallets with coins in the basechain. */
const MESSAGES_OF_ROUND = 6;

/** What was not as it was emulated, or not in order. */
export function differencesOf(message: FollowedMessage): readonly string[] {
  const { name, statuses, success, fails, emulated, real, emulatedActions, realActions } = message;
  const found: string[] = [];
  const compare = (what: string, a: unknown, b: unknown) => {
    if (JSON.stringify(a) !== JSON.stringify(b))
      found.push(`${name}: ${what} ${JSON.stringify(a)}, then ${JSON.stringify(b)}`);
  };
  compare('transactions', emulated, real);
  compare('actions', emulatedActions, realActions);
  compare('success', !fails, success);
  const order = statuses.filter((status, i) => status !== statuses[i - 1]);
  compare('the last statuses', ['pending', 'finalized'], order.slice(-2));
  compare('statuses that came once', order.length, new Set(order).size);
  return found;
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
