import type pg from 'pg';
import type { Program } from './indexer-process.js';
import type { RecordedNetwork } from './recorded-network.js';

/** What all scenarios work with. */
export interface Trial {
  readonly network: RecordedNetwork;
  /** The database of an index of the whole network, which nothing interrupted. */
  readonly reference: pg.ClientBase;
  readonly program: Program;
  readonly seed: string;
  readonly say: (line: string) => void;
}

/** Something that goes wrong. Returns what is not as it should be. */
export type Scenario = (trial: Trial) => Promise<readonly string[]>;
