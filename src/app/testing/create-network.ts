import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDev } from '#app/cli/dev.js';
import { LocalnetClient } from '#app/cli/localnet-client.js';
import { readSettings } from '#app/config/setting.js';
import { devSettings } from '#app/config/settings.js';
import { toBase64 } from '#kernel/bytes.js';
import { silentLogger } from '#kernel/logger.js';

/** How a network is started. */
export interface NetworkOptions {
  /** Whether there is an index, and so API v3, in the embedded PostgreSQL. Default: false, which starts faster. */
  readonly index?: boolean;
  /** HTTP port; default: a free one. */
  readonly port?: number;
  /** Folder of the chain. Default: a new one among the temporary files, which `stop` removes. */
  readonly data?: string;
  /** Forks `mainnet`, `testnet`, a global.config.json or a recorded chain, at its newest block or at `@SEQNO`. */
  readonly fork?: string;
  /** Milliseconds between blocks, 0 for blocks on demand. Default: a block as soon as a message waits. */
  readonly blockTime?: number;
}

/** Cells as a bag of cells: its bytes, or as text in base64 or hex. */
export type BocOrText = Uint8Array | string;

/** A wallet with coins and a public key. */
export interface TestWallet {
  /** `v3r2`, `v4r2`, `v5r1` or `highload-v3` (the faucet). */
  readonly version: string;
  /** Raw form. */
  readonly address: string;
  /** 24 words; null for the faucet. */
  readonly mnemonic: readonly string[] | null;
  /** Ed25519 key in hex, 32 bytes. */
  readonly public_key: string;
  /** Ed25519 seed in hex, 32 bytes. */
  readonly seed: string;
  /** `wallet_id` of v5, `subwallet_id` of the others. */
  readonly wallet_id: number;
  /** Nanotons. */
  readonly balance: string;
}

/** A message that was sent. */
export interface SentMessage {
  /** Of the message, in base64. */
  readonly message_hash: string;
  /** The masterchain block with it. */
  readonly block: { readonly workchain: number; readonly seqno: number };
}

/** An internal message from any address. */
export interface ImpersonatedMessage {
  readonly from: string;
  readonly to: string;
  /** Nanotons. */
  readonly amount: bigint | number | string;
  readonly body?: BocOrText;
  /** A `StateInit` to deploy. */
  readonly init?: BocOrText;
  /** Default: true. */
  readonly bounce?: boolean;
}

/** Fields of an account to set; fields that are not given stay, `null` removes code or data. */
export interface AccountChange {
  /** Nanotons. */
  readonly balance?: bigint | number | string;
  readonly code?: BocOrText | null;
  readonly data?: BocOrText | null;
}

/**
 * A TON network inside this process, for tests: blocks with proofs, API v2 (with an index also v3), and control over coins, time
 * and state. When a method returns, its result is in a block that API v2 serves. Errors have a code, and the sentence of the
 * control API.
 */
export interface TestNetwork {
  /** `http://127.0.0.1:8081`; below it `/api/v2`, `/api/v3` and `/localnet`. */
  readonly url: string;
  /** JSON-RPC of API v2, as `TonClient` takes it. */
  readonly endpoint: string;
  /** The funded wallets. */
  wallets(): Promise<readonly TestWallet[]>;
  /** The time of the network in Unix seconds: what to sign with. */
  now(): Promise<number>;
  /** Coins for any account. @param amount nanotons */
  faucet(address: string, amount: bigint | number | string, comment?: string): Promise<SentMessage>;
  /** Delivers a message as if an address had sent it; its coins are created. */
  impersonate(message: ImpersonatedMessage): Promise<SentMessage>;
  /** Sets balance, code or data of an account. */
  setAccount(address: string, change: AccountChange): Promise<void>;
  /** Moves the clock of the network forward. */
  advanceTime(seconds: number): Promise<void>;
  /** Produces blocks. */
  mine(blocks?: number): Promise<void>;
  /** Remembers the state of all accounts. @returns its id */
  snapshot(): Promise<string>;
  /**
   * Gives all accounts the state of a snapshot, in milliseconds, any number of times. Seqnos, logical times and the clock do not go
   * back, and lists of transactions keep what happened.
   */
  revert(id: string): Promise<void>;
  /** Any other method of the control API, such as `status` (GET) or `shards/split` (POST, with parameters). */
  control(method: string, parameters?: object): Promise<unknown>;
  /** Stops the network. */
  stop(): Promise<void>;
}

/**
 * Starts a local network in this process.
 *
 * ```ts
 * const network = await createNetwork();
 * const client = new TonClient({ endpoint: network.endpoint });
 * ```
 *
 * @throws config/bad-setting, http/cannot-listen, ledger/*
 */
export async function createNetwork(options: NetworkOptions = {}): Promise<TestNetwork> {
  const { index = false, port = 0, data, fork, blockTime } = options;
  const folder = data ?? (await mkdtemp(join(tmpdir(), 'tern-testing-')));
  const remove = (): void => {
    if (data === undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    const flags = {
      data: folder,
      port: String(port),
      index: index ? 'on' : 'off',
      ...(fork === undefined ? {} : { fork }),
      ...(blockTime === undefined ? {} : { blockTime: String(blockTime) }),
    };
    const { values } = readSettings(devSettings, { flags, environment: {} });
    const running = await startDev(values, { reset: false, snapshot: null }, silentLogger);
    return testNetwork(running.url, async () => {
      await running.close();
      remove();
    });
  } catch (error) {
    remove();
    throw error;
  }
}

function testNetwork(url: string, close: () => Promise<void>): TestNetwork {
  const client = new LocalnetClient(url);
  let stopping: Promise<void> | null = null;
  return {
    url,
    endpoint: `${url}/api/v2/jsonRPC`,
    wallets: async () => (await client.get('wallets')).wallets,
    now: async () => (await client.get('status')).now,
    faucet: (address, amount, comment) => client.post('faucet', { address, amount: String(amount), comment }),
    impersonate: ({ amount, body, init, ...message }) =>
      client.post('impersonate', { ...message, amount: String(amount), body: bocText(body), init: bocText(init) }),
    setAccount: async (address, { balance, code, data }) => {
      const amount = balance === undefined ? undefined : String(balance);
      await client.post('account', { address, balance: amount, code: bocText(code), data: bocText(data) });
    },
    advanceTime: (advance) => client.post('time', { advance }),
    mine: (blocks = 1) => client.post('mine', { blocks }),
    snapshot: async () => (await client.post('snapshot')).id,
    revert: (id) => client.post('revert', { id }),
    control: (method, parameters) => (parameters === undefined ? client.get(method) : client.post(method, parameters)),
    stop: () => {
      stopping ??= close();
      return stopping;
    },
  };
}

/** Undefined fields are left out of JSON. */
function bocText(boc: BocOrText | null | undefined): string | null | undefined {
  return boc instanceof Uint8Array ? toBase64(boc) : boc;
}
