import { join } from 'node:path';
import process from 'node:process';
import { Command } from 'commander';
import {
  addSettings,
  type CliEnvironment,
  metadataOptions,
  openCommandLog,
  runUntilSignal,
  systemEnvironment,
} from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { packageVersion, ternCommand } from '#app/cli/package.js';
import type { NetworkDatabase } from '#app/config/index-settings.js';
import { flagOf, type GivenSettings, readSettings } from '#app/config/setting.js';
import { type DevSettings, devSettings } from '#app/config/settings.js';
import { type Closers, type Environment, prepareDataFolder, withClosers } from '#app/service/environment.js';
import type { ChainChange, LocalServiceOptions } from '#app/service/local-network.js';
import type { IndexPlan, RunningService } from '#app/service/service.js';
import type { EmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { storeErrors } from '#drivers/store/errors.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import type { FundedWallet } from '#localnet/wallets/wallet-contract.js';

/** Block time without `--block-time`; in automatic mode and on demand, for messages that cause further blocks without end. */
const USUAL_BLOCK_TIME_MS = 400;

/** Network name in metrics and the log. */
const NETWORK = 'dev';

/** The reason for a disabled index. */
const OFF = '--index off';

/** Settings of a chain that is produced. */
const NOT_OF_REPLAYS = ['fork', 'mining', 'blockTime', 'transactions', 'signatures', 'liteserverPort'] as const;

type DevFlags = Omit<GivenSettings['flags'], 'reset' | 'snapshot'> & {
  readonly reset?: boolean;
  readonly snapshot?: string | null;
};

/** Errors of systems on which the embedded database cannot run. */
const CANNOT_RUN: ReadonlySet<string> = new Set([
  storeErrors['embedded-program'].code,
  storeErrors['embedded-user'].code,
]);

/** `tern dev`: a local network or a recorded chain with all APIs, for development. Works offline. Runs until interrupted. */
export function devCommand(environment: CliEnvironment): Command {
  const command = new Command('dev')
    .description('run a local TON network with all APIs, or serve a recorded chain; npm start runs this')
    .option('--reset', 'create a new chain; the current chain is lost, its snapshots remain')
    .option('--snapshot <name>', 'continue from a snapshot; the current chain is lost')
    .action(async ({ reset = false, snapshot = null, ...flags }: DevFlags, self: Command) => {
      if (reset && snapshot !== null) {
        throw cliErrors.usage({
          problem: '--reset and --snapshot are mutually exclusive',
        });
      }
      const { writeOut = (text: string) => void process.stdout.write(text) } = self.configureOutput();
      const { values, texts } = readSettings(devSettings, { flags, environment });
      if (values.replay !== null) {
        const given = new Set(texts.filter(({ origin }) => origin === 'flag').map(({ name }) => name));
        const idle = NOT_OF_REPLAYS.filter((name) => given.has(name)).map(flagOf);
        if (reset) idle.push('--reset');
        if (snapshot !== null) idle.push('--snapshot');
        if (idle.length > 0) {
          throw cliErrors.usage({ problem: `--replay serves a recorded chain as it is: leave out ${idle.join(', ')}` });
        }
      }
      const logger = openCommandLog(values);
      const showsTransactions =
        values.transactions === 'auto' ? process.stdout.isTTY === true : values.transactions === 'on';
      const early: string[] = [];
      let hasPage = false;
      // The lines of the first blocks come after the page.
      const show = (line: string): void => void (hasPage ? writeOut(`${line}\n`) : early.push(line));
      const writeLine = showsTransactions ? show : null;
      try {
        await runUntilSignal(
          environment,
          (signal) => startDev(values, { reset, snapshot }, logger, { signal, say: sayTo(logger), writeLine }),
          ({ page }) => {
            writeOut(page);
            hasPage = true;
            for (const line of early.splice(0)) writeOut(`${line}\n`);
          },
        );
      } finally {
        await logger.close();
      }
    });
  return addSettings(command, devSettings);
}

/** A running network for development. */
export interface RunningDev {
  /** The start page. */
  readonly page: string;
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  close(): Promise<void>;
}

/** Parts shared by local network and recorded chain. */
interface DevParts {
  readonly settings: DevSettings;
  readonly environment: Environment;
  readonly closers: Closers;
  /** The embedded database, possibly still starting; `null` when another one or none is used. */
  readonly server: Promise<EmbeddedServer> | null;
}

/** Who waits for a start. */
interface Waiting {
  /** When it is aborted, what has been started is closed, and the start rejects with its reason. */
  readonly signal: AbortSignal;
  /** Is told what is waited for, when it takes long. */
  readonly say: (text: string) => void;
  /** Takes a line per transaction; null: nobody wants them. */
  readonly writeLine: ((line: string) => void) | null;
}

const NOT_WAITED_FOR: Waiting = { signal: new AbortController().signal, say: () => {}, writeLine: null };

/** To a person at a terminal; a log is not mixed with other lines. */
function sayTo(logger: Logger): Waiting['say'] {
  return process.stderr.isTTY ? (text) => void process.stderr.write(`tern: ${text}\n`) : (text) => logger.info(text);
}

/** After this time, the start says what it waits for. */
const SAY_AFTER_MS = 1_500;

/** Starts a local network, or a recorded chain, with its database and APIs. @throws what the parts throw */
export function startDev(
  settings: DevSettings,
  change: ChainChange,
  logger: Logger,
  { signal, say, writeLine }: Waiting = NOT_WAITED_FOR,
): Promise<RunningDev> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  aborted.catch(() => {});
  const timer = setTimeout(() => say(waitingText(settings)), SAY_AFTER_MS);
  const started = withClosers(async (closers) => {
    const production = settings.replay === null ? productionOf(settings) : null;
    const environment = systemEnvironment(logger);
    // Before anything is built: the port may be in use.
    const { requireFreePort } = await import('#app/service/free-port.js');
    await requireFreePort(settings);
    await prepareDataFolder(settings.data);
    const { server, underWay } = wantsServer(settings) ? startServer(settings, change, environment) : NO_SERVER;
    closers.add(async () => (await server?.catch(() => null))?.close());
    // Loading the rest of the program keeps this thread from starting those processes.
    await Promise.race([underWay, aborted]);
    const parts: DevParts = { settings, environment, closers, server };
    const starting =
      production === null
        ? startReplay(parts, settings.replay!)
        : startLocalnet(parts, { change, production, writeLine });
    return Promise.race([starting, aborted]);
  });
  return started.finally(() => clearTimeout(timer));
}

