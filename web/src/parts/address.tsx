import { addressOf, rawAddress, shortened } from '../format/chain-text.js';
import { useKnownAddress } from '../parts/address-facts.js';
import { Copy } from '../parts/copy.js';
import { TokenName } from '../parts/token-name.js';
import { Untrusted } from '../parts/untrusted.js';
import { pathOf } from '../routing/location.js';
import { Link } from '../routing/router.js';

interface AddressProps {
  /** In any form. Null: there is none (`addr_none`). */
  readonly address: string | null | undefined;
  /** Without a button to copy it. */
  readonly bare?: boolean;
  /** Not shortened. */
  readonly whole?: boolean;
}

/** An address as a link to its account: its domain, the name of a token, or the address, shortened. */
export function AccountLink({ address, bare = false, whole = false }: AddressProps) {
  const parsed = address == null ? null : addressOf(address);
  const raw = parsed === null ? null : rawAddress(parsed);
  const { friendly, domain, token } = useKnownAddress(raw);
  if (address == null) return <span class="muted">nobody</span>;
  if (parsed === null) return <Untrusted text={address} />;
  const text = friendly ?? parsed.toFriendly();
  const name = token?.symbol ?? token?.name;
  return (
    <span class="address">
      <Link to={pathOf(['account', text])} title={text} class={domain == null && name == null ? 'mono' : 'named'}>
        {domain != null ? (
          <Untrusted text={domain} most={40} />
        ) : name != null && !whole ? (
          <TokenName token={token!} address={raw!} />
        ) : whole ? (
          text
        ) : (
          shortened(text)
        )}
      </Link>
      {!bare && <Copy text={text} what="address" />}
    </span>
  );
}
