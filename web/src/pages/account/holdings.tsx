import type { AddressFacts } from '../../api/answers.js';
import { type Answer, askV3 } from '../../api/ask.js';
import { decimalsOf } from '../../format/amount.js';
import { useFacts } from '../../live/use-facts.js';
import { useJettonWallets } from '../../live/use-jetton-wallets.js';
import { usePages } from '../../live/use-pages.js';
import { AccountLink } from '../../parts/address.js';
import { KnownAddresses, knownAddress } from '../../parts/address-facts.js';
import { Amount } from '../../parts/amount.js';
import { MorePages } from '../../parts/more-pages.js';
import { NftCards, type NftItem } from '../../parts/nft-cards.js';
import { CoverageNotice, ProblemNotice } from '../../parts/notice.js';
import { TableFrame } from '../../parts/table-frame.js';
import { TokenName } from '../../parts/token-name.js';
import { Untrusted } from '../../parts/untrusted.js';
import { pathOf } from '../../routing/location.js';
import { Link } from '../../routing/router.js';

const PAGE = 50;

/** The jettons of an owner, by the decimals of each. */
export function AccountJettons({ raw }: { readonly raw: string }) {
  const { pages, facts } = useJettonWallets({ owner_address: raw });
  return (
    <KnownAddresses of={facts}>
      <CoverageNotice coverage={pages.coverage} />
      {pages.problem !== null && <ProblemNotice problem={pages.problem} what="jetton" />}
      {pages.rows.length > 0 && (
        <TableFrame>
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Jetton</th>
                <th scope="col" class="number">
                  Balance
                </th>
                <th scope="col">Wallet</th>
              </tr>
            </thead>
            <tbody>
              {pages.rows.map(({ address, balance, jetton }) => (
                <tr key={address}>
                  <td>
                    <JettonLink raw={jetton} facts={facts} />
                  </td>
                  <td class="number">
                    <Amount units={balance} decimals={decimalsOf(knownAddress(facts, jetton).token?.extra?.decimals)} />
                  </td>
                  <td>
                    <AccountLink address={address} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableFrame>
      )}
      {pages.rows.length === 0 && !pages.isLoading && pages.problem === null && <p class="muted">No jettons.</p>}
      <MorePages pages={pages} />
    </KnownAddresses>
  );
}

/** The page of a jetton, by what it calls itself. */
function JettonLink({ raw, facts }: { readonly raw: string; readonly facts: AddressFacts }) {
  const { token, friendly } = knownAddress(facts, raw);
  const name = token?.symbol ?? token?.name;
  return (
    <Link to={pathOf(['jetton', friendly ?? raw])}>
      {name == null || token === null ? (
        <span class="mono">{(friendly ?? raw).slice(0, 10)}…</span>
      ) : (
        <TokenName token={token} address={raw} />
      )}
    </Link>
  );
}

interface ItemsAnswer extends AddressFacts {
  readonly nft_items: readonly NftItem[];
}

/** The NFTs of an owner. */
export function AccountNfts({ raw }: { readonly raw: string }) {
  const [facts, addFacts] = useFacts();
  const pages = usePages<NftItem>(
    `nfts:${raw}`,
    async (cursor, signal) => {
      const query = { owner_address: [raw], include_on_sale: true, cursor, limit: PAGE };
      const answer: Answer<ItemsAnswer> = await askV3('nft/items', query, signal);
      addFacts(answer.value);
      return { ...answer, value: answer.value.nft_items };
    },
    ({ address }) => address,
  );
  return (
    <KnownAddresses of={facts}>
      <CoverageNotice coverage={pages.coverage} />
      {pages.problem !== null && <ProblemNotice problem={pages.problem} what="NFT" />}
      <NftCards items={pages.rows} facts={facts} />
      {pages.rows.length === 0 && !pages.isLoading && pages.problem === null && <p class="muted">No NFTs.</p>}
      <MorePages pages={pages} />
    </KnownAddresses>
  );
}

export interface DnsRecord {
  readonly nft_item_address: string;
  readonly nft_item_owner?: string | null;
  readonly domain: string;
  readonly dns_next_resolver?: string | null;
  readonly dns_wallet?: string | null;
  readonly dns_site_adnl?: string | null;
  readonly dns_storage_bag_id?: string | null;
}

export interface DnsAnswer extends AddressFacts {
  readonly records: readonly DnsRecord[];
}

/** The domains that lead to a wallet. */
export function AccountDomains({ raw }: { readonly raw: string }) {
  const [facts, addFacts] = useFacts();
  const pages = usePages<DnsRecord>(
    `domains:${raw}`,
    async (cursor, signal) => {
      const answer: Answer<DnsAnswer> = await askV3('dns/records', { wallet: raw, cursor, limit: PAGE }, signal);
      addFacts(answer.value);
      return { ...answer, value: answer.value.records };
    },
    ({ nft_item_address }) => nft_item_address,
  );
  return (
    <KnownAddresses of={facts}>
      {pages.problem !== null && <ProblemNotice problem={pages.problem} what="domain" />}
      <ul class="plain-list">
        {pages.rows.map(({ domain, nft_item_address, nft_item_owner }) => (
          <li key={nft_item_address}>
            <Link to={pathOf(['dns', domain])}>
              <Untrusted text={domain} />
            </Link>{' '}
            <span class="muted">
              owned by <AccountLink address={nft_item_owner} bare />
            </span>
          </li>
        ))}
      </ul>
      {pages.rows.length === 0 && !pages.isLoading && pages.problem === null && (
        <p class="muted">No domain leads here.</p>
      )}
      <MorePages pages={pages} />
    </KnownAddresses>
  );
}
