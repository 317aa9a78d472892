// npm run -s bench -- NAME [--only TEXT] [--size N] [--json]
import { existsSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { endWithChildren } from '../test/support/end-with-children.js';
import { measureDisturbance } from './disturbance.js';
import { measureCase } from './harness.js';
import { measureLatency } from './latency.js';
import { type BenchReport, reportText, thisMachine } from './report.js';
import type { BenchSuite } from './suite.js';

const folder = new URL('./', import.meta.url);
const ownFiles = new Set(['disturbance.ts', 'harness.ts', 'latency.ts', 'report.ts', 'run.ts', 'suite.ts']);

function knownNames(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !ownFiles.has(file))
    .map((file) => basename(file, '.ts'))
    .sort();
}

function usage(problem: string): void {
  const known = knownNames().join(', ') || 'none yet';
  process.stderr.write(
    `bench: ${problem}. Usage: npm run -s bench -- NAME [--only TEXT] [--size N] [--json]; known names: ${known}\n`,
  );
  process.exitCode = 1;
}

/** @param only runs what has this in its name */
async function runSuite(name: string, json: boolean, only: string, size: number | null): Promise<void> {
  const { suite } = (await import(new URL(`${name}.ts`, folder).href)) as { suite: BenchSuite };
  const cases = [];
  const latencies = [];
  const disturbances = [];
  const tables = [];
  try {
    const isWanted = (bench: { readonly name: string }) => bench.name.includes(only);
    for (const bench of (await suite.cases()).filter(isWanted)) {
      process.stderr.write(`bench: ${suite.name}: ${bench.name} …\n`);
      cases.push(measureCase(bench));
    }
    for (const bench of ((await suite.latencies?.()) ?? []).filter(isWanted)) {
      process.stderr.write(`bench: ${suite.name}: ${bench.name}, ${bench.inFlight} in flight …\n`);
      latencies.push(await measureLatency(bench));
    }
    for (const bench of ((await suite.disturbances?.()) ?? []).filter(isWanted)) {
      process.stderr.write(`bench: ${suite.name}: ${bench.name}, ${bench.inFlight} in flight …\n`);
      disturbances.push(await measureDisturbance(bench));
    }
    if (only === '') tables.push(...((await suite.tables?.(size)) ?? []));
  } finally {
    await suite.close?.();
  }
  const baseline = suite.baseline ?? null;
  const figures = { cases, latencies, disturbances, tables };
  const report: BenchReport = { name: suite.name, baseline, machine: thisMachine(), ...figures };
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false }, only: { type: 'string' }, size: { type: 'string' } },
    });
  } catch (error) {
    return error as Error;
  }
}

endWithChildren();
const given = readArguments();
if (given instanceof Error) usage(given.message);
else {
  const [name, ...more] = given.positionals;
  if (name === undefined) usage('a name is missing');
  else if (more.length > 0) usage('one name at a time');
  else if (!knownNames().includes(name) || !existsSync(new URL(`${name}.ts`, folder))) usage(`there is no "${name}"`);
  else
    await runSuite(
      name,
      given.values.json,
      given.values.only ?? '',
      given.values.size === undefined ? null : Number(given.values.size),
    );
}