function waitingText({ fork, replay, index, databaseUrl }: DevSettings): string {
  const parts = [
    ...(fork === null ? [] : [`the liteservers of ${fork.source}, for at most 20 s`]),
    ...(replay === null ? [] : [`the states of the chain in ${replay}`]),
    ...(index === 'off' ? [] : [databaseUrl === null ? 'the embedded PostgreSQL' : 'the database']),
    ...(fork === null && replay === null ? ['the first blocks'] : []),
  ];
  return `starting; waiting for ${parts.join(', ')} (Ctrl-C ends it)`;
}

interface LocalnetStart extends Pick<Waiting, 'writeLine'>, Pick<LocalServiceOptions, 'change' | 'production'> {}

/** Starts the local network, which continues its stored chain. */
async function startLocalnet(
  { settings, environment, closers, server }: DevParts,
  { change, production, writeLine }: LocalnetStart,
): Promise<RunningDev> {
  const version = packageVersion();
  const folder = chainFolder(settings.data);
  // Loaded on demand: this halves the startup time of other commands.
  const { startLocalService } = await import('#app/service/local-network.js');
  const { hasChain } = await import('#localnet/ledger/snapshots.js');
  const { host, port } = settings;
  const isContinued = !change.reset && (change.snapshot !== null || hasChain(folder));
  const local = await startLocalService(
    {
      ...{ name: NETWORK, version, folder, production, settings },
      liteserverPort: settings.liteserverPort,
      signatures: settings.signatures,
      listen: { host, port },
      fork: settings.fork,
      change,
      onTransactions: writeLine === null ? null : await transactionWriter(writeLine),
      indexOf: ({ zerostate, incarnation }) => indexOf(settings, server, zerostate, incarnation),
    },
    environment,
  );
  closers.add(() => local.close());
  const { service, node, url, configFile } = local;
  const withoutIndex = await withoutIndexOf(settings, service, environment.clock);
  const { head, fork } = await node.status();
  const page = localnetPage({
    ...{ version, url, isContinued, production, withoutIndex },
    headSeqno: head.seqno,
    fork: fork === null ? null : `${fork.source} at masterchain block ${fork.block.seqno}`,
    wallets: await node.wallets(),
    configFile,
    hasExplorer: settings.explorer === 'on',
  });
  return { page, url, close: () => closers.close() };
}

