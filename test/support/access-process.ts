// A server's access in a process of its own: access-process.ts OPTIONS. It reads a question (JSON) a line and answers each with
// a line; a line {"overload": {…question}, "until": milliseconds since 1970} asks without pause and answers with the count;
// {"work": {…question}, "units": price} asks and takes the price of a call.
import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { systemClock } from '#kernel/clock.js';
import type { AccessRequest, WorkDecision } from '#services/access/access.js';
import { type KeyedAccessOptions, startKeyedAccess } from '#services/access/start-keyed-access.js';

interface Overload {
  readonly overload: AccessRequest;
  readonly until: number;
  /** How many ask at the same time. */
  readonly clients: number;
}

interface Work {
  readonly work: AccessRequest;
  readonly units: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as KeyedAccessOptions;
const log = (message: string, fields: object = {}): void =>
  void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
const { access, metrics, close } = await startKeyedAccess(options, {
  clock: systemClock,
  unixTimeMs: Date.now,
  randomBytes,
  logger: { info: log, warn: log },
});

async function overload({ overload: question, until, clients }: Overload): Promise<object> {
  let [allowed, limited, slowestMs] = [0, 0, 0];
  const client = async (): Promise<void> => {
    while (Date.now() < until) {
      const start = performance.now();
      const { kind } = await access.check(question);
      slowestMs = Math.max(slowestMs, performance.now() - start);
      if (kind === 'allowed') allowed++;
      else limited++;
      // A refused client asks again a little later; the event loop has others to serve, too.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { allowed, limited, slowestMs, metrics: metrics() };
}

async function takeWork({ work, units }: Work): Promise<WorkDecision> {
  const decision = await access.check(work);
  if (decision.kind !== 'allowed') throw new TypeError(decision.kind);
  return await decision.work.take(units);
}

async function answerTo(asked: AccessRequest | Overload | Work): Promise<object> {
  if ('overload' in asked) return overload(asked);
  return 'work' in asked ? takeWork(asked) : access.check(asked);
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answerTo(JSON.parse(line)))}\n`);
}
await close();
