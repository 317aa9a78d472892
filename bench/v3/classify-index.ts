import process from 'node:process';
import { ACTION_TYPES } from '#domain/actions/action-registry.js';
import { CLASSIFIER_VERSION, classify } from '#domain/actions/classify.js';
import { Database } from '#drivers/store/database.js';
import { numberLayouts } from '#drivers/store/write/actions.js';
import { systemClock } from '#kernel/clock.js';
import { ClassifyLoop } from '#services/indexer/actions/classify-loop.js';
import type { ClassifySums } from '#services/indexer/actions/classify-protocol.js';
import { TraceClassification } from '#services/indexer/actions/trace-classification.js';
import { progressKey } from '#services/indexer/derivations/derivation.js';
import { actions } from '#services/indexer/derivations/registered.js';

/** Classifies all complete traces of an index, as its leader does, on one thread. @returns what was done, in how many seconds */
export async function classifyIndex(
  url: string,
  partition_rounds: number,
): Promise<Pick<ClassifySums, 'transactions' | 'actions' | 'seconds'>> {
  const database = await Database.open({ url, writeConnections: 2 }, { clock: systemClock });
  const done = { transactions: 0, actions: 0, seconds: 0 };
  try {
    const layouts = await database.transaction((client) => numberLayouts(client, ACTION_TYPES.values()));
    const classifier = { version: CLASSIFIER_VERSION, types: ACTION_TYPES.values(), classify };
    let trouble: unknown = null;
    for (const isLong of [false, true]) {
      const loop: ClassifyLoop = new ClassifyLoop(
        { key: progressKey(actions), partition_rounds, isLong },
        {
          ...{ database, clock: systemClock },
          classification: new TraceClassification(classifier, layouts),
          pollMs: 1_000,
          unixTime: () => Math.floor(Date.now() / 1000),
          onClassified: (sums) => {
            done.transactions += sums.transactions;
            done.actions += sums.actions;
            done.seconds += sums.seconds;
          },
          onLong: () => {},
          onIdle: () => loop.stop(),
          onFailed: (failed) => process.stderr.write(`bench: classification failed: ${JSON.stringify(failed[0])}\n`),
          onTrouble: (error) => {
            trouble = error;
            loop.stop();
          },
        },
      );
      await loop.run();
    }
    if (trouble !== null) throw trouble;
  } finally {
    await database.close();
  }
  return done;
}
