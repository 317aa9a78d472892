import type { Profile } from '#api/http/http-api.js';
import { HubEventSource } from '#api/stream/event-source.js';
import { StreamHub } from '#api/stream/hub.js';
import type { StreamSettings } from '#api/stream/options.js';
import type { V3Network } from '#api/v3/context.js';
import { EventAnswers } from '#api/v3/event-answers.js';
import { type Environment, withClosers } from '#app/service/environment.js';
import type { NetworkIndex } from '#app/service/network-index.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import { toHex } from '#kernel/bytes.js';
import { progressKey } from '#services/indexer/derivations/derivation.js';
import { actions } from '#services/indexer/derivations/registered.js';
import type { LiveTraces } from '#services/pending/live-trace.js';
import { type WebhookModules, Webhooks } from '#services/webhooks/webhooks.js';

/** Settings of streams and webhooks of a network. */
export interface StreamPlan {
  readonly streams: Partial<StreamSettings>;
  /** `off`: there are none. */
  readonly webhooks: 'off' | 'keys' | 'open';
  /** Whether webhooks may go to private networks. */
  readonly webhookTargets: 'public' | 'any';
  /** Of the events of webhooks. */
  readonly profile: Profile;
}

interface OpenStreamsModules extends Environment {
  readonly config: GlobalConfig;
  readonly index: NetworkIndex;
  readonly facts: Omit<V3Network, 'index'>;
  /** Null: what is not final is not followed. */
  readonly live: LiveTraces | null;
  readonly isValidOwner: WebhookModules['isValidOwner'];
}

/** The events of a network. */
export interface OpenStreams {
  readonly hub: StreamHub;
  /** `null` when they are off. */
  readonly webhooks: Webhooks | null;
  close(): Promise<void>;
}

/** Digits of the name of a chain in cursors. */
const CHAIN_DIGITS = 8;

/** Starts to follow the events of an index, and to send webhooks while this process writes it. */
export function openStreams(plan: StreamPlan, modules: OpenStreamsModules): Promise<OpenStreams> {
  return withClosers(async (closers) => {
    const { config, index, facts, live, isValidOwner, clock, unixTimeMs, randomBytes, logger } = modules;
    // A local network that is set back has the same zerostate, and other blocks.
    const chain = index.incarnation ?? toHex(config.zeroState.file_hash);
    const hub = new StreamHub(
      { ...plan.streams, chain: chain.slice(0, CHAIN_DIGITS), actionsKey: progressKey(actions) },
      {
        ...{ index: index.reads, coverage: () => (index.version === 0 ? null : index.coverage()), live, clock, logger },
        texts: new EventAnswers({ index: index.reads, ...facts }),
      },
    );
    index.onChange(() => hub.wake());
    hub.start();
    closers.add(() => hub.close());
    let webhooks: Webhooks | null = null;
    if (plan.webhooks !== 'off') {
      webhooks = new Webhooks(
        { allowPrivateNetworks: plan.webhookTargets === 'any' },
        {
          ...{ source: new HubEventSource(hub, plan.profile), clock, unixTimeMs, randomBytes, logger },
          database: () => index.primary(),
          isLeader: () => index.writing()?.leader === true,
          isValidOwner,
        },
      );
      webhooks.start();
      closers.add(() => webhooks?.close());
    }
    return { hub, webhooks, close: () => closers.close() };
  });
}
