import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';
import type { Reporter, TestModule } from 'vitest/node';

const ROOT = join(import.meta.dirname, '../..');
const LIST = 'test/skips.json';

/** A test that may be skipped. */
interface ListedSkip {
  readonly file: string;
  /** The end of the test's title. */
  readonly test: string;
  readonly reason: string;
}

/** Fails a run in which a test was skipped that `test/skips.json` does not list with a reason. */
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const listed = JSON.parse(readFileSync(join(ROOT, LIST), 'utf8')) as ListedSkip[];
    let skipped = 0;
    const unlisted: string[] = [];
    for (const module of modules) {
      // A run of some tests by name skips the others on purpose.
      if (module.project.config.testNamePattern !== undefined) return;
      const file = relative(ROOT, module.moduleId).replaceAll('\\', '/');
      for (const test of module.children.allTests('skipped')) {
        skipped++;
        const entry = listed.find((one) => one.file === file && test.name.endsWith(one.test));
        if (entry === undefined) unlisted.push(`${file}: ${test.fullName}`);
        else process.stdout.write(`skipped: ${file}: ${test.name}: ${entry.reason}\n`);
      }
    }
    if (unlisted.length === 0) return;
    process.stderr.write(
      `${unlisted.length} of ${skipped} skipped tests are not in ${LIST}: list each with a reason, or let it run.\n`,
    );
    for (const line of unlisted) process.stderr.write(`  ${line}\n`);
    process.exitCode = 1;
  }
}
