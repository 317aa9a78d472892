import { contractDataErrors } from '#domain/contracts/errors.js';
import type { ContractKind } from '#domain/contracts/kinds/contract-kind.js';
import type { FoundContract, FoundKind, LapseReason } from '#drivers/store/write/contract-rows.js';
import type { ColumnValue } from '#drivers/store/write/contract-values.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Cell } from '#formats/cells/cell.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { Logger } from '#kernel/observe/logger.js';
import type { KnownContract } from '#services/indexer/contracts/contract-changes.js';
import type { ContractState } from '#services/indexer/contracts/contract-state.js';
import { isEndless, type Refusal, verdictOf } from '#services/indexer/contracts/refusals.js';
import type { StoredView } from '#services/indexer/contracts/stored-view.js';

/** What came of looking at an account. */
export interface Looked {
  readonly found: FoundContract;
  /** Whom it names that was asked. */
  readonly named: readonly Uint8Array[];
}

/** What a row may take. */
const MOST_ROW_BYTES = 128 * 1024;

export interface LookModules {
  readonly kindsOf: (codeHash: string, methodIds: readonly number[] | null) => readonly ContractKind[];
  readonly logger: Logger;
  /** Told why a contract could not be asked. */
  readonly onPostponed: (error: unknown) => void;
}

/**
 * Asks a contract for all kinds that its code can be of.
 *
 * @param attempts how often it could not be asked before
 * @throws what says that it, or whom it names, cannot be asked now
 */
export async function lookAtContract(
  state: ContractState,
  view: StoredView,
  known: KnownContract | null,
  attempts: number,
  { kindsOf, logger }: Pick<LookModules, 'kindsOf' | 'logger'>,
): Promise<Looked> {
  const { address, last_trans_lt, mc_seqno, code_hash, data_hash, running } = state;
  const rows: FoundKind[] = [];
  const refused: Record<string, Refusal> = {};
  for (const kind of running === null ? [] : kindsOf(running.code.hash, running.code.methods)) {
    try {
      rows.push(await readKind(kind, view));
    } catch (error) {
      const verdict = verdictOf(error, address.toRaw(), attempts);
      if (verdict.kind === 'passing') throw error;
      if (verdict.kind === 'other') continue;
      const { reason } = verdict;
      // Of code without a table of methods nobody knows what it is for: that it fails says nothing.
      const seems = running!.code.methods !== null || reason === 'not-verified' || known?.kinds.includes(kind.kind);
      if (seems || isEndless(reason) || reason === 'too-large' || reason === 'unsteady') refused[kind.kind] = reason;
      if (reason === 'failed') logger.warn('a contract could not be read', problemOf(error, kind.kind, state));
      if (isEndless(reason)) break;
    }
  }
  // Kinds have get methods in common: what answers as one of them is not a bad one of the others.
  if (rows.length > 0)
    for (const [kind, reason] of Object.entries(refused)) if (reason === 'malformed') delete refused[kind];
  const lost = known?.kinds.filter((kind) => rows.every((row) => row.kind !== kind)) ?? [];
  const lapsed = lapseReason(state, lost, refused);
  return {
    found: { address, last_trans_lt, mc_seqno, code_hash, data_hash, rows, refused, lapsed },
    named: view.named,
  };
}

async function readKind(kind: ContractKind, view: StoredView): Promise<FoundKind> {
  const values = kind.row(await kind.read(view, view.subject()));
  requireBounded(kind, values);
  return { kind: kind.kind, table: kind.table, values };
}

/** @throws contract-data/too-large */
function requireBounded({ kind }: ContractKind, values: Readonly<Record<string, ColumnValue>>): void {
  let size = 0;
  for (const value of Object.values(values)) size += sizeOf(value);
  if (size > MOST_ROW_BYTES) throw contractDataErrors['too-large']({ what: kind, size, limit: MOST_ROW_BYTES });
}

function sizeOf(value: ColumnValue): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  if (value instanceof Cell) return serializeBoc(value).length;
  return Array.isArray(value) ? 33 * value.length : 32;
}

function lapseReason(
  { running }: ContractState,
  lost: readonly string[],
  refused: Readonly<Record<string, Refusal>>,
): LapseReason {
  if (running === null) return 'destroyed';
  return lost.some((kind) => refused[kind] === 'not-verified' || refused[kind] === 'unsteady') ? 'refused' : 'changed';
}

function problemOf(error: unknown, kind: string, { address, code_hash }: ContractState) {
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { problem, kind, address: address.toRaw(), code_hash: code_hash === null ? null : toHex(code_hash) };
}
