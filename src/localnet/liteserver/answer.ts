import { sameBlock } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { blockIdFromTl } from '#formats/tl/block-id.js';
import { decodeBoxed, encodeBoxed } from '#formats/tl/constructor.js';
import {
  type LiteServerAccountId,
  LiteServerError,
  LiteServerGetAccountState,
  LiteServerGetAccountStatePrunned,
  LiteServerGetTransactions,
  LiteServerQuery,
  LiteServerRunSmcMethod,
  LiteServerSendMessage,
  LiteServerSendMsgStatus,
  type LiteServerWaitMasterchainSeqno,
  liteServerFunctions,
} from '#formats/tl/lite-api.js';
import { type DecodedLiteQuery, decodeLiteCall, splitLiteQuery } from '#formats/tl/lite-query.js';
import { accountPrefix, MASTERCHAIN } from '#formats/tlb/block-id.js';
import type { Clock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import { accountStateHandlers } from '#localnet/liteserver/account-state.js';
import { LATEST_SEQNO, notReady, openMcState, openState } from '#localnet/liteserver/block-access.js';
import { blockProofHandlers } from '#localnet/liteserver/block-proof.js';
import { blockDataHandlers, headHandlers, lookupHandlers } from '#localnet/liteserver/blocks.js';
import { liteserverErrors, toLiteError } from '#localnet/liteserver/errors.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteContext, LiteHandler, LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { configHandlers, libraryHandlers, validatorStatsHandlers } from '#localnet/liteserver/masterchain-state.js';
import { dispatchQueueHandlers, queueSizeHandlers } from '#localnet/liteserver/message-queues.js';
import { runSmcMethod } from '#localnet/liteserver/run-smc-method.js';
import { leafShard, readShard } from '#localnet/liteserver/shard-links.js';
import { shardHandlers } from '#localnet/liteserver/shards.js';
import { blockTransactionHandlers, transactionHandlers } from '#localnet/liteserver/transactions.js';

/** Functions that are refused in general. */
export const refusedHandlers: LiteHandlers<
  'liteServer.sendMessage' | 'liteServer.runSmcMethod' | 'liteServer.nonfinal.getPendingShardBlocks'
> = {
  'liteServer.sendMessage': () => {
    throw liteserverErrors['read-only']({});
  },
  'liteServer.runSmcMethod': () => {
    throw liteserverErrors['no-virtual-machine']({});
  },
  'liteServer.nonfinal.getPendingShardBlocks': () => {
    throw liteserverErrors['not-allowed']({});
  },
};

type LiteFunction = (typeof liteServerFunctions)[number];

/** A handler for each function of the lite API; checked for completeness by the compiler. */
const handlers: LiteHandlers<LiteFunction['name']> = {
  ...headHandlers,
  ...blockDataHandlers,
  ...lookupHandlers,
  ...accountStateHandlers,
  ...shardHandlers,
  ...blockProofHandlers,
  ...configHandlers,
  ...libraryHandlers,
  ...transactionHandlers,
  ...blockTransactionHandlers,
  ...queueSizeHandlers,
  ...dispatchQueueHandlers,
  ...validatorStatsHandlers,
  ...refusedHandlers,
};

const functions: ReadonlyMap<string, LiteFunction> = new Map(liteServerFunctions.map((each) => [each.name, each]));

/** Dependencies of answering queries. */
export interface LiteModules extends LiteContext {
  readonly clock: Clock;
  /**
   * Called with errors that no query should cause: defects of this program, whose details the client does not receive.
   */
  readonly onDefect?: (error: unknown) => void;
}

/** `liteServer.sendMsgStatus status:int` */
const TAKEN = 1;

/** Limits of waiting for a masterchain block. */
const MAX_WAIT_MS = 10_000;
const MAX_WAIT_BLOCKS = 100;

/**
 * Answers a query (`liteServer.query`, optionally with a wait for a masterchain block). Errors are answers too
 * (`liteServer.error`). `null`: not a liteserver query, no answer.
 *
 * @param signal aborts a wait
 */
export async function answerLiteQuery(
  query: Uint8Array,
  modules: LiteModules,
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  if (!isLiteQuery(query)) return null;
  try {
    const { wait, bytes } = splitLiteQuery(query);
    if (wait !== null) await waitForBlock(wait, modules, signal);
    return await answerAnyCall(decodeLiteCall(bytes), modules);
  } catch (error) {
    if (!isTernError(error)) modules.onDefect?.(error);
    return encodeBoxed(LiteServerError, toLiteError(error));
  }
}

/** Answers functions that are asynchronous here, and all others by {@link answerCall}. */
async function answerAnyCall(call: DecodedLiteQuery['call'], context: LiteContext): Promise<Uint8Array> {
  const { runGetMethod, sendMessage } = context;
  await importMissingAccount(call, context);
  const older = await answerFromForkedNetwork(call, context);
  if (older !== null) return older;
  if (call.name === LiteServerSendMessage.name && sendMessage !== undefined) {
    await sendMessage((call.value as LiteServerSendMessage).body);
    return encodeBoxed(LiteServerSendMsgStatus, { status: TAKEN });
  }
  if (call.name !== LiteServerRunSmcMethod.name || runGetMethod === undefined) return answerCall(call, context);
  return await runSmcMethod(call.value as LiteServerRunSmcMethod, context, runGetMethod);
}

/** Answers a function call; `runSmcMethod` and `sendMessage` are refused here. @throws liteserver/*, for the client */
export function answerCall({ name, value }: DecodedLiteQuery['call'], context: LiteContext): Uint8Array {
  const called = functions.get(name);
  if (called === undefined) throw liteserverErrors['unknown-query']({});
  const handler = handlers[called.name] as unknown as LiteHandler;
  return encodeBoxed(called.result, handler(value as never, context) as never);
}

function isLiteQuery(query: Uint8Array): boolean {
  try {
    decodeBoxed(query, LiteServerQuery);
    return true;
  } catch (error) {
    if (isTernError(error)) return false;
    throw error;
  }
}

/** @throws liteserver/not-ready for a block that is too far away, liteserver/timeout */
async function waitForBlock(
  { seqno, timeout_ms }: LiteServerWaitMasterchainSeqno,
  { ledger, clock }: LiteModules,
  signal: AbortSignal | undefined,
): Promise<void> {
  const wanted = seqno >>> 0;
  const reached = (): boolean => headSeqno(ledger) >= wanted;
  if (reached()) return;
  if (wanted > headSeqno(ledger) + MAX_WAIT_BLOCKS) throw notReady('too big masterchain block seqno');
  const timeout = Math.min(Math.max(timeout_ms, 0), MAX_WAIT_MS);
  const arrived = await new Promise<boolean>((resolve) => {
    const end = (result: boolean): void => {
      stopListening();
      cancel();
      signal?.removeEventListener('abort', giveUp);
      resolve(result);
    };
    const giveUp = (): void => end(false);
    const stopListening = ledger.onHead(() => {
      if (reached()) end(true);
    });
    const cancel = clock.schedule(timeout, giveUp);
    if (signal?.aborted === true) giveUp();
    else signal?.addEventListener('abort', giveUp, { once: true });
  });
  if (!arrived) throw liteserverErrors.timeout({});
}

function headSeqno(ledger: Ledger): number {
  return ledger.head?.id.seqno ?? 0;
}

const ABOUT_AN_ACCOUNT: ReadonlySet<string> = new Set([
  LiteServerGetAccountState.name,
  LiteServerGetAccountStatePrunned.name,
  LiteServerRunSmcMethod.name,
]);

/**
 * In a fork: imports the account of a query, if the head does not have it. A query for the latest state waits for the
 * import. A query for the head by its id is answered without the account, which later blocks will have.
 *
 * @throws what the import throws, when the query waits for it
 */
async function importMissingAccount(
  { name, value }: DecodedLiteQuery['call'],
  { ledger, importAccount }: LiteContext,
): Promise<void> {
  if (importAccount === undefined || !ABOUT_AN_ACCOUNT.has(name)) return;
  const { id: idTl, account } = value as LiteServerGetAccountState;
  const { head } = ledger;
  const id = blockIdFromTl(idTl);
  if (head === null || id.workchain !== MASTERCHAIN) return;
  const isNewest = id.seqno === LATEST_SEQNO;
  if (!isNewest && !sameBlock(id, head.id)) return;
  if (hasAccount(ledger, head, account)) return;
  const bringing = importAccount(account);
  if (isNewest) await bringing;
  else bringing.catch(() => {});
}

/**
 * In a fork: the answer of the forked network to a query about transactions from before the fork; null for all others.
 */
async function answerFromForkedNetwork(
  { name, value }: DecodedLiteQuery['call'],
  { forkedTransactions }: LiteContext,
): Promise<Uint8Array | null> {
  if (forkedTransactions === undefined || name !== LiteServerGetTransactions.name) return null;
  return forkedTransactions(value as LiteServerGetTransactions);
}

function hasAccount(ledger: Ledger, head: LedgerBlock, { workchain, id }: LiteServerAccountId): boolean {
  const state = ledger.state(head);
  if (workchain === MASTERCHAIN) return openState(state).accounts.value.has(id);
  const entry = readShard(openMcState(state).extra.shard_hashes, leafShard(workchain, accountPrefix(id)));
  const shardBlock = entry === null ? null : ledger.block(blockOfShard(entry));
  // Nothing can be imported into a workchain that does not exist or has no block yet.
  return shardBlock === null || openState(ledger.state(shardBlock)).accounts.value.has(id);
}
