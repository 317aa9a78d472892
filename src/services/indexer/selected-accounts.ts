import { WALLET_CODE_HASHES } from '#domain/contracts/wallet.js';
import { addressOfBytes } from '#drivers/store/keys.js';
import { type IndexHeadBlock, readAccountKnowledge, readIndexHeadBlock } from '#drivers/store/read/known-accounts.js';
import { importedAccountRow } from '#drivers/store/write/imported-account.js';
import { addLookedUpAccounts } from '#drivers/store/write/looked-up-accounts.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { pause } from '#kernel/clock.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { IndexerContext } from '#services/indexer/index-progress.js';

/** Accounts read at once, and in one transaction. */
const AT_A_TIME = 8;
const IN_TRANSACTION = 64;
const WAIT_MS = 250;
const DEADLINE_MS = 10_000;

/**
 * Reads the states of the selected accounts that no indexed block has shown, as of the head of the index, once that has one. An index of
 * selected accounts that begins late knows what they have before they move.
 *
 * @throws indexer/stopped
 */
export async function readSelectedAccounts(
  { database, retries, clock, logger, onQueued }: SelectedAccountsModules,
  chain: Pick<ChainReads, 'account'>,
  accounts: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<void> {
  const reading = <T>(work: Parameters<typeof database.read<T>>[0]) => retries.run(() => database.read(work), signal);
  const knowledge = await reading((reader) => readAccountKnowledge(reader, accounts));
  const missing = knowledge.filter(({ known }) => !known).map(({ address }) => address);
  let block: IndexHeadBlock | null = null;
  while (missing.length > 0) {
    block = await reading(readIndexHeadBlock);
    if (signal.aborted) throw indexerErrors.stopped({});
    if (block === null) {
      await pause(WAIT_MS, clock, signal);
      continue;
    }
    const at = block;
    const part = missing.slice(0, IN_TRANSACTION);
    const added = await retries.run(async () => {
      const rows = [];
      for (let i = 0; i < part.length; i += AT_A_TIME) {
        rows.push(...(await Promise.all(part.slice(i, i + AT_A_TIME).map((address) => stateAt(address, at)))));
      }
      const looked = {
        block: at,
        found: rows.flatMap(({ row }) => (row === null ? [] : [row])),
        absent: rows.flatMap(({ row, address }) => (row === null ? [address] : [])),
      };
      const options = { plain: WALLET_CODE_HASHES, mostAbsent: accounts.length, ofSelection: true };
      return database.transaction((client) => addLookedUpAccounts(client, looked, options));
    }, signal);
    if (added) missing.splice(0, part.length);
  }
  if (block === null) return;
  onQueued();
  logger.info('the states of the selected accounts were read', { mc_seqno: block.seqno });

  async function stateAt(address: Uint8Array, head: IndexHeadBlock) {
    const id = { ...MASTERCHAIN_SHARD, ...head };
    const read = await chain.account(addressOfBytes(address), { at: id, signal, deadlineMs: DEADLINE_MS });
    const { cell, shard_utime, last_transaction } = read;
    if (cell === null || shard_utime === null) return { address, row: null };
    const source = {
      last_trans_lt: last_transaction?.lt ?? 0n,
      last_trans_hash: last_transaction?.hash.slice() ?? new Uint8Array(32),
      mc_seqno: head.seqno,
      gen_utime: shard_utime,
    };
    return { address, row: importedAccountRow(address, cell, source) };
  }
}

interface SelectedAccountsModules extends Pick<IndexerContext, 'database' | 'retries' | 'clock' | 'logger'> {
  /** Contracts were queued for detection. */
  readonly onQueued: () => void;
}
