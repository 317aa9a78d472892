/** Where a liteserver listens, and as whom. What is left out has the default of drivers/adnl. */
export interface LiteserverOptions {
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** 0, the default, for one that is free. */
  readonly port?: number;
  /** Seed of the server's Ed25519 key, 32 bytes. */
  readonly seed: Uint8Array;
}
