import { amountText, decimalsOf, integerOf } from '../format/amount.js';
import { addressOf, rawAddress } from '../format/chain-text.js';
import { AccountLink } from '../parts/address.js';
import { useKnownAddress } from '../parts/address-facts.js';

interface AmountProps {
  /** In smallest units. */
  readonly units: bigint | string | number | null | undefined;
  readonly decimals: number;
  /** Behind the number. */
  readonly unit?: string;
  /** With a plus before amounts above zero. */
  readonly signed?: boolean;
  readonly class?: string;
}

/** Characters; what is longer may go on below its decimal point on narrow screens. */
const LONG_AMOUNT = 12;

/** An exact amount; on hover in smallest units. */
export function Amount({ units, decimals, unit, signed = false, class: className = '' }: AmountProps) {
  const value = integerOf(units);
  if (value === null) return <span class="muted">–</span>;
  const { whole, fraction } = amountText(value, decimals);
  const length = whole.length + fraction.length > LONG_AMOUNT ? 'long' : '';
  return (
    <span class={`amount ${length} ${className}`} title={`${value} smallest units`}>
      {signed && value > 0n ? '+' : ''}
      {whole}
      {fraction !== '' && <span class="fraction">{fraction}</span>}
      {unit !== undefined && <span class="unit"> {unit}</span>}
    </span>
  );
}

interface TonProps {
  /** Nanotons. */
  readonly nano: bigint | string | number | null | undefined;
  readonly signed?: boolean;
  readonly class?: string;
}

export function Ton({ nano, signed = false, class: className = '' }: TonProps) {
  return <Amount units={nano} decimals={9} unit="TON" signed={signed} class={className} />;
}

interface AssetProps {
  readonly units: bigint | string | number | null | undefined;
  /** The jetton master; null: TON. */
  readonly asset: string | null | undefined;
}

/** An amount of TON or of a jetton, by the decimals that its metadata give. */
export function AssetAmount({ units, asset }: AssetProps) {
  const parsed = asset == null ? null : addressOf(asset);
  const { token } = useKnownAddress(parsed === null ? null : rawAddress(parsed));
  if (asset == null) return <Ton nano={units} />;
  return (
    <span class="asset">
      <Amount units={units} decimals={decimalsOf(token?.extra?.decimals)} /> <AccountLink address={asset} bare />
    </span>
  );
}
