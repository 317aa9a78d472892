import type { Cell } from '#formats/cells/cell.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { bytesKey } from '#formats/tlb/codec/dictionary-key.js';
import { hashmap } from '#formats/tlb/codec/inline-dictionary.js';
import { unit } from '#formats/tlb/codec/primitives.js';
import type { ShardStateTotals } from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';
import type { BlockAccount } from '#localnet/producer/block-accounts.js';

type Libraries = ShardStateTotals['libraries'];

/** As in `LibDescr`. */
const Publishers = hashmap(bytesKey(32), unit);

/** The publisher of libraries that no account publishes. */
const NOBODY = new Uint8Array(32);

/** The masterchain's libraries after a block: accounts publish what they have, as long as they have it, and is public. */
export function librariesAfter(before: Libraries, accounts: readonly BlockAccount[]): Libraries {
  let libraries = before;
  for (const { address, before: old, current, transactions } of accounts) {
    if (transactions.length === 0) continue;
    const had = publicLibraries(old);
    const has = publicLibraries(current);
    for (const [name, lib] of had) if (!has.has(name)) libraries = withdraw(libraries, lib, address.hash);
    for (const [name, lib] of has) if (!had.has(name)) libraries = publish(libraries, lib, address.hash);
  }
  return libraries;
}

/** Publishes a library for as long as the chain lasts. */
export function publishForever(libraries: Libraries, lib: Cell): Libraries {
  return publish(libraries, lib, NOBODY);
}

function publish(libraries: Libraries, lib: Cell, publisher: Uint8Array): Libraries {
  const known = libraries.get(lib.hash());
  const publishers = known === undefined ? Publishers.of([[publisher, true]]) : known.publishers.set(publisher, true);
  return libraries.set(lib.hash(), { lib, publishers });
}

function withdraw(libraries: Libraries, lib: Cell, publisher: Uint8Array): Libraries {
  const known = libraries.get(lib.hash());
  if (known === undefined) return libraries;
  const publishers = known.publishers.delete(publisher);
  return publishers.isEmpty ? libraries.delete(lib.hash()) : libraries.set(lib.hash(), { ...known, publishers });
}

/** The public libraries of an account by the hex of their hashes. */
function publicLibraries(shardAccount: Cell): Map<string, Cell> {
  const found = new Map<string, Cell>();
  const account = decodeCell(Account, shardAccount.ref(0));
  if (account.kind !== 'account' || account.storage.state.kind !== 'account_active') return found;
  for (const [hash, { public: isPublic, root }] of account.storage.state.state_init.library)
    if (isPublic && bytesEqual(hash, root.hash())) found.set(toHex(hash), root);
  return found;
}
