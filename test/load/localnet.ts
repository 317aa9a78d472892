import { setTimeout as delay } from 'node:timers/promises';
import { walletContract } from '#localnet/wallets/wallet-contract.js';
import { ServedTern } from '#test/support/served-tern.js';
import { percentile } from '../../bench/latency.js';
import { fundHighloadSenders, type HighloadSender, type SentMessage, sendBoc } from './highload-senders.js';

/** What a campaign on a local network is told. */
export interface LocalnetGround {
  /** A folder for what Tern keeps. */
  readonly data: string;
  readonly seconds: number;
  /** Transactions a second. */
  readonly rate: number;
  /** Transfers in one external-in message. */
  readonly batch: number;
  readonly write: (line: string) => void;
}

/** Wallets that send. */
const SENDERS = 8;
const RECEIVERS = 200;
/** How often the memory is reported. */
const REPORTS = 12;
const BLOCK_TIME_MS = 400;
const POLL_MS = 40;
const SAMPLE_MS = 5_000;
const SETTLE_MS = 5_000;
/** Of the messages that were sent, so many are looked for in the index. */
const LOOKED_FOR = 200;
const LAG_MS = 500;
const WARM_UP = 1 / 3;
const GROWTH = 0.1;

/** A local network with its index at a steady rate: the index keeps up, no block is missed, memory is flat. */
export async function loadLocalnet({ data, seconds, rate, batch, write }: LocalnetGround): Promise<boolean> {
  const tern = await ServedTern.start(['dev', '--data', data, '--port', '0', '--block-time', String(BLOCK_TIME_MS)]);
  try {
    const senders = await fundHighloadSenders(tern.url, SENDERS);
    const before = await headSeqno(tern.url);
    const began = performance.now();
    const end = began + seconds * 1000;
    const made = new Map<number, number>();
    const indexed = new Map<number, number>();
    const memory: number[] = [];
    const sent: SentMessage[] = [];
    const failed: string[] = [];
    await Promise.all([
      watchHeads(tern.url, end, made, indexed, failed),
      sample(tern, end, memory),
      send(tern.url, senders, { end, messagesPerSecond: rate / transactionsOf(batch), batch }, sent),
    ]);
    const took = (performance.now() - began) / 1000;
    const { head, waiting_messages: waiting } = await json(`${tern.url}/localnet/status`);
    const blocks = head.seqno - before;
    const accepted = sent.filter((each) => each.accepted);
    if (waiting > 0) await allInBlocks(tern.url);
    await delay(3_000);

    const lags = [...made].flatMap(([seqno, at]) => {
      const seen = indexed.get(seqno);
      return seen === undefined ? [] : [seen - at];
    });
    for (const problem of new Set(sent.filter((each) => !each.accepted).map((each) => each.problem)))
      write(problem.slice(0, 300));
    if (failed.length > 0) write(`${failed.length} reads of heads failed; the first: ${failed[0]}`);
    const missing = await missingBlocks(tern.url);
    const lost = await notIndexed(tern.url, accepted);
    const settled = memory.slice(Math.floor(memory.length * WARM_UP));
    const growth = Math.max(...settled.slice(-3)) / Math.max(...settled.slice(0, 3)) - 1;
    const [p50, p99] = [percentile(lags, 0.5), percentile(lags, 0.99)];
    const reached = ((accepted.length - waiting) * transactionsOf(batch)) / took;
    write(
      `${took.toFixed(0)} s: ${sent.length} messages with ${batch} transfers sent, ${sent.length - accepted.length} refused; at the end ${waiting} were in no block yet`,
    );
    write(
      `${reached.toFixed(1)} tx/s of ${rate}; ${blocks} masterchain blocks, one every ${((took * 1000) / blocks).toFixed(0)} ms`,
    );
    write(
      `lag of the index: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, most ${Math.max(...lags).toFixed(0)} ms (${lags.length} blocks)`,
    );
    write(
      `blocks that the index lacks: ${missing}; of ${Math.min(LOOKED_FOR, accepted.length)} messages not found: ${lost}`,
    );
    const each = Math.max(1, Math.floor(memory.length / REPORTS));
    write(
      `memory, ${REPORTS} times: ${memory
        .filter((_, at) => at % each === 0)
        .map(mib)
        .join(', ')} MiB`,
    );
    write(
      `memory: ${mib(settled[0]!)} MiB after a third, ${mib(settled.at(-1)!)} MiB at the end (${(growth * 100).toFixed(1)} %)`,
    );
    return (
      p99 <= LAG_MS && missing === 0 && lost === 0 && failed.length === 0 && growth <= GROWTH && reached >= rate * 0.98
    );
  } finally {
    await tern.close();
  }
}

