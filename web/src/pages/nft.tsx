import type { AddressFacts } from '../api/answers.js';
import { type Answer, askV3 } from '../api/ask.js';
import { addressOf, rawAddress } from '../format/chain-text.js';
import { useFacts } from '../live/use-facts.js';
import { useLoad } from '../live/use-load.js';
import { usePages } from '../live/use-pages.js';
import { AccountLink } from '../parts/address.js';
import { KnownAddresses, useKnownAddress } from '../parts/address-facts.js';
import { Copy } from '../parts/copy.js';
import { Fact, Facts, JsonText, Section } from '../parts/facts.js';
import { Moment } from '../parts/moment.js';
import { MorePages } from '../parts/more-pages.js';
import { NftCards, type NftItem } from '../parts/nft-cards.js';
import { CoverageNotice, Loading, NotFound, Notice, ProblemNotice } from '../parts/notice.js';
import { TraceLink, TransactionLink } from '../parts/reference.js';
import { ClaimedName } from '../parts/token-name.js';
import { TokenPicture } from '../parts/token-picture.js';
import { Untrusted } from '../parts/untrusted.js';
import { pathOf } from '../routing/location.js';
import { Link } from '../routing/router.js';

interface ItemsAnswer extends AddressFacts {
  readonly nft_items: readonly NftItem[];
}

const UNVERIFIED = 'Name and picture are what this contract says of itself. Nobody has verified them.';

/** An NFT. @param address in any form */
export function NftPage({ address: given }: { readonly address: string }) {
  const address = addressOf(given);
  const raw = address === null ? null : rawAddress(address);
  const { value, problem } = useLoad(
    raw === null ? null : `nft:${raw}`,
    async (signal) => {
      const { value: answer, coverage } = await askV3<ItemsAnswer>(
        'nft/items',
        { address: [raw!], include_on_sale: true },
        signal,
      );
      return { ...answer, coverage };
    },
    { live: true },
  );
  if (raw === null) return <Notice kind="error" title="This is no address." />;
  if (value === null)
    return problem === null ? <Loading what="the NFT" /> : <ProblemNotice problem={problem} what="NFT" />;
  const [item] = value.nft_items;
  if (item === undefined) return <NotFound what="NFT" coverage={value.coverage} />;
  return (
    <KnownAddresses of={value}>
      <ItemView item={item} />
    </KnownAddresses>
  );
}

function ItemView({ item }: { readonly item: NftItem }) {
  const { token } = useKnownAddress(item.address);
  const sale = item.sale_contract_address ?? item.auction_contract_address;
  return (
    <>
      <TokenHead address={item.address} kind="NFT" />
      <Notice title={UNVERIFIED} />
      <section class="card">
        <Facts>
          <Fact name="Owner">
            <AccountLink address={item.real_owner ?? item.owner_address} />
            {sale != null && (
              <>
                {' '}
                <span class="badge">on sale</span> by the contract <AccountLink address={sale} />
              </>
            )}
          </Fact>
          <Fact name="Collection">
            {item.collection_address == null ? (
              <span class="muted">none</span>
            ) : (
              <>
                <Link to={pathOf(['collection', addressOf(item.collection_address)?.toFriendly() ?? ''])}>
                  collection
                </Link>{' '}
                <AccountLink address={item.collection_address} />
              </>
            )}
          </Fact>
          <Fact name="Index">
            <span class="mono wrap">{item.index}</span>
          </Fact>
          {token?.description != null && token.description !== '' && (
            <Fact name="Description">
              <Untrusted text={token.description} most={400} block />
            </Fact>
          )}
          {token?.image != null && token.image !== '' && !token.image.startsWith('data:') && (
            <Fact name="Picture at" hint="Not loaded: this page makes no request to another host">
              <Untrusted text={token.image} most={120} /> <Copy text={token.image} what="address of the picture" />
            </Fact>
          )}
        </Facts>
        {item.content != null && (
          <details class="raw">
            <summary>Content</summary>
            <JsonText value={item.content} />
          </details>
        )}
      </section>
      <NftTransfers item={item.address} />
    </>
  );
}

function TokenHead({ address, kind }: { readonly address: string; readonly kind: string }) {
  const { token } = useKnownAddress(address);
  const name = token?.name ?? '';
  return (
    <header class="token-head">
      <div class="token-picture token-picture-large">
        <TokenPicture token={token} address={address} />
      </div>
      <div>
        <h1>
          {token === null || name === '' ? kind : <ClaimedName name={name} token={token} address={address} most={80} />}
        </h1>
        <p class="account-address">
          {name !== '' && kind} <AccountLink address={address} whole />
        </p>
      </div>
    </header>
  );
}

