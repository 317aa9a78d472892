import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServedTern } from '#test/support/served-tern.js';
import { type ChainTruth, chainTruth } from '../chain-truth.js';
import type { ServerConfig } from '../lite-client-checks.js';
import type { JsonObject } from '../tonlib-session.js';

/** A wallet that has coins, as the control API tells it. */
export interface KnownWallet {
  readonly version: string;
  readonly address: string;
  readonly mnemonic: readonly string[] | null;
  readonly wallet_id: number;
  readonly public_key: string;
}

/** Names of the files in an export. */
export const ZEROSTATES = {
  masterchain: 'zerostate_-1_8000000000000000.boc',
  basechain: 'zerostate_0_8000000000000000.boc',
};

/** A `tern dev` with a chain that began with it, and its control API. */
export class LocalNetwork {
  readonly #folder: string;
  readonly #tern: ServedTern;
  #exports = 0;

  private constructor(folder: string, tern: ServedTern) {
    this.#folder = folder;
    this.#tern = tern;
  }

  static async start(flags: readonly string[] = []): Promise<LocalNetwork> {
    const folder = mkdtempSync(join(tmpdir(), 'tern-interop-'));
    try {
      const data = join(folder, 'data');
      return new LocalNetwork(
        folder,
        await ServedTern.start([
          'dev',
          '--profile',
          'spec',
          '--data',
          data,
          '--port',
          '0',
          '--mining',
          'steady',
          // Other suites run beside it.
          '--request-timeout',
          '60',
          ...flags,
        ]),
      );
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Where its APIs are, without a slash at the end. */
  get url(): string {
    return this.#tern.url;
  }

  /** The configuration for lite clients: its file. */
  get configFile(): string {
    return join(this.#folder, 'data', 'localnet', 'global.config.json');
  }

  get config(): ServerConfig {
    return JSON.parse(readFileSync(this.configFile, 'utf8'));
  }

  /** Calls a method of the control API that changes something. @throws with what it says when it refuses */
  control(method: string, body: JsonObject = {}): Promise<JsonObject> {
    return this.#answer(method, { method: 'POST', body: JSON.stringify(body) });
  }

  status(): Promise<JsonObject> {
    return this.#answer('status', {});
  }

  async wallets(): Promise<readonly KnownWallet[]> {
    return (await this.#answer('wallets', {})).wallets as unknown as readonly KnownWallet[];
  }

  /** What the files of the chain say, as they stand now. */
  async truth(): Promise<{ readonly folder: string; readonly truth: ChainTruth }> {
    const folder = join(this.#folder, `export-${this.#exports++}`);
    await this.control('export', { folder });
    return { folder, truth: chainTruth(folder, ZEROSTATES) };
  }

  async close(): Promise<void> {
    await this.#tern.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #answer(method: string, init: RequestInit): Promise<JsonObject> {
    const response = await fetch(`${this.url}/localnet/${method}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`/localnet/${method}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}