/** One sends, each receiver receives; several transfers go through a message of the wallet to itself. */
function transactionsOf(batch: number): number {
  return batch === 1 ? 2 : batch + 2;
}

async function send(
  url: string,
  senders: readonly HighloadSender[],
  {
    end,
    messagesPerSecond,
    batch,
  }: { readonly end: number; readonly messagesPerSecond: number; readonly batch: number },
  sent: SentMessage[],
): Promise<void> {
  const receivers = Array.from(
    { length: RECEIVERS },
    (_, number) => walletContract({ version: 'v3r2', publicKey: new Uint8Array(32).fill(number) }).address,
  );
  const open = new Set<Promise<void>>();
  const began = performance.now();
  for (let number = 0; performance.now() < end; number++) {
    const due = began + (number * 1000) / messagesPerSecond;
    if (due > performance.now()) await delay(due - performance.now());
    const transfers = Array.from({ length: batch }, (_, place) => ({
      to: receivers[(number * batch + place) % receivers.length]!,
      value: 10_000_000n,
      bounce: false,
    }));
    const boc = senders[number % senders.length]!.transfer(...transfers);
    const sending = sendBoc(url, boc).then((result) => void sent.push(result));
    open.add(sending);
    void sending.finally(() => open.delete(sending));
  }
  await Promise.all(open);
}

/** Notes when each masterchain block is seen first: at the node, and in the index. */
async function watchHeads(
  url: string,
  end: number,
  made: Map<number, number>,
  indexed: Map<number, number>,
  failed: string[],
): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: answers of any form
  const watch = async (path: string, seen: Map<number, number>, seqnoOf: (answer: any) => number): Promise<void> => {
    let last = 0;
    while (performance.now() < end) {
      try {
        const seqno = seqnoOf(await json(`${url}${path}`));
        const at = performance.now();
        if (last > 0) for (let each = last + 1; each <= seqno; each++) seen.set(each, at);
        last = seqno;
      } catch (error) {
        failed.push(`${path}: ${String((error as Error).cause ?? error)}`);
      }
      await delay(POLL_MS);
    }
  };
  await Promise.all([
    watch('/localnet/status', made, ({ head }) => head.seqno),
    watch('/api/v3/masterchainInfo', indexed, ({ last }) => last?.seqno ?? 0),
  ]);
}

async function sample(tern: ServedTern, end: number, memory: number[]): Promise<void> {
  while (performance.now() < end) {
    await delay(SAMPLE_MS);
    memory.push(await tern.residentBytes());
  }
}

async function headSeqno(url: string): Promise<number> {
  return (await json(`${url}/localnet/status`)).head.seqno;
}

/** Waits until all messages are in blocks, as long as they become fewer. */
async function allInBlocks(url: string): Promise<void> {
  for (let before = Number.POSITIVE_INFINITY; ; await delay(SETTLE_MS)) {
    const { waiting_messages: waiting } = await json(`${url}/localnet/status`);
    if (waiting === 0 || waiting >= before) return;
    before = waiting;
  }
}

async function missingBlocks(url: string): Promise<number> {
  const { networks } = await json(`${url}/readyz`);
  const { index_missing_blocks, index_fill_missing_blocks } = networks.dev.details;
  return index_missing_blocks + index_fill_missing_blocks;
}

async function notIndexed(url: string, sent: readonly SentMessage[]): Promise<number> {
  let lost = 0;
  const step = Math.max(1, Math.floor(sent.length / LOOKED_FOR));
  for (let at = 0; at < sent.length; at += step) {
    const query = `msg_hash=${encodeURIComponent(sent[at]!.hash)}&direction=in`;
    const { transactions } = await json(`${url}/api/v3/transactionsByMessage?${query}`);
    if (transactions?.length !== 1) lost++;
  }
  return lost;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of any form
async function json(url: string): Promise<any> {
  return (await fetch(url)).json();
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