async function transactionWriter(writeLine: (line: string) => void): Promise<LocalServiceOptions['onTransactions']> {
  const { transactionLines } = await import('#app/cli/transaction-lines.js');
  return (produced) => {
    for (const line of transactionLines(produced)) writeLine(line);
  };
}

/** @throws cli/usage */
function productionOf({ mining, blockTime }: DevSettings): LocalServiceOptions['production'] {
  if (mining === 'auto' && blockTime !== null) {
    throw cliErrors.usage({ problem: '--mining auto and --block-time are mutually exclusive' });
  }
  const paused = blockTime === 0;
  return {
    paused,
    blockTimeMs: paused || blockTime === null ? USUAL_BLOCK_TIME_MS : blockTime,
    mining: mining ?? (blockTime === null ? 'auto' : 'steady'),
  };
}

/** Starts a recorded chain. */
async function startReplay({ settings, environment, closers, server }: DevParts, folder: string): Promise<RunningDev> {
  const version = packageVersion();
  const { host, port } = settings;
  const { startReplayedNetwork } = await import('#app/service/replayed-network.js');
  const { startService } = await import('#app/service/service.js');
  const replayed = await startReplayedNetwork({ name: NETWORK, folder }, environment);
  closers.add(() => replayed.close());
  const service = await startService(
    {
      version,
      networks: [replayed.network],
      groups: [],
      listeners: [{ address: { host, port }, networks: [NETWORK] }],
      hostOf: [],
      indexes: new Map([[NETWORK, indexOf(settings, server, replayed.network.config.zeroState, null)]]),
      keepsKeyBlocks: false,
      explorerAt: '',
      settings,
    },
    environment,
  );
  closers.add(() => service.close());
  const withoutIndex = await withoutIndexOf(settings, service, environment.clock);
  const [http] = service.servers;
  const { lastSeqno, lastTime } = replayed;
  const hasExplorer = settings.explorer === 'on';
  const page = replayPage({ version, url: http!.url, lastSeqno, lastTime, withoutIndex, hasExplorer });
  return { page, url: http!.url, close: () => closers.close() };
}

/** The start page does not wait longer for the first block of the index. */
const FIRST_BLOCK_MS = 60_000;

/** Why API v3 is unavailable; null when it is available: then it answers, as the commands on the start page expect. */
async function withoutIndexOf({ index }: DevSettings, service: RunningService, clock: Clock): Promise<string | null> {
  if (index === 'off') return OFF;
  const reason = await service.opened.then(() => null, reasonOf);
  if (reason !== null) return reason;
  const waiting = new AbortController();
  const tooLong = pause(FIRST_BLOCK_MS, clock, waiting.signal);
  await Promise.race([service.answering, tooLong]).finally(() => waiting.abort());
  return null;
}

