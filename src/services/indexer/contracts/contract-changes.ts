import type { ClientBase } from 'pg';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { FoundContract } from '#drivers/store/write/contract-rows.js';
import type { VerifiedItem, VerifiedWallet } from '#drivers/store/write/token-events.js';
import { Address } from '#formats/address/address.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';

/** What is known of an account from when it was looked at before. */
export interface KnownContract {
  /** Sorted. */
  readonly kinds: readonly string[];
  readonly code_hash: Uint8Array | null;
  /** Of a jetton master. */
  readonly wallet_code_hash: Uint8Array | null;
  /** Of a jetton wallet: its master; of an item: its collection. */
  readonly jetton: Uint8Array | null;
  readonly collection: Uint8Array | null;
}

/** By raw address. */
export async function readKnownContracts(
  client: ClientBase,
  contracts: readonly { readonly address: Uint8Array }[],
): Promise<ReadonlyMap<string, KnownContract>> {
  const { rows } = await client.query<KnownContract & { readonly address: Uint8Array }>({
    name: 'known-contracts',
    text: `SELECT c.address, c.kinds, c.code_hash, m.jetton_wallet_code_hash AS wallet_code_hash, w.jetton, i.collection
           FROM contracts c LEFT JOIN jetton_masters m ON m.address = c.address AND m.lapsed IS NULL
             LEFT JOIN jetton_wallets w ON w.address = c.address LEFT JOIN nft_items i ON i.address = c.address
           WHERE c.address = ANY($1::bytea[])`,
    values: [contracts.map(({ address }) => address)],
  });
  return new Map(rows.map((row) => [addressOfBytes(row.address).toRaw(), row]));
}

/**
 * Whether those that name a contract are to be looked at again: it came into being as what it is, lapsed, or may answer otherwise
 * since it has another code or gives out another one.
 */
export function isChange({ rows, code_hash }: FoundContract, known: KnownContract | null): boolean {
  const kinds = rows.map(({ kind }) => kind).sort();
  if (kinds.join() !== (known?.kinds.join() ?? '')) return true;
  if (kinds.length === 0 || known === null) return false;
  const wallet = rows.find(({ kind }) => kind === 'jetton_master')?.values.jetton_wallet_code_hash;
  return (
    !isSame(code_hash, known.code_hash) || (wallet instanceof Uint8Array && !isSame(wallet, known.wallet_code_hash))
  );
}

/** The wallets and items whose events are to be confirmed: they were not known as such, or belonged to another token. */
export function newlyVerified(
  found: readonly FoundContract[],
  known: ReadonlyMap<string, KnownContract>,
): { readonly wallets: readonly VerifiedWallet[]; readonly items: readonly VerifiedItem[] } {
  const wallets: VerifiedWallet[] = [];
  const items: VerifiedItem[] = [];
  for (const { address: account, rows } of found) {
    const before = known.get(account.toRaw());
    const address = addressBytes(account);
    for (const { kind, values } of rows) {
      const { jetton, collection = null } = values;
      const isKnown = before?.kinds.includes(kind) === true;
      if (kind === 'jetton_wallet' && jetton instanceof Address) {
        const master = addressBytes(jetton);
        if (!isKnown || !isSame(master, before.jetton)) wallets.push({ address, master });
      } else if (kind === 'nft_item') {
        const named = collection instanceof Address ? addressBytes(collection) : null;
        if (!isKnown || !isSame(named, before.collection)) items.push({ address, collection: named });
      }
    }
  }
  return { wallets, items };
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : bytesEqual(a, b);
}
