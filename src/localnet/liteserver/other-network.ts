import { sameBlock } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { blockIdFromTl } from '#formats/tl/block-id.js';
import type { LiteServerAccountId } from '#formats/tl/generated/lite-server.js';
import {
  LiteServerGetAccountState,
  LiteServerGetAccountStatePrunned,
  LiteServerGetTransactions,
  LiteServerRunSmcMethod,
} from '#formats/tl/generated/lite-server-functions.js';
import type { LiteQuery } from '#formats/tl/lite-query.js';
import { accountPrefix, MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { openMcState, openState } from '#localnet/liteserver/block-reading.js';
import { LATEST_SEQNO } from '#localnet/liteserver/find-block.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteContext } from '#localnet/liteserver/lite-handler.js';
import { leafShard, readShard } from '#localnet/liteserver/shard-links.js';

const ABOUT_AN_ACCOUNT: ReadonlySet<string> = new Set([
  LiteServerGetAccountState.name,
  LiteServerGetAccountStatePrunned.name,
  LiteServerRunSmcMethod.name,
]);

/**
 * Where a chain began from another network: brings the account that is asked about, if the head does not have it. For the
 * newest state the answer waits for that. Where the head is named, the answer is that of the block, which does not have
 * the account: it will be there for those who ask about a later one.
 *
 * @throws what bringing it throws, where the answer waits
 */
export async function bringMissingAccount(
  { name, value }: LiteQuery['call'],
  { ledger, bringAccount }: LiteContext,
): Promise<void> {
  if (bringAccount === undefined || !ABOUT_AN_ACCOUNT.has(name)) return;
  const { id: idTl, account } = value as LiteServerGetAccountState;
  const { head } = ledger;
  const id = blockIdFromTl(idTl);
  if (head === null || id.workchain !== MASTERCHAIN) return;
  const isNewest = id.seqno === LATEST_SEQNO;
  if (!isNewest && !sameBlock(id, head.id)) return;
  if (hasAccount(ledger, head, account)) return;
  const bringing = bringAccount(account);
  if (isNewest) await bringing;
  else bringing.catch(() => {});
}

/** An answer of the network from which the chain began, to a question about what was before; null for all others. */
export async function answerFromBefore(
  { name, value }: LiteQuery['call'],
  { olderTransactions }: LiteContext,
): Promise<Uint8Array | null> {
  if (olderTransactions === undefined || name !== LiteServerGetTransactions.name) return null;
  return olderTransactions(value as LiteServerGetTransactions);
}

function hasAccount(ledger: Ledger, head: LedgerBlock, { workchain, id }: LiteServerAccountId): boolean {
  const state = ledger.state(head);
  if (workchain === MASTERCHAIN) return openState(state).accounts.value.has(id);
  const entry = readShard(openMcState(state).extra.shard_hashes, leafShard(workchain, accountPrefix(id)));
  const shardBlock = entry === null ? null : ledger.block(blockOfShard(entry));
  // Of a workchain that there is not, or that has no block yet, nothing can be brought.
  return shardBlock === null || openState(ledger.state(shardBlock)).accounts.value.has(id);
}