function wantsServer({ index, databaseUrl }: DevSettings): boolean {
  return index === 'on' && databaseUrl === null;
}

function startServer({ data, replay }: DevSettings, { reset }: ChainChange, environment: Environment): StartedServer {
  let onUnderWay = (): void => {};
  const begun = new Promise<void>((resolve) => {
    onUnderWay = resolve;
  });
  const start = async (): Promise<EmbeddedServer> => {
    const { startEmbeddedDatabase } = await import('#app/service/embedded-database.js');
    const { hasChain } = await import('#localnet/ledger/snapshots.js');
    const isNew = replay === null && (reset || !hasChain(chainFolder(data)));
    return startEmbeddedDatabase(data, { isNew, onUnderWay }, environment);
  };
  const server = start();
  const ended = server.then(
    () => {},
    () => {},
  );
  return { server, underWay: Promise.race([begun, ended]) };
}

/** The embedded database of a start. */
interface StartedServer {
  readonly server: Promise<EmbeddedServer> | null;
  /** Resolves when the work is with other processes (`initdb`, the copy of a template, the server), or the start has failed. */
  readonly underWay: Promise<void>;
}

const NO_SERVER: StartedServer = { server: null, underWay: Promise.resolve() };

function chainFolder(data: string): string {
  return join(data, 'localnet');
}

/** Why there is no database: `tern dev` also works on systems without PostgreSQL. */
function reasonOf(error: unknown): string {
  if (isTernError(error) && CANNOT_RUN.has(error.code)) return `${error.message}. ${error.remedy}`;
  throw error;
}

/** The index options of the chain, or why there is no index. */
function indexOf(
  settings: DevSettings,
  server: Promise<EmbeddedServer> | null,
  zerostate: BlockId,
  incarnation: string | null,
): IndexPlan | string {
  if (settings.index === 'off') return OFF;
  const { databaseUrl, keep, indexWorkers, databaseConnections, apiWorkers, textCacheMb, queryTimeout } = settings;
  const embedded = server === null ? null : databaseIn(server, zerostate, incarnation);
  // It is waited for when the network is open.
  embedded?.catch(() => {});
  return {
    database: embedded ?? { url: databaseUrl!.url, readUrl: null },
    role: 'all',
    chain: incarnation,
    isAlone: embedded !== null,
    ...{ from: null, keepMs: keep, accounts: null },
    workers: indexWorkers,
    connections: databaseConnections,
    queryTimeoutMs: queryTimeout,
    apiWorkers,
    textCacheMb,
    metadata: metadataOptions(settings),
    dnsRoots: settings.dnsRoot,
  };
}

async function databaseIn(
  server: Promise<EmbeddedServer>,
  zerostate: BlockId,
  incarnation: string | null,
): Promise<NetworkDatabase> {
  const { databaseNameOf } = await import('#app/service/embedded-database.js');
  return { url: await (await server).ensureDatabase(databaseNameOf(zerostate, incarnation)), readUrl: null };
}

/** Content of the start page of a local network. */
interface LocalnetPageFacts {
  readonly version: string;
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly headSeqno: number;
  /** Whether a stored chain continues. */
  readonly isContinued: boolean;
  readonly production: LocalServiceOptions['production'];
  /** Source of the fork; `null` when it is not a fork. */
  readonly fork: string | null;
  readonly wallets: readonly FundedWallet[];
  /** The global.config.json for lite clients. */
  readonly configFile: string;
  /** Why API v3 is unavailable; `null` when it is available. */
  readonly withoutIndex: string | null;
  readonly hasExplorer: boolean;
}

const NANO = 1_000_000_000n;

