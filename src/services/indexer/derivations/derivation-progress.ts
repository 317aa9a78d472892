import type { ClientBase } from 'pg';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { countClassificationQueue } from '#drivers/store/write/actions.js';
import { countQueued } from '#drivers/store/write/contract-queue.js';
import {
  completeTraceRoots,
  countUnderived,
  derivedPosition,
  nextUnderived,
  readCompleteTraces,
  resetDerived,
  setDerivedPosition,
  shareBefore,
} from '#drivers/store/write/derivations.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import {
  type AccountDerivation,
  type Derivation,
  progressKey,
  type TraceDerivation,
} from '#services/indexer/derivations/derivation.js';
import { DERIVATIONS } from '#services/indexer/derivations/registered.js';

/** Traces read and written at a time. */
const TRACES_PAGE = 500;

/**
 * Derives the rows of the complete traces whose root is in a range; in a transaction.
 *
 * @returns the number of their transactions
 */
export async function rederiveTraces(
  client: ClientBase,
  derivation: TraceDerivation,
  range: SeqnoRange,
): Promise<number> {
  await lockTraces(client);
  return writeTraces(client, derivation, await completeTraceRoots(client, range));
}

/** Writes the rows of complete traces. @returns the number of their transactions */
export async function writeTraces(
  client: ClientBase,
  derivation: TraceDerivation,
  roots: readonly bigint[],
): Promise<number> {
  let transactions = 0;
  for (let i = 0; i < roots.length; i += TRACES_PAGE) {
    const traces = await readCompleteTraces(client, roots.slice(i, i + TRACES_PAGE));
    for (const trace of traces) transactions += trace.transactions.length;
    await derivation.write(client, traces);
  }
  return transactions;
}

/** Derives the next page of a derivation by address, in a transaction. @param now unix seconds @returns whether there may be more */
export async function deriveNextAccounts(
  client: ClientBase,
  derivation: AccountDerivation,
  now: number,
): Promise<boolean> {
  const key = progressKey(derivation);
  const position = await derivedPosition(client, key);
  if (position === null) return false;
  const next = await derivation.rederive(client, position ?? new Uint8Array(), { isRepeat: false, now });
  await setDerivedPosition(client, key, next);
  return next !== null;
}

/** Whether all rows of a derivation are derived, or, of contracts, queued. */
export async function isDerived(client: ClientBase, derivation: Derivation): Promise<boolean> {
  const key = progressKey(derivation);
  if (derivation.input === 'changed-accounts') return (await derivedPosition(client, key)) === null;
  return (await nextUnderived(client, key, 1)) === null;
}

/** A registered derivation, and those that are restarted with it. Undefined: there is none of that name. */
function withDependents(name: string): readonly Derivation[] {
  const derivation = DERIVATIONS.find((each) => each.name === name);
  if (derivation === undefined) return [];
  return [derivation, ...(derivation.restarts ?? []).flatMap(withDependents)];
}

/**
 * Restarts a derivation, and those that depend on it; in a transaction. The index leader does the work. A restart that is not
 * finished yet continues instead.
 */
export async function restartDerivation(client: ClientBase, name: string): Promise<void> {
  await lockTraces(client);
  const derivations = withDependents(name);
  let isFinished = true;
  for (const derivation of derivations) isFinished &&= await isDerived(client, derivation);
  for (const derivation of derivations) {
    const key = progressKey(derivation);
    if (derivation.input !== 'changed-accounts') {
      if (isFinished) await resetDerived(client, key);
      if (derivation.input === 'ended-traces') await derivation.restarted?.(client);
    } else if (isFinished || (await derivedPosition(client, key)) === undefined) {
      await setDerivedPosition(client, key, new Uint8Array());
    }
  }
}

/** What is left of a derivation. */
export interface DerivationLeft {
  readonly name: string;
  readonly isDone: boolean;
  /** Of one by blocks or traces: masterchain blocks left. */
  readonly mcBlocks: number;
  /** Of one by address: the share of the address space that is left, 0 to 1. */
  readonly unvisited: number;
  /** Of contracts: queued accounts that are due. Of actions: queued traces, without those that have failed again and again. */
  readonly queued: number;
}

/** What is left of a derivation, and of those that are restarted with it. */
export async function derivationsLeft(client: ClientBase, name: string): Promise<readonly DerivationLeft[]> {
  const all: DerivationLeft[] = [];
  for (const derivation of withDependents(name)) {
    const key = progressKey(derivation);
    const left = { name: derivation.name, mcBlocks: 0, unvisited: 0, queued: 0 };
    if (derivation.input === 'changed-accounts') {
      const position = await derivedPosition(client, key);
      left.unvisited = position === null ? 0 : 1 - shareBefore(position);
      if (derivation.runBy === 'detection') {
        const changed = await client.query('SELECT FROM changed_contracts LIMIT 1');
        left.queued = (await countQueued(client)).soon + changed.rows.length;
      }
    } else {
      left.mcBlocks = await countUnderived(client, key);
      if (derivation.input === 'ended-traces') {
        const { soonShort, soonLong } = await countClassificationQueue(client);
        left.queued = soonShort + soonLong;
      }
    }
    all.push({ ...left, isDone: left.mcBlocks === 0 && left.unvisited === 0 && left.queued === 0 });
  }
  return all;
}

/** How much of restarted derivations is done, as a share: each counts the same. */
export class DerivedShare {
  /** The most that was ever left of each, of blocks and of queued rows. */
  readonly #most = new Map<string, { mcBlocks: number; queued: number }>();
  #done: number | null = null;

  /** 0 to 1; null before the first look. Is 1 only when nothing is left. */
  get done(): number | null {
    return this.#done;
  }

  /** @param left what is left now, of at least one derivation */
  look(left: readonly DerivationLeft[]): void {
    let sum = 0;
    for (const { name, isDone, mcBlocks, unvisited, queued } of left) {
      const before = this.#most.get(name) ?? { mcBlocks: 0, queued: 0 };
      const most = { mcBlocks: Math.max(before.mcBlocks, mcBlocks), queued: Math.max(before.queued, queued) };
      this.#most.set(name, most);
      // Rows are queued while blocks or addresses are visited: both parts have to end.
      const visiting = most.mcBlocks === 0 ? unvisited : mcBlocks / most.mcBlocks;
      const queue = most.queued === 0 ? visiting : queued / most.queued;
      sum += isDone ? 1 : Math.min(1 - (visiting + queue) / 2, 0.999);
    }
    this.#done = sum / left.length;
  }
}
