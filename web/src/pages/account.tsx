import type { ComponentChildren } from 'preact';
import type { AccountState, AccountStatesAnswer, ProvenAccount } from '../api/answers.js';
import { ApiProblem, askV2, askV3 } from '../api/ask.js';
import { amountLine, integerOf } from '../format/amount.js';
import { addressOf, rawAddress } from '../format/chain-text.js';
import { useLoad } from '../live/use-load.js';
import { useNetwork } from '../live/use-network.js';
import { KnownAddresses, useKnownAddress } from '../parts/address-facts.js';
import { Ton } from '../parts/amount.js';
import { Copy } from '../parts/copy.js';
import { Fact, Facts } from '../parts/facts.js';
import { Loading, Notice, ProblemNotice } from '../parts/notice.js';
import { HashText, McBlockLink, TransactionLink } from '../parts/reference.js';
import { Tabs } from '../parts/tabs.js';
import { TokenName } from '../parts/token-name.js';
import { Untrusted } from '../parts/untrusted.js';
import { pathOf } from '../routing/location.js';
import { Link } from '../routing/router.js';
import { AccountContract } from './account/contract.js';
import { GetMethods } from './account/get-methods.js';
import { AccountActions, AccountTransactions } from './account/history.js';
import { AccountDomains, AccountJettons, AccountNfts } from './account/holdings.js';
import { interfaceLabel } from './account/interface-names.js';
import { poolKindOf } from './pool/pool-kinds.js';

interface FoundAccount extends AccountStatesAnswer {
  /** Read with a proof; null where no liteserver could be asked. */
  readonly proven: ProvenAccount | null;
  readonly coverage: string | null;
}

async function findAccount(raw: string, hasIndex: boolean, signal: AbortSignal): Promise<FoundAccount> {
  const proven = askV2<ProvenAccount>('getAddressInformation', { address: raw }, signal).catch((error: unknown) => {
    if (!hasIndex || !(error instanceof ApiProblem)) throw error;
    return null;
  });
  if (!hasIndex) return { accounts: [], proven: await proven, coverage: null };
  const indexed = await askV3<AccountStatesAnswer>('accountStates', { address: [raw], include_boc: true }, signal);
  return { ...indexed.value, proven: await proven, coverage: indexed.coverage };
}

/** An account. @param address in any form, as it stands in the address of the page */
export function AccountPage({ address: given }: { readonly address: string }) {
  const address = addressOf(given);
  const { hasIndex } = useNetwork();
  const raw = address === null ? null : rawAddress(address);
  const { value, problem } = useLoad(
    raw === null ? null : `account:${raw}:${hasIndex}`,
    (signal) => findAccount(raw!, hasIndex, signal),
    { live: true },
  );
  if (address === null || raw === null) {
    return (
      <Notice kind="error" title="This is no address.">
        An address has 48 characters of base64 (EQ…, UQ…), or is raw: a workchain, a colon and 64 hex digits. The
        checksum of the first form shows when a character was changed.
      </Notice>
    );
  }
  if (value === null)
    return problem === null ? <Loading what="the account" /> : <ProblemNotice problem={problem} what="account" />;
  return (
    <KnownAddresses of={value}>
      <AccountView raw={raw} found={value} />
    </KnownAddresses>
  );
}

function AccountView({ raw, found }: { readonly raw: string; readonly found: FoundAccount }) {
  const { hasIndex } = useNetwork();
  const { proven } = found;
  const state = found.accounts[0] ?? null;
  const interfaces = state?.interfaces ?? [];
  const code = state?.code_boc ?? (proven?.code || null);
  return (
    <>
      <AccountHead raw={raw} interfaces={interfaces} state={state} proven={proven} />
      {!hasIndex && <Notice title="This server has no index (API v3): the history of the account is not available." />}
      <AccountFacts raw={raw} state={state} proven={proven} />
      <Tabs
        name="show"
        tabs={[
          ...(hasIndex
            ? [
                { id: 'history', title: 'History', content: () => <AccountActions raw={raw} /> },
                { id: 'transactions', title: 'Transactions', content: () => <AccountTransactions raw={raw} /> },
                { id: 'jettons', title: 'Jettons', content: () => <AccountJettons raw={raw} /> },
                { id: 'nfts', title: 'NFTs', content: () => <AccountNfts raw={raw} /> },
                { id: 'domains', title: 'Domains', content: () => <AccountDomains raw={raw} /> },
              ]
            : []),
          { id: 'contract', title: 'Contract', content: () => <AccountContract state={state} proven={proven} /> },
          {
            id: 'methods',
            title: 'Get-methods',
            content: () => <GetMethods raw={raw} methods={state?.contract_methods ?? []} hasCode={code !== null} />,
          },
        ]}
      />
    </>
  );
}

