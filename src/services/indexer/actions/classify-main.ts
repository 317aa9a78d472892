// A classification thread: classifies traces into actions, over a database connection of its own.
import { ACTION_TYPES } from '#domain/actions/action-registry.js';
import { CLASSIFIER_VERSION, classify } from '#domain/actions/classify.js';
import { Database } from '#drivers/store/database.js';
import { numberLayouts } from '#drivers/store/write/actions.js';
import { systemClock } from '#kernel/clock.js';
import { BEHIND, lowerPriority, ownThreadCpuTime } from '#kernel/os-thread.js';
import { plainError } from '#kernel/worker-channel.js';
import { WorkerSide } from '#kernel/worker-side.js';
import { ClassifyLoop } from '#services/indexer/actions/classify-loop.js';
import type { ClassifyContract } from '#services/indexer/actions/classify-protocol.js';
import { type ClassifiedPage, TraceClassification } from '#services/indexer/actions/trace-classification.js';
import { progressKey } from '#services/indexer/derivations/derivation.js';
import { actions } from '#services/indexer/derivations/registered.js';
import { indexerErrors } from '#services/indexer/errors.js';

// The event loop goes first, as in the threads that write.
lowerPriority(ownThreadCpuTime(), BEHIND.worker);

const side = new WorkerSide<ClassifyContract>({
  unexpected: (problem, cause) => indexerErrors.unexpected({ problem }, cause),
});
const { url, pollMs, partition_rounds, isLong } = side.start;
const { notify } = side;
const clock = systemClock;
const unixTime = () => Math.floor(Date.now() / 1000);
const classifier = { version: CLASSIFIER_VERSION, types: ACTION_TYPES.values(), classify };

void side.serve(async () => {
  // The database need not be available when the thread starts: connections are opened when they are used.
  const database = await Database.open({ url, writeConnections: 2, readConnections: 1 }, { clock });
  let opened: Promise<TraceClassification> | null = null;
  /** Types get their numbers when they are first used. */
  const classification = (): Promise<TraceClassification> => {
    opened ??= database
      .transaction((client) => numberLayouts(client, ACTION_TYPES.values()))
      .then((layouts) => new TraceClassification(classifier, layouts));
    opened.catch(() => {
      opened = null;
    });
    return opened;
  };
  const loop = new ClassifyLoop(
    { key: progressKey(actions), partition_rounds, isLong },
    {
      ...{ database, clock, unixTime, pollMs },
      classification: {
        classify: async (client, roots) => (await classification()).classify(client, roots),
        write: async (client, page: ClassifiedPage) => (await classification()).write(client, page),
      },
      onClassified: (sums) => notify.classified(sums),
      onLong: () => notify.queuedLong(),
      onIdle: (wake, left) => notify.idle(wake, left),
      onFailed: (traces) => notify.failed(traces),
      onTrouble: (error) =>
        notify.trouble(plainError(error, (problem, cause) => indexerErrors.unexpected({ problem }, cause))),
    },
  );
  const running = loop.run();
  return {
    ready: undefined,
    methods: { setPace: (pace) => loop.setPace(pace), wake: (number) => loop.wake(number) },
    close: async () => {
      loop.stop();
      await running;
      await database.close();
    },
  };
});
