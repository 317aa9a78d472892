import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of `npm test` that take longest: those that begin early do not make the others wait at the end. */
const LONGEST = [
  'src/drivers/web/web-client.test.ts',
  'src/services/emulation/contract-service.test.ts',
  'src/services/webhooks/webhooks.test.ts',
  'src/drivers/tvm/tvm-pool.test.ts',
  'src/drivers/adnl/faults.test.ts',
  'src/services/access/key-file.test.ts',
];

/** Those of the long ones that take longest. */
const SLOWEST = [
  'src/services/indexer/import/state-import.long.test.ts',
  'src/services/indexer/indexer.long.test.ts',
  'test/cli/serve-index.long.test.ts',
  'test/cli/dev.long.test.ts',
  'test/cli/dev-local.long.test.ts',
  'test/cli/dev-fork.long.test.ts',
  'test/cli/dev-busy.long.test.ts',
  'test/cli/connection-abuse.long.test.ts',
  'src/drivers/tvm/tvm-pool.lanes.long.test.ts',
  'src/app/cli/watchdog.long.test.ts',
];

/** Files that read an index of the whole recorded network, which is made at the beginning of the run: they come last of their kind. */
const OF_RECORDED_INDEX = /\/test\/contract\/v3-[a-z-]+(\.long)?\.test\.ts$/;

/** Orders the files of a test run so that all its processes have something to do until the end. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      if (SLOWEST.some((path) => moduleId.endsWith(path))) return 0;
      if (project.name === 'long') return OF_RECORDED_INDEX.test(moduleId) ? 2 : 1;
      if (OF_RECORDED_INDEX.test(moduleId)) return 5;
      return LONGEST.some((path) => moduleId.endsWith(path)) ? 3 : 4;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