interface NftTransfer {
  readonly nft_address: string;
  readonly old_owner: string;
  readonly new_owner: string;
  readonly transaction_hash: string;
  readonly transaction_now: number;
  readonly transaction_aborted: boolean;
  readonly trace_id?: string | null;
}

interface TransfersAnswer extends AddressFacts {
  readonly nft_transfers: readonly NftTransfer[];
}

const PAGE = 50;

function NftTransfers({ item }: { readonly item: string }) {
  const [facts, addFacts] = useFacts();
  const pages = usePages<NftTransfer>(
    `nft-transfers:${item}`,
    async (cursor, signal) => {
      const query = { item_address: [item], cursor, limit: PAGE, sort: 'desc' };
      const answer: Answer<TransfersAnswer> = await askV3('nft/transfers', query, signal);
      addFacts(answer.value);
      return { ...answer, value: answer.value.nft_transfers };
    },
    ({ transaction_hash }) => transaction_hash,
    { live: true },
  );
  return (
    <Section title="Transfers">
      <KnownAddresses of={facts}>
        <CoverageNotice coverage={pages.coverage} />
        {pages.problem !== null && <ProblemNotice problem={pages.problem} what="transfer" />}
        <ul class="plain-list">
          {pages.rows.map(
            ({ old_owner, new_owner, transaction_hash, transaction_now, transaction_aborted, trace_id }) => (
              <li key={transaction_hash}>
                <AccountLink address={old_owner} bare /> → <AccountLink address={new_owner} bare />{' '}
                {transaction_aborted && <span class="badge badge-bad">failed</span>} <Moment at={transaction_now} />{' '}
                {trace_id == null ? (
                  <TransactionLink hash={transaction_hash} bare />
                ) : (
                  <TraceLink id={trace_id} text="trace" />
                )}
              </li>
            ),
          )}
        </ul>
        {pages.rows.length === 0 && !pages.isLoading && pages.problem === null && (
          <p class="muted">No transfers yet.</p>
        )}
        <MorePages pages={pages} />
      </KnownAddresses>
    </Section>
  );
}

interface CollectionsAnswer extends AddressFacts {
  readonly nft_collections: readonly {
    readonly address: string;
    readonly owner_address?: string | null;
    readonly next_item_index: string;
    readonly collection_content?: Readonly<Record<string, unknown>> | null;
  }[];
}

/** An NFT collection with its items. @param address in any form */
export function CollectionPage({ address: given }: { readonly address: string }) {
  const address = addressOf(given);
  const raw = address === null ? null : rawAddress(address);
  const { value, problem } = useLoad(
    raw === null ? null : `collection:${raw}`,
    async (signal) => {
      const query = { collection_address: [raw!] };
      const { value: answer, coverage } = await askV3<CollectionsAnswer>('nft/collections', query, signal);
      return { ...answer, coverage };
    },
    { live: true },
  );
  if (raw === null) return <Notice kind="error" title="This is no address." />;
  if (value === null)
    return problem === null ? <Loading what="the collection" /> : <ProblemNotice problem={problem} what="collection" />;
  const [collection] = value.nft_collections;
  if (collection === undefined) return <NotFound what="collection" coverage={value.coverage} />;
  return (
    <KnownAddresses of={value}>
      <TokenHead address={collection.address} kind="NFT collection" />
      <Notice title={UNVERIFIED} />
      <section class="card">
        <Facts>
          <Fact name="Owner">
            <AccountLink address={collection.owner_address} />
          </Fact>
          <Fact name="Next index">
            <span class="mono wrap">{collection.next_item_index}</span>
          </Fact>
        </Facts>
        {collection.collection_content != null && (
          <details class="raw">
            <summary>Content</summary>
            <JsonText value={collection.collection_content} />
          </details>
        )}
      </section>
      <CollectionItems collection={collection.address} />
    </KnownAddresses>
  );
}

function CollectionItems({ collection }: { readonly collection: string }) {
  const [facts, addFacts] = useFacts();
  const pages = usePages<NftItem>(
    `items:${collection}`,
    async (cursor, signal) => {
      const query = { collection_address: [collection], include_on_sale: true, cursor, limit: PAGE };
      const answer: Answer<ItemsAnswer> = await askV3('nft/items', query, signal);
      addFacts(answer.value);
      return { ...answer, value: answer.value.nft_items };
    },
    ({ address }) => address,
  );
  return (
    <Section title="Items">
      <CoverageNotice coverage={pages.coverage} />
      {pages.problem !== null && <ProblemNotice problem={pages.problem} what="NFT" />}
      <KnownAddresses of={facts}>
        <NftCards items={pages.rows} facts={facts} />
      </KnownAddresses>
      {pages.rows.length === 0 && !pages.isLoading && pages.problem === null && <p class="muted">No items.</p>}
      <MorePages pages={pages} />
    </Section>
  );
}
