/** Bounds of the streaming API; times in milliseconds. */
export interface StreamSettings {
  /** Bytes that are buffered for a client that does not read; beyond, it gets `lagging` and is closed. Default 4 MiB. */
  readonly maxBufferedBytes: number;
  /** Streams that are read for at a time while they are resumed. Default 8. */
  readonly maxReplays: number;
  /** Streams that are being resumed; further ones are refused. Default 4,096. */
  readonly maxWaitingReplays: number;
  /** Streams of one client: a key, or an address. Null: any number. Default 64. */
  readonly maxConnections: number | null;
  /** Accounts and traces of one stream. Null: any number. Default 4,096. */
  readonly maxAddresses: number | null;
  /** Accounts and traces of all streams, of which one client may have a quarter. Default 400,000: up to 2 kB each. */
  readonly maxWatched: number;
  /** Interval of comments on SSE and of pings on WebSocket. Default 15 s. */
  readonly keepAliveMs: number;
  /** How long a client may take to read the last event. Default 10 s. */
  readonly lingerMs: number;
  /** Messages of a WebSocket client per second, after a burst of four times as many; beyond, it is closed. Default 20. */
  readonly maxMessagesPerSecond: number;
  /** A message of a WebSocket client. Default 1 MiB. */
  readonly maxMessageBytes: number;
}

export const defaultStreamSettings: StreamSettings = {
  maxBufferedBytes: 4 * 2 ** 20,
  maxReplays: 8,
  maxWaitingReplays: 4_096,
  maxConnections: 64,
  maxAddresses: 4_096,
  maxWatched: 400_000,
  keepAliveMs: 15_000,
  lingerMs: 10_000,
  maxMessagesPerSecond: 20,
  maxMessageBytes: 2 ** 20,
};
