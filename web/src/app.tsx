import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { shownLine } from './format/untrusted-text.js';
import { useNetwork } from './live/use-network.js';
import { AccountPage } from './pages/account.js';
import { ActionsPage } from './pages/actions.js';
import { BlockPage, BlocksPage } from './pages/block.js';
import { ConfigPage, ValidatorsPage } from './pages/config.js';
import { DnsPage, MultisigPage, VestingPage } from './pages/contracts.js';
import { HomePage } from './pages/home.js';
import { JettonPage } from './pages/jetton.js';
import { LocalPage } from './pages/local.js';
import { FollowPage, MessagePage } from './pages/message.js';
import { CollectionPage, NftPage } from './pages/nft.js';
import { PoolPage } from './pages/pool.js';
import { SearchPage } from './pages/search.js';
import { StatusPage } from './pages/status.js';
import { TopAccountsPage } from './pages/top-accounts.js';
import { TracePage } from './pages/trace.js';
import { TransactionPage } from './pages/transaction.js';
import { ApiKeyNotice } from './parts/api-key.js';
import { Notice } from './parts/notice.js';
import { SearchBox } from './parts/search-box.js';
import { ThemeButton } from './parts/theme.js';
import { type Place, pathOf } from './routing/location.js';
import { isOtherNetwork, namedNetwork, networkOfZerostate } from './routing/other-network.js';
import { Link, Router, useNavigation } from './routing/router.js';

interface Page {
  readonly title: string;
  readonly content: ComponentChildren;
}

/** Pages without a name behind them. */
const PLAIN: Readonly<Record<string, Page>> = {
  actions: { title: 'Actions', content: <ActionsPage /> },
  blocks: { title: 'Blocks', content: <BlocksPage /> },
  config: { title: 'Configuration', content: <ConfigPage /> },
  local: { title: 'Local network', content: <LocalPage /> },
  status: { title: 'Status', content: <StatusPage /> },
  top: { title: 'Largest balances', content: <TopAccountsPage /> },
  validators: { title: 'Validators', content: <ValidatorsPage /> },
};

/** Pages of what the second part of the path names: an address, a hash, a domain. */
const NAMED: Readonly<Record<string, readonly [title: string, content: (name: string) => ComponentChildren]>> = {
  account: ['Account', (name) => <AccountPage key={name} address={name} />],
  collection: ['NFT collection', (name) => <CollectionPage key={name} address={name} />],
  dns: ['Domain', (name) => <DnsPage key={name} domain={name} />],
  jetton: ['Jetton', (name) => <JettonPage key={name} address={name} />],
  message: ['Message', (name) => <FollowPage key={name} hash={name} />],
  multisig: ['Multisig', (name) => <MultisigPage key={name} address={name} />],
  nft: ['NFT', (name) => <NftPage key={name} address={name} />],
  pool: ['Pool', (name) => <PoolPage key={name} address={name} />],
  trace: ['Trace', (name) => <TracePage key={name} hash={name} />],
  tx: ['Transaction', (name) => <TransactionPage key={name} hash={name} />],
  vesting: ['Vesting', (name) => <VestingPage key={name} address={name} />],
};

/** The page of a place; null when nothing is there. */
function pageOf({ parts, query }: Place): Page | null {
  const [root = '', ...rest] = parts;
  const [first, second, third] = rest;
  if (root === '') return { title: 'Tern', content: <HomePage /> };
  if (rest.length === 0) {
    const typed = query.get('q') ?? '';
    if (root === 'search') return { title: 'Search', content: <SearchPage key={typed} query={typed} /> };
    if (root === 'message') return { title: 'Message', content: <MessagePage boc={query.get('boc') ?? ''} /> };
    return PLAIN[root] ?? null;
  }
  if (root === 'block' && rest.length === 3) {
    const content = <BlockPage key={parts.join()} workchain={first!} shard={second!} seqno={third!} />;
    return { title: `Block (${first},${second},${third})`, content };
  }
  const named = rest.length === 1 ? NAMED[root] : undefined;
  return named === undefined ? null : { title: `${named[0]} ${first}`, content: named[1](first!) };
}

export function App() {
  return (
    <Router>
      <Layout />
    </Router>
  );
}

function Layout() {
  const { place } = useNavigation();
  const page = pageOf(place);
  const title = page?.title ?? 'Not found';
  useEffect(() => {
    document.title = title === 'Tern' ? 'Tern explorer' : `${shownLine(title, 60).text} · Tern`;
  }, [title]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <TopBar root={place.parts[0] ?? ''} />
      <ConnectionNotice />
      <div class="connection">
        <ApiKeyNotice />
      </div>
      <main id="main" tabIndex={-1}>
        <OtherNetworkNotice place={place} />
        {page?.content ?? (
          <Notice title="There is no such page.">
            <Link to={pathOf([])}>Go to the first page</Link>, or search for an address, a hash, a block or a domain.
          </Notice>
        )}
      </main>
      <Foot />
    </>
  );
}

