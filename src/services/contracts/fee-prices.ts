import type { Cell } from '#formats/cells/cell.js';
import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';
import type { GasLimitsPrices, MsgForwardPrices, StoragePrices } from '#formats/tlb/config/prices.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { contractsErrors } from '#services/contracts/errors.js';

/** Distinct cells, and their data bits in sum. */
export interface CellsUsed {
  readonly cells: bigint;
  readonly bits: bigint;
}

/** Prices are in 2^-16 nanotons; what is paid is rounded up. */
const FRACTION = 16n;

function roundedUp(amount: bigint): bigint {
  return (amount + (1n << FRACTION) - 1n) >> FRACTION;
}

/** What trees of cells take together: equal cells count once. */
export function cellsUsed(roots: Iterable<Cell>): CellsUsed {
  const seen = new Set<string>();
  const left = [...roots];
  let bits = 0;
  for (let cell = left.pop(); cell !== undefined; cell = left.pop()) {
    const key = toHex(cell.hash());
    if (seen.has(key)) continue;
    seen.add(key);
    bits += cell.bits;
    for (let i = 0; i < cell.refCount; i++) left.push(cell.ref(i));
  }
  return { cells: BigInt(seen.size), bits: BigInt(bits) };
}

/** What a message costs on its way, in nanotons. @param used without the root cell of the message */
export function forwardFee(
  { lump_price, bit_price, cell_price }: MsgForwardPrices,
  { cells, bits }: CellsUsed,
): bigint {
  return lump_price + roundedUp(bit_price * bits + cell_price * cells);
}

/** What a run costs that takes no gas at all, in nanotons. */
export function leastGasFee(prices: GasLimitsPrices): bigint {
  return prices.kind === 'gas_flat_pfx' ? prices.flat_gas_price : 0n;
}

/** How much gas coins buy, and how much of it a run may use before it accepts a message from outside. */
export function gasOf(prices: GasLimitsPrices, coins: bigint): { readonly bought: bigint; readonly credit: bigint } {
  if (prices.kind !== 'gas_flat_pfx')
    return { bought: (coins << FRACTION) / prices.gas_price, credit: prices.gas_credit };
  const { flat_gas_limit, flat_gas_price, other } = prices;
  const rest = gasOf(other, coins > flat_gas_price ? coins - flat_gas_price : 0n);
  return { bought: coins < flat_gas_price ? 0n : flat_gas_limit + rest.bought, credit: rest.credit };
}

/** What an account's cells cost. */
export interface StoredCells extends CellsUsed {
  /** Unix seconds: what is before is paid; 0: the account never pays. */
  readonly last_paid: number;
}

/**
 * What an account owes for being stored since it last paid, in nanotons, debts from before not included.
 *
 * @param prices oldest first
 */
export function storageFee(
  prices: readonly StoragePrices[],
  now: number,
  { cells, bits, last_paid }: StoredCells,
  masterchain: boolean,
): bigint {
  if (last_paid === 0) return 0n;
  let amount = 0n;
  prices.forEach((price, i) => {
    const from = Math.max(last_paid, price.utime_since);
    const to = Math.min(now, prices[i + 1]?.utime_since ?? now);
    if (from >= to) return;
    const perSecond = masterchain
      ? price.mc_cell_price_ps * cells + price.mc_bit_price_ps * bits
      : price.cell_price_ps * cells + price.bit_price_ps * bits;
    amount += perSecond * BigInt(to - from);
  });
  return roundedUp(amount);
}

/** Prices of a configuration. */
export interface FeePrices {
  /** Oldest first. */
  readonly storage: readonly StoragePrices[];
  /** Of messages; between workchains those of the masterchain if either end is there. */
  readonly forward: (masterchain: boolean) => MsgForwardPrices;
  readonly gas: (masterchain: boolean) => GasLimitsPrices;
}

/** The prices of a configuration. @throws contracts/no-prices */
export function feePrices(params: ConfigDictionary): FeePrices {
  const param = <I extends 18 | 20 | 21 | 24 | 25>(index: I) => {
    const value = configParam(params, index);
    if (value === undefined) throw contractsErrors['no-prices']({ param: index });
    return value;
  };
  const [storage, gasMc, gasBase, forwardMc, forwardBase] = [param(18), param(20), param(21), param(24), param(25)];
  return {
    storage: [...storage].map(([, price]) => price).sort((a, b) => a.utime_since - b.utime_since),
    forward: (masterchain) => (masterchain ? forwardMc : forwardBase),
    gas: (masterchain) => (masterchain ? gasMc : gasBase),
  };
}
