import type { AddressFacts } from '../api/answers.js';
import { shortened } from '../format/chain-text.js';
import { AccountLink } from '../parts/address.js';
import { knownAddress } from '../parts/address-facts.js';
import { ClaimedName } from '../parts/token-name.js';
import { TokenPicture } from '../parts/token-picture.js';
import { pathOf } from '../routing/location.js';
import { Link } from '../routing/router.js';

export interface NftItem {
  readonly address: string;
  readonly init: boolean;
  readonly index: string;
  readonly collection_address?: string | null;
  readonly owner_address?: string | null;
  readonly real_owner?: string | null;
  readonly on_sale?: boolean;
  readonly sale_contract_address?: string | null;
  readonly auction_contract_address?: string | null;
  readonly last_transaction_lt: string;
  readonly content?: Readonly<Record<string, unknown>> | null;
}

/** NFTs as cards: picture, name, collection. */
export function NftCards({ items, facts }: { readonly items: readonly NftItem[]; readonly facts: AddressFacts }) {
  return (
    <ul class="cards">
      {items.map((item) => {
        const { token, friendly } = knownAddress(facts, item.address);
        return (
          <li key={item.address} class="nft">
            <Link to={pathOf(['nft', friendly ?? item.address])} class="nft-link">
              <TokenPicture token={token} address={item.address} />
              <span class="nft-name">
                {token?.name == null ? (
                  <span class="muted">Item {shortened(item.index, 8, 4)}</span>
                ) : (
                  <ClaimedName name={token.name} token={token} address={item.address} most={60} />
                )}
              </span>
            </Link>
            <span class="nft-collection">
              {item.collection_address == null ? (
                <span class="muted">no collection</span>
              ) : (
                <AccountLink address={item.collection_address} bare />
              )}
              {item.on_sale === true && <span class="badge">on sale</span>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
