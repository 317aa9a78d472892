import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { KeyFile } from '#services/access/key-file.js';
import { KeyAdministration } from '#services/access/keys.js';
import { Plans } from '#services/access/plans.js';
import { ServedTern } from '#test/support/served-tern.js';
import { raisePriority } from './priorities.js';
import { type Reading, readProbe } from './probe-readings.js';

const PROBE = join(import.meta.dirname, 'event-loop-probe.mjs');
const INDEXED_WITHIN_MS = 240_000;
/** How long the process may take to begin a profile, and to write it. */
const PROFILE_START_MS = 500;
const PROFILE_MS = 3_000;

/** Keys of the built-in plans. */
export interface IssuedKeys {
  readonly unlimited: string;
  readonly free: readonly string[];
}

export interface MeasuredTernOptions {
  /** Global configuration of the network. */
  readonly config: string;
  /** An empty database. */
  readonly databaseUrl: string;
  readonly data: string;
  /** Keys of plan free that are wanted. */
  readonly freeKeys: number;
  /** In place of the `tern` of this checkout. */
  readonly program?: string | undefined;
}

/** The `tern serve` that is attacked, with API keys and with a probe in its main thread. */
export class MeasuredTern {
  readonly #served: ServedTern;
  readonly #probe: string;
  readonly #profile: string;
  #profiles = 0;
  /** How the process ended by itself; null while it runs. */
  #crash: string | null = null;
  #isClosing = false;
  readonly keys: IssuedKeys;
  /** Whether it runs as `Nice=-10` of a systemd unit lets it. */
  readonly isRaised: boolean;

  private constructor(
    served: ServedTern,
    files: { readonly probe: string; readonly profile: string },
    keys: IssuedKeys,
    isRaised: boolean,
  ) {
    this.#served = served;
    this.#probe = files.probe;
    this.#profile = files.profile;
    this.keys = keys;
    this.isRaised = isRaised;
    void served.ended.then(({ code, signal }) => {
      if (!this.#isClosing) this.#crash = `the process ended with ${signal ?? code}: ${served.log.slice(-2_000)}`;
    });
  }

  static async start({ config, databaseUrl, data, freeKeys, program }: MeasuredTernOptions): Promise<MeasuredTern> {
    mkdirSync(data, { recursive: true });
    const keys = await issueKeys(join(data, 'keys.json'), freeKeys);
    const files = { probe: join(data, 'probe.jsonl'), profile: join(data, 'profile') };
    const environment = {
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${pathToFileURL(PROBE)}`,
      TERN_LOAD_PROBE: files.probe,
      TERN_LOAD_PROFILE: files.profile,
      TERN_DATABASE_URL: databaseUrl,
      ...UNIT,
    };
    const access = ['--access', 'keys', '--webhook-targets', 'any'];
    const flags = ['--listen', '127.0.0.1:0', '--data', data, '--from', 'genesis', ...access];
    const served = await ServedTern.start(['serve', '--network', `local=${config}`, ...flags], program, environment);
    return new MeasuredTern(served, files, keys, raisePriority(served.pid, NICE));
  }

  get pid(): number {
    return this.#served.pid;
  }

  get url(): string {
    return this.#served.url;
  }

  get crash(): string | null {
    return this.#crash;
  }

  /** Its log. */
  get log(): string {
    return this.#served.log;
  }

  /** Resolves when the index has all blocks up to this one. */
  async indexed(seqno: number): Promise<void> {
    let answer = '';
    for (const until = Date.now() + INDEXED_WITHIN_MS; ; await delay(200)) {
      answer = await (await fetch(`${this.url}/readyz`)).text();
      const { networks } = JSON.parse(answer) as { networks: { local: { details: Record<string, number> } } };
      const { index_head_seqno, index_missing_blocks, index_fill_missing_blocks } = networks.local.details;
      if (index_head_seqno! >= seqno && index_missing_blocks === 0 && index_fill_missing_blocks === 0) return;
      if (Date.now() > until) throw new Error(`the index was not filled: ${answer}`);
    }
  }

  /** What the probe has written so far. */
  readings(): Reading[] {
    return readProbe(this.#probe);
  }

  /** From now on a CPU profile of its main thread is taken. */
  async startProfile(): Promise<void> {
    this.#served.send('SIGUSR2');
    await delay(PROFILE_START_MS);
  }

  /** The file with the profile. */
  async endProfile(): Promise<string> {
    this.#served.send('SIGUSR2');
    await delay(PROFILE_MS);
    return `${this.#profile}.${this.#profiles++}`;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#served.close();
  }
}

/** As in the systemd unit of the documentation. */
const NICE = -10;
const UNIT = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' };

async function issueKeys(path: string, freeKeys: number): Promise<IssuedKeys> {
  const modules = { clock: systemClock, unixTimeMs: Date.now, randomBytes, logger: silentLogger };
  const administration = new KeyAdministration({ ...modules, store: new KeyFile({ path }, modules) });
  const issue = async (plan: string): Promise<string> => {
    const { key } = await administration.create({ label: plan, owner: null, plan, networks: null }, new Plans());
    return key;
  };
  const unlimited = await issue('unlimited');
  const free: string[] = [];
  for (let i = 0; i < freeKeys; i++) free.push(await issue('free'));
  return { unlimited, free };
}
