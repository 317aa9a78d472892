import { decodeState, type StoredState } from '#drivers/store/encode/state-summary.js';
import { addressBytes } from '#drivers/store/keys.js';
import type { StateSummary } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { sql } from '#drivers/store/read/sql.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

type Currencies = ReadonlyMap<number, bigint>;

/** A state as it was stored, before or after a transaction of an account. */
export interface StateAt {
  readonly state: StoredState;
  readonly address: Address;
  readonly account_key: bigint;
  readonly lt: bigint;
}

/** How many transactions of an account are looked through on each side. */
const MOST = 200;

/**
 * The other currencies of states whose blocks did not show them, because they were as before: those of the account now, or of a
 * state near to it, when their dictionary has the hash that was stored. Where none has, they are not known: null.
 */
export async function findCurrencies(
  session: IndexSession,
  states: readonly StateAt[],
): Promise<ReadonlyMap<StateSummary, Currencies | null>> {
  const byState = new Map<StateSummary, Currencies | null>();
  // Accounts change them seldom.
  const byHash = new Map<string, Currencies | null>();
  for (const { address, account_key, lt, state } of states) {
    const hash = state.extra_hash!;
    const name = `${account_key} ${toHex(hash)}`;
    let found = byHash.get(name);
    if (found === undefined) {
      found = (await currentOf(session, address, hash)) ?? (await nearbyOf(session, account_key, lt, hash));
      byHash.set(name, found);
    }
    byState.set(state, found);
  }
  return byState;
}

async function currentOf(session: IndexSession, address: Address, hash: Uint8Array): Promise<Currencies | null> {
  const [row] = await session.rows<{ extra_currencies: Readonly<Record<string, string>> | null }>(
    sql`SELECT a.extra_currencies FROM accounts a WHERE a.address = ${addressBytes(address)}::bytea`,
  );
  const entries = Object.entries(row?.extra_currencies ?? {});
  return ofHash(hash, new Map(entries.map(([id, amount]) => [Number(id), BigInt(amount)])));
}

async function nearbyOf(
  session: IndexSession,
  account_key: bigint,
  lt: bigint,
  hash: Uint8Array,
): Promise<Currencies | null> {
  const rows = await session.rows<{ state_after: Uint8Array }>(sql`
    SELECT x.state_after FROM (
      (SELECT t.state_after FROM transactions t WHERE t.account_key = ${account_key} AND t.lt < ${lt}
        ORDER BY t.lt DESC LIMIT ${MOST})
      UNION ALL
      (SELECT t.state_after FROM transactions t WHERE t.account_key = ${account_key} AND t.lt > ${lt}
        ORDER BY t.lt LIMIT ${MOST})
    ) x WHERE x.state_after IS NOT NULL`);
  for (const { state_after } of rows) {
    const { extra_hash, extra_currencies } = decodeState(state_after);
    const found = extra_hash === null ? ofHash(hash, extra_currencies) : null;
    if (found !== null) return found;
  }
  return null;
}

/** The currencies, when their dictionary has the hash. */
function ofHash(hash: Uint8Array, currencies: Currencies): Currencies | null {
  const root = dictionaryOf(currencies);
  return root !== null && bytesEqual(root.hash(), hash) ? currencies : null;
}

/** `dict:(HashmapE 32 (VarUInteger 32))` */
function dictionaryOf(currencies: Currencies) {
  return buildDictionary(
    32,
    [...currencies].map(([id, amount]) => {
      const key = new Uint8Array(4);
      new DataView(key.buffer).setUint32(0, id);
      const length = Math.ceil(amount.toString(16).length / 2);
      return [key, new Builder().storeUint(length, 5).storeUint(amount, length * 8)] as const;
    }),
  );
}
