/** Bounds of webhooks; times in milliseconds. */
export interface WebhookSettings {
  /** Webhooks of one API key. Default 20. */
  readonly maxPerOwner: number;
  /** Of all together. Default 1,000. */
  readonly maxHooks: number;
  /** Events of a hook that wait to be delivered; beyond, no more are taken until some are. Default 100,000. */
  readonly maxWaiting: number;
  /** The same of their bytes. Default 64 MiB. */
  readonly maxWaitingBytes: number;
  /** After the first failure it is tried again in so long, then in twice as long. Default 5 s. */
  readonly firstRetryMs: number;
  /** But at least so often. Default 1 h. */
  readonly mostRetryMs: number;
  /** An event that was not delivered for so long after the first attempt is dead. Default 24 h. */
  readonly giveUpMs: number;
  /** How long a replaced secret signs beside the new one. Default 24 h. */
  readonly keepSecretMs: number;
  /** How often hooks are looked for that another process changed. Default 1 s. */
  readonly pollMs: number;
  /** How often the cursor of a hook moves on without events, so that it is never far behind. Default 1 min. */
  readonly moveMs: number;
  /** How long delivered events are listed, and dead ones can be replayed. Default 1 day and 30 days. */
  readonly keepDeliveredMs: number;
  readonly keepDeadMs: number;
  /** Whether targets in private networks are allowed. Default: no. */
  readonly allowPrivateNetworks: boolean;
}

const DAY_MS = 86_400_000;

export const defaultWebhookSettings: WebhookSettings = {
  maxPerOwner: 20,
  maxHooks: 1_000,
  maxWaiting: 100_000,
  maxWaitingBytes: 64 * 2 ** 20,
  firstRetryMs: 5_000,
  mostRetryMs: 3_600_000,
  giveUpMs: DAY_MS,
  keepSecretMs: DAY_MS,
  pollMs: 1_000,
  moveMs: 60_000,
  keepDeliveredMs: DAY_MS,
  keepDeadMs: 30 * DAY_MS,
  allowPrivateNetworks: false,
};
