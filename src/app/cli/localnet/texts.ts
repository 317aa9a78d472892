import { tonOf } from '#app/cli/localnet/amounts.js';
import type { ChainReport } from '#app/cli/localnet/check-chain.js';
import type { LocalnetAnswer } from '#app/cli/localnet/localnet-client.js';

/** Lines of a name and what is said of it. */
function lines(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, value]) => `${name.padEnd(width)}${value}\n`).join('');
}

/** `(0,8000000000000000,123)` */
export function blockText({ workchain, shard, seqno }: LocalnetAnswer): string {
  return `(${workchain},${BigInt.asUintN(64, BigInt(shard)).toString(16).padStart(16, '0')},${seqno})`;
}

/** `2026-01-31 12:00:00 UTC` */
function timeText(unixSeconds: number): string {
  return `${new Date(unixSeconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export function statusText(status: LocalnetAnswer): string {
  const { head, gen_utime, now, time_offset, block_time, paused, waiting_messages, shards, fork } = status;
  const ahead = time_offset === 0 ? '' : `, ${time_offset} s ahead of this machine`;
  const every = `every ${block_time} ms`;
  return lines([
    ['head', `${blockText(head)} of ${timeText(gen_utime)}`],
    ['time', `${timeText(now)}${ahead}`],
    ['blocks', paused ? `paused (else ${every})` : every],
    ['waiting', `${waiting_messages} messages from outside`],
    ['shards', shards.map(blockText).join(' ')],
    ['fork', fork === null ? 'of none' : `of ${fork.source} at ${blockText(fork.block)}`],
  ]);
}

export function walletsText({ wallets }: LocalnetAnswer): string {
  return wallets
    .map((wallet: LocalnetAnswer) =>
      lines([
        [wallet.mnemonic === null ? 'faucet' : 'wallet', `${wallet.user_friendly}  ${tonOf(wallet.balance)}`],
        ['version', `${wallet.version}, id ${wallet.wallet_id}`],
        ['public key', wallet.public_key],
        wallet.mnemonic === null ? ['seed', wallet.seed] : ['mnemonic', wallet.mnemonic.join(' ')],
      ]),
    )
    .join('\n');
}

export function minedText({ block }: LocalnetAnswer): string {
  return `done in block ${blockText(block)}\n`;
}

/** @param url of Tern, for the command that shows what followed */
export function sentText({ message_hash, block }: LocalnetAnswer, url: string): string {
  const hash = encodeURIComponent(message_hash);
  return `sent in block ${blockText(block)}\nmessage ${message_hash}\nsee what follows: curl '${url}/api/v3/traces?msg_hash=${hash}'\n`;
}

export function snapshotText({ name, head, saved_at }: LocalnetAnswer): string {
  return `${name}  ${blockText(head)}  saved ${timeText(saved_at)}\n`;
}

export function snapshotsText({ snapshots }: LocalnetAnswer): string {
  if (snapshots.length === 0) return 'There are no snapshots. tern localnet snapshot save NAME makes one.\n';
  return snapshots.map(snapshotText).join('');
}

/** So many changes by hand are listed. */
const MOST_LISTED = 20;

export function reportText({
  masterchain_blocks,
  blocks,
  transactions,
  messages,
  changed_by_hand,
}: ChainReport): string {
  const sums = `${masterchain_blocks} masterchain blocks, ${blocks} blocks in all, ${transactions} transactions, ${messages} messages`;
  const listed = changed_by_hand
    .slice(0, MOST_LISTED)
    .map(({ kind, block, subject }) => `  ${kind} in ${block}: ${subject}\n`);
  const more = changed_by_hand.length - listed.length;
  return [
    `the chain is sound: ${sums}\n`,
    changed_by_hand.length === 0 ? 'nothing was changed by hand\n' : `changed by hand: ${changed_by_hand.length}\n`,
    ...listed,
    more > 0 ? `  and ${more} more\n` : '',
  ].join('');
}
