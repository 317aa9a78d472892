/** A range of blocks that a server with a part of the chain holds; as seqnos of the masterchain, both ends included. */
export interface MasterchainRange {
  readonly from: number;
  /** Infinite when it follows the chain. */
  readonly to: number;
}

/** A shard that a server holds: `-1:8000000000000000`. The shard is unsigned. */
export interface ShardOfServer {
  readonly workchain: number;
  readonly shard: bigint;
}

/** A part of the chain: `liteserver.descV2.sliceSimple` or `liteserver.descV2.sliceTimed`. */
export interface ServerSlice {
  readonly range: MasterchainRange;
  /** Besides the masterchain, of which every server has the headers. */
  readonly shards: readonly ShardOfServer[];
}

/** A server as a network config names it. */
export interface LiteServerAddress {
  readonly host: string;
  readonly port: number;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** What it holds; null for everything (`liteserver.desc`). */
  readonly slices: readonly ServerSlice[] | null;
}

/** `host:port`, as errors, logs and metrics name a server. */
export function serverName({ host, port }: Pick<LiteServerAddress, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
