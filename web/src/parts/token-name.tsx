import type { TokenInfo } from '../api/answers.js';
import { symbolWarning } from '../format/untrusted-text.js';
import { Untrusted } from '../parts/untrusted.js';

interface TokenNameProps {
  readonly token: TokenInfo;
  /** Raw address, which is what tells tokens apart. */
  readonly address: string;
}

/** What a token calls itself: its symbol, or its name where it has none. */
export function TokenName({ token, address }: TokenNameProps) {
  return <ClaimedName name={token.symbol ?? token.name ?? ''} token={token} address={address} />;
}

interface ClaimedNameProps extends TokenNameProps {
  readonly name: string;
  /** Characters that are shown. */
  readonly most?: number;
}

/** A name that a token gives itself, marked as its own claim, and as a warning where it looks like something else. */
export function ClaimedName({ name, token, address, most = 24 }: ClaimedNameProps) {
  const warning = token.is_scam === true ? 'was reported as a scam' : symbolWarning(name);
  const claim = `The name is what ${address} says of itself; nobody has verified it.`;
  return (
    <span class="token">
      <Untrusted text={name} most={most} />
      {warning === null ? (
        <span class="token-claim" title={claim}>
          <span aria-hidden="true">?</span>
          <span class="visually-hidden">(unverified)</span>
        </span>
      ) : (
        <span class="token-warning" title={`${claim} It ${warning}.`}>
          <span aria-hidden="true">!</span>
          <span class="visually-hidden">(unverified: {warning})</span>
        </span>
      )}
    </span>
  );
}
