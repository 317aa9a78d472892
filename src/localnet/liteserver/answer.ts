import { decodeBoxed, encodeBoxed } from '#formats/tl/boxed.js';
import { LiteServerError, LiteServerSendMsgStatus } from '#formats/tl/generated/lite-server.js';
import {
  LiteServerQuery,
  LiteServerRunSmcMethod,
  LiteServerSendMessage,
  type LiteServerWaitMasterchainSeqno,
  liteServerFunctions,
} from '#formats/tl/generated/lite-server-functions.js';
import { decodeLiteQuery, type LiteQuery } from '#formats/tl/lite-query.js';
import type { Clock } from '#kernel/clock/clock.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { accountStateHandlers } from '#localnet/liteserver/account-state.js';
import { blockDataHandlers } from '#localnet/liteserver/block-data.js';
import { blockProofHandlers } from '#localnet/liteserver/block-proof.js';
import { blockTransactionHandlers } from '#localnet/liteserver/block-transactions.js';
import { configHandlers } from '#localnet/liteserver/config.js';
import { dispatchQueueHandlers } from '#localnet/liteserver/dispatch-queue.js';
import { liteserverErrors, toLiteError } from '#localnet/liteserver/errors.js';
import { notReady } from '#localnet/liteserver/find-block.js';
import { headHandlers } from '#localnet/liteserver/head.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';
import { libraryHandlers } from '#localnet/liteserver/libraries.js';
import type { LiteContext, LiteHandler, LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { lookupHandlers } from '#localnet/liteserver/lookup.js';
import { answerFromBefore, bringMissingAccount } from '#localnet/liteserver/other-network.js';
import { queueSizeHandlers } from '#localnet/liteserver/queue-sizes.js';
import { refusedHandlers } from '#localnet/liteserver/refused.js';
import { runSmcMethod } from '#localnet/liteserver/run-smc-method.js';
import { shardHandlers } from '#localnet/liteserver/shards.js';
import { transactionHandlers } from '#localnet/liteserver/transactions.js';
import { validatorStatsHandlers } from '#localnet/liteserver/validator-stats.js';

type LiteFunction = (typeof liteServerFunctions)[number];

/** A handler for every function of the lite API: the compiler finds a missing one. */
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

/** What answering needs from outside. */
export interface LiteModules extends LiteContext {
  readonly clock: Clock;
  /** Is told what no query should bring about: a defect of this program, of which the client learns no more than that. */
  readonly onDefect?: (error: unknown) => void;
}

/** `liteServer.sendMsgStatus status:int` */
const TAKEN = 1;

/** Longest wait for a masterchain block, and the greatest distance to it. */
const MAX_WAIT_MS = 10_000;
const MAX_WAIT_BLOCKS = 100;

/**
 * Answers a query (`liteServer.query`, with a wait for a masterchain block if there is one). What goes wrong is an answer
 * too (`liteServer.error`). `null`: it is no query to a liteserver, and gets no answer.
 *
 * @param signal ends a wait
 */
export async function answerLiteQuery(
  query: Uint8Array,
  modules: LiteModules,
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  if (!isLiteQuery(query)) return null;
  try {
    const { wait, call } = decodeLiteQuery(query);
    if (wait !== null) await waitForBlock(wait, modules, signal);
    return await answerAnyCall(call, modules);
  } catch (error) {
    if (!isTernError(error)) modules.onDefect?.(error);
    return encodeBoxed(LiteServerError, toLiteError(error));
  }
}

/** The same for all functions: contracts are run elsewhere, so that what depends on them comes later. */
async function answerAnyCall(call: LiteQuery['call'], context: LiteContext): Promise<Uint8Array> {
  const { runGetMethod, sendMessage } = context;
  await bringMissingAccount(call, context);
  const older = await answerFromBefore(call, context);
  if (older !== null) return older;
  if (call.name === LiteServerSendMessage.name && sendMessage !== undefined) {
    await sendMessage((call.value as LiteServerSendMessage).body);
    return encodeBoxed(LiteServerSendMsgStatus, { status: TAKEN });
  }
  if (call.name !== LiteServerRunSmcMethod.name || runGetMethod === undefined) return answerCall(call, context);
  return await runSmcMethod(call.value as LiteServerRunSmcMethod, context, runGetMethod);
}

/** Answers a call of a function; of a method of a contract, that it cannot be run. @throws liteserver/*, for the client */
export function answerCall({ name, value }: LiteQuery['call'], context: LiteContext): Uint8Array {
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
