// npm run -s fuzz -- [--seconds N] [--seed S] [--workers N] [--target NAME] [--at ITERATION] …
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { toHex } from '#kernel/bytes.js';
import { Campaign } from './campaign.js';
import type { FuzzFailure, Tally } from './exercise.js';
import { findTargets } from './find-targets.js';

const usage = `Usage: npm run -s fuzz -- [options]
  --seconds N     how long, over all targets (60)
  --seed S        any text; the same seed gives the same inputs (random)
  --workers N     threads (2)
  --target NAME   only this target
  --at ITERATION  only this input, to see a failure again
  --from FOLDER   where the targets are (src)
  --keep FOLDER   where failing inputs are written (fuzz-failures)
  --hang N        seconds after which a call counts as one that never returns (10)`;

interface Settings {
  readonly seconds: number;
  readonly seed: string;
  readonly workers: number;
  readonly target: string | null;
  readonly at: number | null;
  readonly from: string;
  readonly keep: string;
  readonly hangSeconds: number;
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) throw new Error(`--${name} must be a whole number from ${least} on`);
  return value;
}

function readSettings(): Settings {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: randomBytes(4).toString('hex') },
      workers: { type: 'string', default: '2' },
      target: { type: 'string' },
      at: { type: 'string' },
      from: { type: 'string', default: 'src' },
      keep: { type: 'string', default: 'fuzz-failures' },
      hang: { type: 'string', default: '10' },
    },
  });
  return {
    seconds: wholeNumber('seconds', values.seconds, 1),
    seed: values.seed,
    workers: wholeNumber('workers', values.workers, 1),
    target: values.target ?? null,
    at: values.at === undefined ? null : wholeNumber('at', values.at, 0),
    from: values.from,
    keep: values.keep,
    hangSeconds: wholeNumber('hang', values.hang, 1),
  };
}

function tallyLine(name: string, { iterations, accepted, errors, slowest }: Tally): string {
  const codes = Object.entries(errors).sort(([, a], [, b]) => b - a);
  const list = codes.map(([code, count]) => `${code} ${count}`).join(', ') || 'no errors';
  const size = (slowest.bytes / 1024).toFixed(1);
  return `${name}: ${iterations} inputs, ${accepted} accepted; ${list}; slowest ${slowest.ms.toFixed(1)} ms for ${size} KiB`;
}

function reportFailure({ target, iteration, input, problem }: FuzzFailure, seed: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${target}-${seed.replace(/[^\w-]/g, '_')}-${iteration}.hex`);
  const hex = toHex(input);
  writeFileSync(file, `${hex}\n`);
  const shown = hex.length > 400 ? `${hex.slice(0, 400)}… (${input.length} bytes)` : hex;
  console.log(`  FAILED ${target}: ${problem}`);
  console.log(`    input: ${shown}`);
  console.log(`    kept in ${file}; again: npm run -s fuzz -- --target ${target} --seed ${seed} --at ${iteration}`);
}

async function main(): Promise<void> {
  const { seconds, seed, workers, target, at, from, keep, hangSeconds } = readSettings();
  const all = await findTargets(from);
  const chosen = target === null ? all : all.filter((found) => found.target.name === target);
  if (target !== null && chosen.length === 0) {
    throw new Error(`there is no target "${target}"; known: ${all.map((found) => found.target.name).join(', ')}`);
  }
  const each = seconds / Math.max(1, chosen.length);
  console.log(`fuzz: ${chosen.length} targets, ${each.toFixed(1)} s each, ${workers} workers, seed ${seed}`);
  const campaign = new Campaign();
  let failures = 0;
  for (const found of chosen) {
    const tally = await campaign.fuzz(found, { seed, seconds: each, workers, at, hangSeconds });
    console.log(tallyLine(found.target.name, tally));
    for (const failure of tally.failures) reportFailure(failure, seed, keep);
    failures += tally.failures.length;
  }
  await campaign.close();
  console.log(failures === 0 ? 'fuzz: no failures' : `fuzz: ${failures} failures`);
  if (failures > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`fuzz: ${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
  process.exitCode = 1;
}