function TopBar({ root }: { readonly root: string }) {
  const { local, hasIndex } = useNetwork();
  const pages = useRef<HTMLElement>(null);
  // On a phone the links scroll: that of the page is in sight.
  useEffect(() => {
    const current = pages.current?.querySelector<HTMLElement>('[aria-current]');
    if (current != null) pages.current!.scrollLeft = current.offsetLeft - (innerWidth - current.offsetWidth) / 2;
  }, [root, local != null, hasIndex]);
  const links: readonly (readonly [string, string, boolean])[] = [
    ['blocks', 'Blocks', hasIndex],
    ['top', 'Accounts', hasIndex],
    ['config', 'Config', true],
    ['validators', 'Validators', true],
    ['message', 'Message', true],
    ['local', 'Local network', local != null],
    ['status', 'Status', true],
  ];
  return (
    <header class="top">
      <div class="top-inner">
        <Link to={pathOf([])} class="brand" label="Tern, first page">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path
              class="bird"
              d="M2 9c7 0 10 2 14 7 3-6 8-9 14-10-3 3-5 6-6 9-2 6-6 10-12 11l-6 3 2-5c3-2 4-4 4-6C11 14 7 11 2 9z"
            />
            <path class="beak" d="M30 6l-5 .6 2 2z" />
          </svg>
          <span>Tern</span>
        </Link>
        <NetworkName />
        <nav class="top-links" aria-label="Pages" ref={pages}>
          {links.map(([path, text, isShown]) =>
            isShown ? (
              <Link key={path} to={pathOf([path])} current={root === path}>
                {text}
              </Link>
            ) : null,
          )}
        </nav>
        <div class="top-search">{root !== '' && <SearchBox />}</div>
        <ThemeButton />
      </div>
    </header>
  );
}

function NetworkName() {
  const { readiness, connection, local } = useNetwork();
  const name = Object.keys(readiness?.networks ?? {})[0];
  const text = local != null ? (local.fork === null ? 'local' : 'local fork') : (name ?? '…');
  return (
    <span
      class={`network network-${connection}`}
      title={connection === 'lost' ? 'no connection' : `network ${name ?? ''}`}
    >
      <span class="network-dot" aria-hidden="true" />
      {text}
    </span>
  );
}

/** Says when the server does not answer, and when another chain took the place of the one that was shown. */
function ConnectionNotice() {
  const { connection, wasReset, chain } = useNetwork();
  return (
    <div class="connection" role="status">
      {connection === 'lost' && (
        <Notice
          kind="warning"
          title="The connection to the server is lost. What you see may be old; this page goes on by itself."
        />
      )}
      {connection !== 'lost' && wasReset && <ResetNotice key={chain} />}
    </div>
  );
}

const NETWORK_NAMES = { mainnet: 'mainnet', testnet: 'the testnet' } as const;

/** Says when what was pasted or linked belongs to another network: the same address or hash is something else there. */
function OtherNetworkNotice({ place }: { readonly place: Place }) {
  const { zerostate, readiness, local } = useNetwork();
  const named = namedNetwork(place);
  const current = networkOfZerostate(zerostate);
  if (named === null || zerostate === null || !isOtherNetwork(named, current)) return null;
  // A fork has the accounts of the network that it was made of.
  if (local?.fork?.source === named.network) return null;
  const here =
    current === null ? `the network ${Object.keys(readiness?.networks ?? {})[0] ?? ''}` : NETWORK_NAMES[current];
  const what = named.isByMark
    ? 'This address is marked as one of a test network'
    : `This link is about ${NETWORK_NAMES[named.network]}`;
  return (
    <Notice kind="warning" title={`${what}; this server shows ${here.trim()}.`}>
      Networks share no accounts, coins or transactions: what is shown here is not what you were sent.
    </Notice>
  );
}

function ResetNotice() {
  return (
    <Notice
      kind="warning"
      title="The network was reset, or another chain took its place. Everything is shown as it is now."
    />
  );
}

function Foot() {
  const { readiness } = useNetwork();
  return (
    <footer class="foot">
      <p>
        Tern {readiness?.version ?? ''} · APIs: <a href="/api/v2/">v2</a>, <a href="/api/v3/">v3</a>
      </p>
    </footer>
  );
}
