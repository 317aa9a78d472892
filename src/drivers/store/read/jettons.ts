import { jettonMaster } from '#domain/contracts/interfaces/jetton-master.js';
import { jettonWallet } from '#domain/contracts/interfaces/jetton-wallet.js';
import {
  addressColumn,
  BY_ID,
  BY_ID_COLUMN,
  byAddress,
  distinctBytes,
  type Equal,
  mergedWalks,
  numericColumn,
  oneOf,
  ownedById,
  readContracts,
  readWalkedList,
  successiveWalks,
  type WalkOrder,
  type WalkWindow,
  walk,
} from '#drivers/store/read/contract-lists.js';
import { contractReader, type StoredContract } from '#drivers/store/read/contract-rows.js';
import type {
  IndexedJettonMaster,
  IndexedJettonWallet,
  JettonMasterFilter,
  JettonWalletFilter,
  Listed,
  Page,
} from '#drivers/store/read/index-types.js';
import type { RowWindow } from '#drivers/store/read/pages.js';
import { all, emptySql, type IndexSession, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';

const MASTERS = contractReader(jettonMaster);
const WALLETS = contractReader(jettonWallet);
type WalletFound = StoredContract<typeof jettonWallet>;

/** Masters by id. */
export function readJettonMasters(
  session: IndexSession,
  filter: JettonMasterFilter,
  page: Page,
): Promise<Listed<IndexedJettonMaster>> {
  const source = ownedById('jetton_masters', 'admin', distinctBytes(filter.address), distinctBytes(filter.admin));
  return readContracts(session, MASTERS, { name: 'jettonMasters', filter, order: BY_ID, source }, page);
}

const OWNER = addressColumn('owner', 'always');
const BY_ADDRESS: WalkOrder<WalletFound> = { columns: [addressColumn('address', 'always')], sort: 'asc' };
const WALLETS_BY_ID: WalkOrder<WalletFound> = { ...BY_ID, predicate: raw('t.id > 0') };
const BALANCE = numericColumn('balance');
/** Balances are integers. */
const BALANCE_ABOVE_ZERO = numericColumn('balance', '1');

/** Wallets by id or balance; of several owners, by owner first. */
export async function readJettonWallets(
  session: IndexSession,
  filter: JettonWalletFilter,
  page: Page,
): Promise<Listed<IndexedJettonWallet>> {
  const order = walletOrder(filter, page);
  const isOfOwners = new Set(filter.owner?.map((owner) => owner.toRaw())).size > 1;
  const { rows, next } = await readWalkedList<WalletFound>(
    session,
    {
      ...{ name: 'jettonWallets', filter, first: isOfOwners ? OWNER : null, order, joins: emptySql },
      source: walletSource(filter, order),
      columns: raw(WALLETS.columns('t')),
    },
    page,
  );
  return { rows: rows.map(WALLETS.row), next };
}

function walletOrder(filter: JettonWalletFilter, { sort }: Page): WalkOrder<WalletFound> {
  const { address, owner, jetton, exclude_zero_balance = false, by_balance = false } = filter;
  if (by_balance) {
    const predicate = raw('t.balance >= 0');
    return { columns: [exclude_zero_balance ? BALANCE_ABOVE_ZERO : BALANCE, BY_ID_COLUMN], sort, predicate };
  }
  return address !== undefined && owner === undefined && jetton === undefined ? BY_ADDRESS : WALLETS_BY_ID;
}

/** In the indexes for lists by id, empty wallets are separate. */
const FILLED: Equal = { column: raw('(t.balance > 0)'), value: raw('true') };
const EMPTY: Equal = { column: raw('(t.balance > 0)'), value: raw('false') };

function walletSource(filter: JettonWalletFilter, order: WalkOrder): ((window: RowWindow) => Sql) | null {
  const { exclude_zero_balance = false, by_balance = false } = filter;
  const [addresses, owners, jettons] = [filter.address, filter.owner, filter.jetton].map(distinctBytes);
  if ([addresses, owners, jettons].some((list) => list?.length === 0)) return null;
  const isNotEmpty = exclude_zero_balance ? [raw('t.balance > 0')] : [];
  if (addresses !== undefined) {
    const conditions = [...isNotEmpty, ...oneOf('owner', owners), ...oneOf('jetton', jettons)];
    return () => byAddress('jetton_wallets', addresses, conditions);
  }
  if (owners !== undefined && jettons !== undefined) return () => ofPairs(owners, jettons, isNotEmpty);
  const branches = by_balance ? [[]] : exclude_zero_balance ? [[FILLED]] : [[FILLED], [EMPTY]];
  const of = (column: string, value: Sql, window: WalkWindow) => {
    const equal = { column: raw(`t.${column}`), value };
    return walk(
      'jetton_wallets',
      branches.map((branch) => [equal, ...branch]),
      order,
      [],
      window,
    );
  };
  return ({ after, offset, count }) => {
    const window = { after, most: offset + count };
    if (owners?.length === 1) return of('owner', sql`${owners[0]}::bytea`, window);
    if (owners !== undefined) {
      return successiveWalks(owners, order, (owner, part) => of('owner', owner, part), window);
    }
    if (jettons !== undefined) {
      return mergedWalks(jettons, order, (jetton) => of('jetton', jetton, window), window.most);
    }
    return walk('jetton_wallets', branches, order, [], window);
  };
}

/** A master has one wallet per owner; older ones, if any, are superseded. */
function ofPairs(owners: readonly Uint8Array[], jettons: readonly Uint8Array[], conditions: readonly Sql[]): Sql {
  return sql`SELECT t.* FROM unnest(${opaqueToPlanner(owners, 'bytea[]')}) AS o(key)
    CROSS JOIN unnest(${opaqueToPlanner(jettons, 'bytea[]')}) AS j(key)
    CROSS JOIN LATERAL (
      SELECT * FROM jetton_wallets t WHERE t.owner = o.key AND t.jetton = j.key AND t.lapsed IS NULL AND t.jetton > '' OFFSET 0
    ) AS t WHERE ${all(conditions)}`;
}
