import { type Environment, withClosers } from '#app/service/environment.js';
import type { NetworkIndex } from '#app/service/network-index.js';
import { readWallet } from '#domain/contracts/wallet.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { type ExternalInMessage, readExternalInMessage } from '#formats/tlb/message.js';
import { toHex } from '#kernel/bytes.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { TraceEmulation } from '#services/emulation/emulated-trace.js';
import type { TraceMeanings } from '#services/emulation/trace-meanings.js';
import { FollowIndex, FollowShards } from '#services/pending/follow-blocks.js';
import { EmulatedClassification } from '#services/pending/live-classification.js';
import type { LiveMessages, MessageOrigin } from '#services/pending/live-messages.js';
import { MessageFollow } from '#services/pending/message-follow.js';
import type { PendingMetrics } from '#services/pending/metrics.js';
import { PendingTraces, type WalletSeqnos } from '#services/pending/pending-traces.js';
import { SharedMessages } from '#services/pending/shared-messages.js';

export interface OpenPendingOptions {
  readonly config: GlobalConfig;
  /** Shares messages among processes; null: it does not. */
  readonly redisUrl: string | null;
  /** A Redis channel with external-in messages of others; null: none. */
  readonly channel: string | null;
}

export interface OpenPendingModules extends Environment {
  readonly chain: ChainReads;
  /** The newest masterchain block that a liteserver claims; 0: none. */
  readonly claimedSeqno: () => number;
  /** Whether a liteserver answers. */
  readonly isConnected: () => boolean;
  /** Null: messages are followed without being emulated. */
  readonly emulation: (TraceEmulation & TraceMeanings) | null;
  readonly index: NetworkIndex;
  /** Messages of the pool of a local network: calls the listener with their BoCs. Null: it is another network. */
  readonly pool: ((listener: (message: Uint8Array) => void) => () => void) | null;
}

/** Traces of a network that are not final yet. */
export interface OpenPending {
  readonly live: LiveMessages;
  readonly follow: MessageFollow;
  metrics(): PendingMetrics;
  close(): Promise<void>;
}

/** Deadline of a read of a wallet. */
const WALLET_MS = 5_000;

/** Follows the messages of a network. @throws pending/option */
export function openPending(options: OpenPendingOptions, modules: OpenPendingModules): Promise<OpenPending> {
  return withClosers(async (closers) => {
    const { config, redisUrl, channel } = options;
    const { chain, claimedSeqno, isConnected, emulation, index, pool, clock, unixTimeMs, logger } = modules;
    const wallets: WalletSeqnos = {
      read: async (account, signal) => {
        const { block, account: state } = await chain.account(account, { deadlineMs: WALLET_MS, signal });
        if (state?.kind !== 'account' || state.storage.state.kind !== 'account_active') return null;
        const { code, data } = state.storage.state.state_init;
        const wallet = readWallet(code, data);
        return wallet === null ? null : { seqno: wallet.seqno, mc_seqno: block.seqno };
      },
    };
    const newestSeqno = () => Math.max(chain.provenSeqno, claimedSeqno(), index.head()?.mc_seqno ?? 0) || null;
    const traces = new PendingTraces(
      {},
      {
        ...{ emulation, wallets, newestSeqno, clock, unixTimeMs, logger },
        classification: emulation === null ? null : new EmulatedClassification(emulation),
      },
    );
    closers.add(() => traces.close());
    traces.start();
    const following = new FollowIndex({
      ...{ traces, clock, logger },
      feed: index.events,
      index: index.reads,
      head: () => index.head(),
      newestSeqno: () => (isConnected() ? newestSeqno() : null),
    });
    closers.add(() => following.close());
    following.start();
    const shards = new FollowShards({ traces, chain, clock, logger });
    closers.add(() => shards.close());
    shards.start();
    let shared: SharedMessages | null = null;
    if (redisUrl !== null) {
      const network = toHex(config.zeroState.root_hash);
      const onMessage = (message: ExternalInMessage, origin: MessageOrigin) => void traces.submit(message, origin);
      shared = new SharedMessages({ url: redisUrl, network, channel }, { onMessage, logger });
      closers.add(() => shared?.close());
    }
    if (pool !== null) {
      closers.add(
        pool((boc) => {
          const message = readExternalInMessage(wholeCell(boc), boc);
          if (traces.submit(message, 'pooled')) shared?.publish(message);
        }),
      );
    }
    const live: LiveMessages = {
      status: (hash) => traces.status(hash),
      watch: (hash, listener) => traces.watch(hash, listener),
      refused: (message, why) => traces.refused(message, why),
      ofAccounts: (accounts, limit) => traces.ofAccounts(accounts, limit),
      find: (hash) => traces.find(hash),
      subscribe: (listener) => traces.subscribe(listener),
      submit: (message, origin) => {
        const isFollowed = traces.submit(message, origin);
        if (isFollowed && origin === 'sent') shared?.publish(message);
        return isFollowed;
      },
    };
    const follow = new MessageFollow({ live, index: index.reads, clock });
    return { live, follow, metrics: () => traces.metrics(), close: () => closers.close() };
  });
}
