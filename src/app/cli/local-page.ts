import type { FundedWallet } from '#localnet/wallets/funded-wallets.js';

/** What there is to tell of a local network that runs. */
export interface LocalFacts {
  readonly version: string;
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly headSeqno: number;
  /** Whether the chain was there before. */
  readonly isContinued: boolean;
  readonly blockTimeMs: number;
  readonly paused: boolean;
  /** What it is a fork of; `null` when it stands alone. */
  readonly fork: string | null;
  readonly wallets: readonly FundedWallet[];
  /** The global.config.json for lite clients. */
  readonly configFile: string;
  /** Why API v3 is not there; `null` when it is. */
  readonly withoutIndex: string | null;
}

const NANO = 1_000_000_000n;

/** What `tern dev` prints when a local network is ready: where everything is, who has coins, what to try. */
export function localPage(facts: LocalFacts): string {
  const { version, url, headSeqno, isContinued, withoutIndex, configFile, fork } = facts;
  const [v2, v3] = [`${url}/api/v2`, `${url}/api/v3`];
  const funded = facts.wallets.filter(({ mnemonic }) => mnemonic !== null);
  const first = funded[0]!;
  const account = addressOf(first);
  const hasV3 = withoutIndex === null;
  return `Tern ${version} runs a local TON network${fork === null ? '' : `, a fork of ${fork}`}. It ${isContinued ? `goes on from masterchain block ${headSeqno}` : 'begins anew'}; ${paceOf(facts)}.

  API v2      ${v2}
  API v3      ${hasV3 ? v3 : `off: ${withoutIndex}`}
  control     ${url}/localnet      faucet, blocks on demand, time travel, snapshots; or tern localnet --help
  health      ${url}/readyz
  metrics     ${url}/metrics
  liteserver  ${configFile}      the global.config.json for lite clients

Wallets with coins (everybody has these keys: use them nowhere else)
${funded.map(walletLines).join('\n')}

Try
  curl '${v2}/getAddressInformation?address=${account}'
  curl -X POST ${url}/localnet/faucet -d '{"address":"${addressOf(funded.at(-1)!)}","amount":"5000000000"}'
  curl '${hasV3 ? `${v3}/transactions?limit=3&sort=desc` : `${v2}/getMasterchainInfo`}'

Ctrl-C ends it; the next start goes on from here, --reset begins anew.
`;
}

function paceOf({ blockTimeMs, paused }: LocalFacts): string {
  return paused ? 'blocks are made on demand' : `a block every ${blockTimeMs} ms`;
}

function walletLines(wallet: FundedWallet): string {
  const { version, balance, mnemonic } = wallet;
  return `  ${version}  ${addressOf(wallet)}  ${balance / NANO} TON
        ${mnemonic!.join(' ')}`;
}

function addressOf({ address }: FundedWallet): string {
  return address.toFriendly({ bounceable: false });
}
