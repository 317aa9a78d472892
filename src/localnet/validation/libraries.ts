import type { Account } from '#formats/tlb/account.js';
import type { Dictionary } from '#formats/tlb/codec/dictionary.js';
import type { LibDescr, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { SimpleLibs } from '#formats/tlb/state-init.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';
import type { ChangedAccount } from '#localnet/validation/accounts.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { sameRoot } from '#localnet/validation/dictionary-difference.js';

type Libraries = Dictionary<Uint8Array, LibDescr>;

/**
 * Checks that the libraries of the masterchain are those before, with what accounts published and without what they
 * withdrew in this block.
 *
 * @throws validation/broken-rule
 */
export function checkLibraries(context: BlockContext, accounts: readonly ChangedAccount[]): void {
  const { rules, after, previous, deviations } = context;
  const before = librariesOf(previous[0]!.state);
  const now = librariesOf(after);
  const expected = new Map([...before].map(([hash, descr]) => [toHex(hash), publishersOf(descr)]));
  for (const changed of accounts) applyChanges(expected, changed);
  if (
    sameRoot(before.root, now.root) &&
    accounts.every(({ before: b, after: a }) => !hasLibraries(b) && !hasLibraries(a))
  )
    return;
  const found = new Map([...now].map(([hash, descr]) => [toHex(hash), descr]));
  for (const [hash, descr] of found) {
    const place = `library ${hash}`;
    rules.equal('libraries', hash, toHex(descr.lib.hash()), place);
    const publishers = expected.get(hash);
    if (publishers === undefined) {
      deviations.push({ kind: 'library-published', block: rules.block, subject: hash });
      continue;
    }
    rules.equal('libraries', list(publishers), list(publishersOf(descr)), place);
  }
  for (const [hash, publishers] of expected)
    rules.require(publishers.size === 0 || found.has(hash), 'libraries', 'published', 'not there', `library ${hash}`);
}

function librariesOf(state: ShardStateUnsplit): Libraries {
  return state.totals.value.libraries;
}

function applyChanges(libraries: Map<string, Set<string>>, { account, before, after }: ChangedAccount): void {
  if (!hasLibraries(before) && !hasLibraries(after)) return;
  const old = publicOf(before);
  const now = publicOf(after);
  const id = toHex(account);
  for (const hash of old) {
    const publishers = libraries.get(hash);
    if (now.has(hash) || publishers === undefined) continue;
    publishers.delete(id);
    if (publishers.size === 0) libraries.delete(hash);
  }
  for (const hash of now) {
    if (old.has(hash)) continue;
    const publishers = libraries.get(hash) ?? new Set<string>();
    libraries.set(hash, publishers.add(id));
  }
}

function hasLibraries(account: Account): boolean {
  return libsOf(account)?.isEmpty === false;
}

function libsOf(account: Account): SimpleLibs | null {
  if (account.kind === 'account_none' || account.storage.state.kind !== 'account_active') return null;
  return account.storage.state.state_init.library;
}

/** Hex of the hashes of the libraries that an account shows to all. */
function publicOf(account: Account): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [hash, { public: isPublic, root }] of libsOf(account) ?? [])
    if (isPublic && bytesEqual(root.hash(), hash)) found.add(toHex(hash));
  return found;
}

function publishersOf({ publishers }: LibDescr): Set<string> {
  return new Set([...publishers].map(([id]) => toHex(id)));
}

function list(publishers: ReadonlySet<string>): string {
  return [...publishers].sort().join(' ');
}