/** The output of `tern dev` for a local network: URLs, funded wallets and examples. */
function localnetPage(facts: LocalnetPageFacts): string {
  const { version, url, headSeqno, isContinued, withoutIndex, configFile, fork } = facts;
  const [v2, v3] = [`${url}/api/v2`, `${url}/api/v3`];
  const funded = facts.wallets.filter(({ mnemonic }) => mnemonic !== null);
  const first = funded[0]!;
  const account = addressOf(first);
  const hasV3 = withoutIndex === null;
  return `Tern ${version} runs a local TON network${fork === null ? '' : `, a fork of ${fork}`}. ${isContinued ? `The chain continues from masterchain block ${headSeqno}` : 'This is a new chain'}; ${paceOf(facts)}.

${facts.hasExplorer ? `  explorer    ${url}/\n` : ''}  API v2      ${v2}
  API v3      ${hasV3 ? v3 : `off: ${withoutIndex}`}
  control     ${url}/localnet      faucet, blocks on demand, time travel, snapshots; see also ${ternCommand()} localnet --help
  health      ${url}/readyz
  metrics     ${url}/metrics
  liteserver  ${configFile}      the global.config.json for lite clients

Funded wallets (these keys are public: do not use them on other networks)
${funded.map(walletLines).join('\n')}

Try
  curl '${v2}/getAddressInformation?address=${account}'
  curl -X POST ${url}/localnet/faucet -d '{"address":"${addressOf(funded.at(-1)!)}","amount":"5000000000"}'
  curl '${hasV3 ? `${v3}/transactions?limit=3&sort=desc&exclude_system=true` : `${v2}/getMasterchainInfo`}'

Press Ctrl-C to stop. The next start continues this chain; --reset creates a new one.
`;
}

function paceOf({ production: { blockTimeMs, paused, mining } }: LocalnetPageFacts): string {
  if (paused) return 'blocks are produced on demand';
  return mining === 'auto' ? 'a block as soon as a message waits' : `a block every ${blockTimeMs} ms`;
}

function walletLines(wallet: FundedWallet): string {
  const { version, balance, mnemonic } = wallet;
  return `  ${version}  ${addressOf(wallet)}  ${balance / NANO} TON
        ${mnemonic!.join(' ')}`;
}

function addressOf({ address }: FundedWallet): string {
  return address.toFriendly({ bounceable: false });
}

/** Content of the start page of `tern dev --replay`. */
interface ReplayPageFacts {
  readonly version: string;
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly lastSeqno: number;
  /** Unix seconds. */
  readonly lastTime: number;
  /** Why API v3 is unavailable; `null` when it is available. */
  readonly withoutIndex: string | null;
  readonly hasExplorer: boolean;
}

/** Address of the config contract in most networks. */
const CONFIG = '-1:5555555555555555555555555555555555555555555555555555555555555555';

/** The output of `tern dev --replay` at startup: URLs and examples. */
function replayPage(facts: ReplayPageFacts): string {
  const { version, url, lastSeqno, lastTime, withoutIndex } = facts;
  const until = new Date(lastTime * 1000).toISOString().slice(0, 10);
  const [v2, v3] = [`${url}/api/v2`, `${url}/api/v3`];
  const call = { method: 'getExtendedAddressInformation', params: { address: CONFIG } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call });
  const hasV3 = withoutIndex === null;
  return `Tern ${version} serves a recorded chain of ${lastSeqno} masterchain blocks until ${until}.

${facts.hasExplorer ? `  explorer   ${url}/\n` : ''}  API v2     ${v2}      account states from a liteserver, verified
  API v3     ${hasV3 ? `${v3}      history from an index, which is being built` : `off: ${withoutIndex}`}
  health     ${url}/readyz
  metrics    ${url}/metrics

Try
  curl ${v2}/getMasterchainInfo
  curl '${v2}/getAddressInformation?address=${CONFIG}'
  curl -X POST ${v2}/jsonRPC -d '${body}'
${hasV3 ? tryV3(v3) : ''}
Press Ctrl-C to stop.
`;
}

function tryV3(v3: string): string {
  return `  curl ${v3}/masterchainInfo
  curl '${v3}/transactions?account=${CONFIG}&limit=3'
`;
}
