// How long a person waits: `tern --version`, the first `npm start` and the next one, with a warm and a cold page cache.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { spreadOf } from './harness.js';
import type { ReportTable } from './report.js';
import { EVICTED, evictPages } from './start/page-cache.js';
import { inDataFolder, measureStart, measureVersion, type StartTime } from './start/start-times.js';
import type { BenchSuite } from './suite.js';

/** Runs of each start, without `--size`. */
const RUNS = 5;
const TARGETS_MS = { version: 150, first: 3_000, second: 2_000, end: 3_000 } as const;

const repository = fileURLToPath(new URL('../', import.meta.url));

/** Times of one state of the page cache. */
interface Measured {
  readonly cache: 'warm' | 'cold';
  readonly version: number[];
  readonly first: StartTime[];
  readonly second: StartTime[];
}

export const suite: BenchSuite = {
  name: 'start',
  cases: () => [],
  async tables(size) {
    prepare();
    // One that is not counted: it compiles what has changed, and warms the page cache.
    await inDataFolder((folder) => measureStart(join(folder, 'data')));
    const runs = size ?? RUNS;
    const warm = await measure('warm', runs, () => {});
    if (!evictPages()) {
      process.stderr.write('bench: start: pages cannot be evicted here: only a warm page cache is measured\n');
      return [table([warm])];
    }
    return [table([warm, await measure('cold', runs, evictPages)])];
  },
};

/** The explorer is built before, since a start builds it beside when its sources have changed. */
function prepare(): void {
  const { status } = spawnSync(process.execPath, [join(repository, 'scripts', 'build-web.mjs')], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the explorer could not be built');
}

async function measure(cache: Measured['cache'], runs: number, before: () => void): Promise<Measured> {
  const measured: Measured = { cache, version: [], first: [], second: [] };
  for (let run = 1; run <= runs; run++) {
    process.stderr.write(`bench: start: ${cache} page cache, run ${run} of ${runs} …\n`);
    before();
    measured.version.push(await measureVersion());
    await inDataFolder(async (folder) => {
      for (const times of [measured.first, measured.second]) {
        before();
        times.push(await measureStart(join(folder, 'data')));
      }
    });
  }
  return measured;
}

function table(all: readonly Measured[]): ReportTable {
  const cell = (values: readonly number[], target: number): string => {
    const { median, min, max } = spreadOf(values);
    const texts = [median, min, max].map((ms) => (ms / 1000).toFixed(2));
    return `${texts.join('  ')}; ${target / 1000} ${median <= target ? 'met' : 'missed'}`;
  };
  const startRow = (what: string, cache: string, times: readonly StartTime[], target: number): string[] => [
    ...[what, cache, `${times.length}`],
    ...(['v2', 'v3'] as const).map((api) =>
      cell(
        times.map((time) => time[api]),
        target,
      ),
    ),
    cell(
      times.map(({ end }) => end),
      TARGETS_MS.end,
    ),
  ];
  return {
    title: `Seconds to the version, to the first right answer of v2 and of v3, and from Ctrl-C to the end: median, min, max; what is wanted. Cold page cache: without ${EVICTED}`,
    head: ['command', 'page cache', 'runs', 'version or v2', 'v3', 'end'],
    rows: all.flatMap(({ cache, version, first, second }) => [
      ['tern --version', cache, `${version.length}`, cell(version, TARGETS_MS.version), '', ''],
      startRow('npm start, new chain', cache, first, TARGETS_MS.first),
      startRow('npm start, chain goes on', cache, second, TARGETS_MS.second),
    ]),
  };
}
