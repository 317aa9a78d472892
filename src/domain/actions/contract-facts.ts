import type { ContractFacts } from '#domain/actions/trace-facts.js';
import type { Address } from '#formats/address/address.js';

/** Values of the columns of an interface that classification reads: addresses, integers, `content` as JSON text. */
type InterfaceValues = Readonly<Record<string, unknown>>;

/**
 * What classification reads of each interface, by the names of its columns: see `contractInterfaces`.
 */
export const FACT_COLUMNS = {
  jetton_wallet: ['owner', 'jetton'],
  nft_item: ['index', 'collection', 'owner', 'content'],
  nft_sale: ['nft', 'nft_owner', 'marketplace', 'full_price'],
  nft_auction: ['nft', 'nft_owner', 'marketplace', 'last_bid'],
  multisig_order: ['multisig', 'signers'],
  nominator_pool: [],
  dex_pool: ['dex', 'asset_1', 'asset_2'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The facts of a contract from the values of its interfaces. Trades without an item are none. */
export function contractFacts(
  code_hash: Uint8Array | null,
  valuesOf: (kind: keyof typeof FACT_COLUMNS) => InterfaceValues | null | undefined,
): ContractFacts {
  const wallet = valuesOf('jetton_wallet');
  const item = valuesOf('nft_item');
  const sale = valuesOf('nft_sale');
  const auction = valuesOf('nft_auction');
  const order = valuesOf('multisig_order');
  const pool = valuesOf('dex_pool');
  return {
    code_hash,
    jetton_wallet: wallet ? { owner: wallet.owner as Address, jetton: wallet.jetton as Address } : null,
    nft_item: item
      ? {
          index: item.index as bigint,
          collection: addressOf(item.collection),
          owner: addressOf(item.owner),
          content_uri: uriOf(item.content as string | null),
        }
      : null,
    nft_sale: sale?.nft ? { ...tradeOf(sale), full_price: sale.full_price as bigint } : null,
    nft_auction: auction?.nft ? { ...tradeOf(auction), last_bid: auction.last_bid as bigint } : null,
    multisig_order: order
      ? { multisig: order.multisig as Address, signers: (order.signers ?? []) as readonly Address[] }
      : null,
    nominator_pool: valuesOf('nominator_pool') != null,
    dex_pool: pool
      ? { dex: pool.dex as string, asset_1: addressOf(pool.asset_1), asset_2: addressOf(pool.asset_2) }
      : null,
  };
}

function tradeOf({ nft, nft_owner, marketplace }: InterfaceValues) {
  return { nft: nft as Address, nft_owner: addressOf(nft_owner), marketplace: addressOf(marketplace) };
}

function addressOf(value: unknown): Address | null {
  return (value ?? null) as Address | null;
}

/** @param content JSON text */
function uriOf(content: string | null): string | null {
  if (content === null) return null;
  const { uri } = JSON.parse(content) as { readonly uri?: unknown };
  return typeof uri === 'string' ? uri : null;
}
