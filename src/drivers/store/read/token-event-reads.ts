import { tokenEventOf } from '#domain/tokens/token-event.js';
import { loadTransaction } from '#drivers/store/encode/stored-transaction.js';
import { isAborted } from '#drivers/store/encode/token-candidate.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { Listed, Page } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { readPage } from '#drivers/store/read/keyset-page.js';
import type { SharedCells } from '#drivers/store/read/shared-cells.js';
import { sql, unseen } from '#drivers/store/read/sql.js';
import { type TokenEventFound, TokenEventList } from '#drivers/store/read/token-event-list.js';
import {
  type IndexedTokenEvent,
  type ListedTokenKind,
  meetsTokenFilter,
  type TokenEventFilter,
} from '#drivers/store/read/token-events.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';

/** A row that is what was asked for. */
interface Meant<Kind extends ListedTokenKind> {
  readonly found: TokenEventFound;
  readonly event: IndexedTokenEvent<Kind>;
}

/** A page of the events of a kind. */
export async function readTokenEvents<Kind extends ListedTokenKind>(
  session: IndexSession,
  cells: SharedCells,
  kind: Kind,
  filter: TokenEventFilter,
  page: Page,
): Promise<Listed<IndexedTokenEvent<Kind>>> {
  const list = new TokenEventList(session, kind, filter, page.sort);
  const { rows, next } = await readPage<TokenEventFound, Meant<Kind>>(
    {
      name: `tokenEvents ${kind}`,
      filter,
      keyParts: list.keyParts,
      read: (stretch) => list.read(stretch),
      check: (found) => meantEvents(session, kind, filter, found),
      keyOf: (row) => list.keyOf(row),
    },
    page,
  );
  return { rows: await withWholeCells(session, cells, rows), next };
}

/** Compares what was found by keys with what they stand for. */
async function meantEvents<Kind extends ListedTokenKind>(
  session: IndexSession,
  kind: Kind,
  filter: TokenEventFilter,
  found: readonly TokenEventFound[],
): Promise<(Meant<Kind> | null)[]> {
  if (found.length === 0) return [];
  const decoded = found.map((row) => {
    const root = loadTransaction(row.boc, () => null);
    const transaction = decodeCell(Transaction, root);
    return { row, root, transaction, account: Address.ofParts(row.workchain, transaction.account_addr) };
  });
  const tokens = await readTokens(
    session,
    kind,
    decoded.map(({ account }) => account),
  );
  return decoded.map(({ row, root, transaction, account }) => {
    const { in_msg } = transaction;
    const event = in_msg === null ? null : tokenEventOf(in_msg.value);
    const token = tokens.get(account.toRaw());
    // An account without a row is not known, and only has the key of one that is.
    if (event?.kind !== kind || token === undefined) return null;
    const aborted = isAborted(transaction.description.value);
    if (!meetsTokenFilter(filter, { ...event, account, token }) || (aborted && kind === 'jetton_transfer')) return null;
    const { id, lt, now, trace_id } = row;
    const place = { id, kind, hash: root.hash(0).slice(), lt, now: Number(now), aborted, trace_id };
    const body = event.body as IndexedTokenEvent<Kind>['body'];
    return { found: row, event: { ...place, account, token, source: event.source, body } };
  });
}

/** The master or collection of each account that is known, by raw address; null: an item without a collection. */
async function readTokens(
  session: IndexSession,
  kind: ListedTokenKind,
  accounts: readonly Address[],
): Promise<ReadonlyMap<string, Address | null>> {
  const addresses = [...new Map(accounts.map((account) => [account.toRaw(), addressBytes(account)])).values()];
  const given = unseen(addresses, 'bytea[]');
  const rows = await session.rows<{ address: Uint8Array; token: Uint8Array | null }>(
    kind === 'nft_transfer'
      ? sql`SELECT n.address, n.collection AS token FROM unnest(${given}) AS k(address)
          CROSS JOIN LATERAL (SELECT * FROM nft_items n WHERE n.address = k.address LIMIT 1) AS n`
      : sql`SELECT w.address, w.jetton AS token FROM unnest(${given}) AS k(address)
          CROSS JOIN LATERAL (SELECT * FROM jetton_wallets w WHERE w.address = k.address LIMIT 1) AS w`,
  );
  return new Map(
    rows.map(({ address, token }) => [addressOfBytes(address).toRaw(), token === null ? null : addressOfBytes(token)]),
  );
}

/** Payloads may hold a code that is stored apart; then the body is read again from the whole transaction. */
async function withWholeCells<Kind extends ListedTokenKind>(
  session: IndexSession,
  cells: SharedCells,
  rows: readonly Meant<Kind>[],
): Promise<IndexedTokenEvent<Kind>[]> {
  const partial = rows.filter(({ event }) => payloadsOf(event.body).some((cell) => cell.levelMask !== 0));
  if (partial.length === 0) return rows.map(({ event }) => event);
  const bocs = await cells.complete(
    session,
    partial.map(({ found }) => found.boc),
  );
  const whole = new Map(partial.map(({ event }, i) => [event.id, bocs[i]!]));
  return rows.map(({ event }) => {
    const boc = whole.get(event.id);
    if (boc === undefined) return event;
    const { in_msg } = decodeCell(Transaction, parseBocRoot(boc));
    return { ...event, body: tokenEventOf(in_msg!.value)!.body as IndexedTokenEvent<Kind>['body'] };
  });
}

function payloadsOf(body: {
  readonly custom_payload: Cell | null;
  readonly forward_payload?: Cell | null;
}): readonly Cell[] {
  return [body.custom_payload, body.forward_payload ?? null].filter((cell) => cell !== null);
}