interface HeadProps {
  readonly raw: string;
  readonly interfaces: readonly string[];
  readonly state: AccountState | null;
  readonly proven: ProvenAccount | null;
}

function AccountHead({ raw, interfaces, state, proven }: HeadProps) {
  const { friendly, domain, token } = useKnownAddress(raw);
  const address = addressOf(raw)!;
  const text = friendly ?? address.toFriendly();
  const balance = proven?.balance ?? state?.balance ?? null;
  return (
    <header class="account-head">
      <div>
        <h1>
          {domain != null ? (
            <Untrusted text={domain} />
          ) : token != null && (token.symbol ?? token.name) != null ? (
            <TokenName token={token} address={raw} />
          ) : (
            'Account'
          )}{' '}
          {interfaces.map((name) => (
            <InterfaceBadge key={name} name={name} address={text} />
          ))}{' '}
          {poolKindOf(state?.contract_methods) !== null && <PoolBadge address={text} />}
        </h1>
        <p class="account-address">
          <span class="mono wrap">{text}</span>
          <Copy text={text} what="address" />
        </p>
      </div>
      <p class="account-balance">
        <Ton nano={balance} class="big" />
      </p>
    </header>
  );
}

/** Interfaces whose contracts have pages of their own. */
const PAGES: Readonly<Record<string, string>> = {
  jetton_master: 'jetton',
  nft_collection: 'collection',
  nft_item: 'nft',
  multisig_v2: 'multisig',
  wallet_vesting: 'vesting',
};

/** The page of a staking pool, which is known by its get-methods. */
function PoolBadge({ address }: { readonly address: string }) {
  return (
    <Link to={pathOf(['pool', address])} class="badge badge-link">
      staking pool →
    </Link>
  );
}

function InterfaceBadge({ name, address }: { readonly name: string; readonly address: string }) {
  const page = PAGES[name];
  const label = interfaceLabel(name);
  if (page === undefined) return <span class="badge">{label}</span>;
  return (
    <Link to={pathOf([page, address])} class="badge badge-link">
      {label} →
    </Link>
  );
}

function AccountFacts({ raw, state, proven }: Omit<HeadProps, 'interfaces'>) {
  const address = addressOf(raw)!;
  const last = proven?.last_transaction_id;
  const status = proven?.state ?? state?.status ?? 'nonexist';
  return (
    <section class="card">
      <Facts>
        <Fact name="Status">
          {status}
          {status === 'uninitialized' || status === 'uninit' ? <span class="muted"> (no contract yet)</span> : null}
        </Fact>
        {proven !== null && (
          <Fact name="State" hint="Read from a liteserver with a proof that leads to signatures of the validators">
            <span class="proven">✓ proven</span> at masterchain block <McBlockLink seqno={proven.block_id.seqno} />
          </Fact>
        )}
        <Form name="Bounceable" text={address.toFriendly()} />
        <Form name="Non-bounceable" text={address.toFriendly({ bounceable: false })} />
        <Form name="Raw" text={address.toRaw()} />
        {state?.code_hash != null && (
          <Fact name="Code hash">
            <HashText hash={state.code_hash} what="code hash" />
          </Fact>
        )}
        {last !== undefined && last.lt !== '0' && (
          <Fact name="Last transaction">
            <TransactionLink hash={last.hash} />
          </Fact>
        )}
        {Object.entries(state?.extra_currencies ?? {}).map(([id, units]) => (
          <Fact key={id} name={`Extra currency ${id}`}>
            {amountLine(integerOf(units) ?? 0n, 0)}
          </Fact>
        ))}
      </Facts>
    </section>
  );
}

function Form({ name, text }: { readonly name: string; readonly text: string }): ComponentChildren {
  return (
    <Fact name={name}>
      <span class="mono wrap">{text}</span>
      <Copy text={text} what={`${name.toLowerCase()} form`} />
    </Fact>
  );
}
