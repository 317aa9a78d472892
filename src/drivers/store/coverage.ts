import type { ClientBase } from 'pg';
import { recordContractChange } from '#drivers/store/event-log.js';
import { type IndexCoverage, type SeqnoRange, stateSeqnoSql } from '#drivers/store/index-state.js';

/** Whether every account is known in its newest state: none that has no row exists. */
export function isStateComplete({ history, selected, state_seqno }: IndexCoverage): boolean {
  return !selected && state_seqno !== null && state_seqno >= (history.at(-1)?.to ?? 0);
}

/** Whether all blocks of the chain up to the head of the index are indexed, for all accounts. */
export function isHistoryComplete({ history, selected }: IndexCoverage): boolean {
  return !selected && history.length === 1 && history[0]!.from === 1;
}

/** At most so many ranges are printed: those with the newest blocks. */
const MOST_RANGES = 8;

/** The indexed masterchain seqnos as text: `1-599,900-1060`; `none`. Of very many ranges only the newest. */
export function historyText(history: readonly SeqnoRange[]): string {
  if (history.length === 0) return 'none';
  return history
    .slice(-MOST_RANGES)
    .map(({ from, to }) => `${from}-${to}`)
    .join(',');
}

/**
 * The coverage as text: `history=900-1060; state=partial`, with `; accounts=selected` where only selected accounts are indexed. It is the
 * value of `X-Tern-Coverage`.
 */
export function coverageText(coverage: IndexCoverage): string {
  const selected = coverage.selected ? '; accounts=selected' : '';
  const state = isStateComplete(coverage) ? 'complete' : 'partial';
  return `history=${historyText(coverage.history)}; state=${state}${selected}`;
}

/**
 * Declares that the newest state of every account is known as of a masterchain block S: for the last transaction of an import of the
 * persistent states of all shards as of S. History begins after S; blocks after S that are indexed already are taken into account, so
 * blocks may be followed and filled at any time while the states are imported.
 *
 * By then, for each account that exists at S, `accounts` has its state at S or a newer one (`last_trans_lt` decides, as for batches),
 * its code is in `codes`, and contracts are in `contract_queue` or have their rows already. In rows of imported accounts `mc_seqno` is S,
 * `gen_utime` the time of the shard block, `first_tx` null. The transaction holds the lock of `lockTraces`.
 *
 * Announces a change of contract rows, so that answers made before do not hold any more.
 */
export async function completeState(client: ClientBase, mc_seqno: number): Promise<void> {
  const known = `greatest(state_seqno, ${Math.trunc(mc_seqno)})`;
  await client.query(`UPDATE index_state SET state_seqno = ${stateSeqnoSql('rounds', known)}`);
  // Who has no row does not exist now.
  await client.query('TRUNCATE absent_accounts');
  await recordContractChange(client, null);
}
