import type { ClientBase } from 'pg';

/** The tables of contracts that hold an item for the one who sells it. They are written before the items. */
export const SALE_TABLES: readonly string[] = ['nft_sales', 'nft_auctions'];

/** Whom the sale or auction of this item that owns it gives as owner; else the owner. @param item name of its row in SQL */
export function realOwner(item: string): string {
  const sellers = SALE_TABLES.map(
    (table) =>
      `(SELECT x.nft_owner FROM ${table} x WHERE x.address = ${item}.owner AND x.nft = ${item}.address AND x.lapsed IS NULL)`,
  );
  return `coalesce(${sellers.join(', ')}, ${item}.owner)`;
}

/** The items that sales and auctions, given by address, name. */
export async function itemsOfSales(
  client: ClientBase,
  addresses: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  if (addresses.length === 0) return [];
  const { rows } = await client.query<{ nft: Uint8Array }>({
    name: 'items-of-sales',
    text: SALE_TABLES.map(
      (table) => `SELECT nft FROM ${table} WHERE address = ANY($1::bytea[]) AND nft IS NOT NULL`,
    ).join(' UNION '),
    values: [addresses],
  });
  return rows.map(({ nft }) => nft);
}

/** Sets the real owners of items again. @returns how many have changed */
export async function setRealOwners(client: ClientBase, items: readonly Uint8Array[]): Promise<number> {
  if (items.length === 0) return 0;
  const { rowCount } = await client.query({
    name: 'set-real-owners',
    text: `UPDATE nft_items i SET real_owner = ${realOwner('i')}
           WHERE i.address = ANY($1::bytea[]) AND i.real_owner IS DISTINCT FROM ${realOwner('i')}`,
    values: [items],
  });
  return rowCount ?? 0;
}
