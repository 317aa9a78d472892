import {
  type ActionFields,
  type ActionLayout,
  decodeAction,
  layoutOfText,
  type StoredAction,
} from '#drivers/store/action-row.js';
import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import type { Listed, Page, TimeBounds } from '#drivers/store/read/index-types.js';
import {
  hasTime,
  isSystemTrace,
  type RowWindow,
  readPage,
  storableTimeRange,
  translateTimeRange,
  withinTimeRange,
} from '#drivers/store/read/pages.js';
import { all, emptySql, type IndexSession, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import { rootsOf } from '#drivers/store/read/traces.js';
import { StoredMessages } from '#drivers/store/stored-transaction.js';
import type { Address } from '#formats/address/address.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** Which actions a client is shown. */
export interface ActionTypeFilter {
  /** Names of types. */
  readonly types: readonly string[];
  /** Actions that are a part of one of these types are left out. */
  readonly supported: readonly string[];
}

/** `*_utime` and `*_lt` bound the end of the trace. Filters are combined with AND. */
export interface ActionFilter extends TimeBounds, ActionTypeFilter {
  /** The types are those that a client asks for, not all that it knows. */
  readonly isSelection: boolean;
  /** A participant. */
  readonly account?: Address | undefined;
  readonly tx_hash?: readonly Uint8Array[] | undefined;
  /** The hash or the normalized hash of a message that one of its transactions sent or received. */
  readonly msg_hash?: readonly Uint8Array[] | undefined;
  readonly action_id?: readonly Uint8Array[] | undefined;
  readonly trace_id?: readonly Uint8Array[] | undefined;
  /** Masterchain block in which the trace ended. */
  readonly mc_seqno?: number | undefined;
  /** True: without actions of traces that begin with a tick-tock transaction or a special message. */
  readonly exclude_system?: boolean | undefined;
}

/** An action, and the trace that it is a part of. */
export interface IndexedAction extends StoredAction {
  readonly type: string;
  /** Position among the actions of its trace, by end. */
  readonly position: number;
  readonly root: bigint;
  readonly trace_id: Uint8Array;
  readonly trace_end_lt: bigint;
  readonly trace_end_utime: number;
  readonly trace_mc_seqno_end: number;
  /** Null: the trace began without a message. */
  readonly trace_external_hash: Uint8Array | null;
  /** Null: as `trace_external_hash`, or there is none. */
  readonly trace_external_hash_norm: Uint8Array | null;
  readonly details: ActionFields;
}

/** A row of `actions`, with its trace. */
interface ActionFound {
  readonly root: bigint;
  readonly position: number;
  readonly layout: number;
  readonly end_lt: bigint;
  readonly data: Uint8Array;
  readonly trace_id: Uint8Array;
  readonly end_utime: bigint;
  readonly mc_seqno_end: number;
  readonly external_hash: Uint8Array | null;
  readonly external_hash_norm: Uint8Array | null;
}

const LEAST = -(1n << 63n);
const GREATEST = (1n << 63n) - 1n;

/** A page of actions by the end of their traces, then in the order of the chain. */
export async function readActions(
  session: IndexSession,
  filter: ActionFilter,
  page: Page,
): Promise<Listed<IndexedAction>> {
  const list = await ActionList.open(session, filter, page.sort);
  return readPage<ActionFound, IndexedAction>(
    {
      name: 'actions',
      filter,
      keyParts: 3,
      read: (window) => list.read(window),
      check: async (found) => (await openActions(session, found)).map((action) => (list.holds(action) ? action : null)),
      keyOf: ({ end_lt, root, position }) => [end_lt, root, BigInt(position)],
    },
    page,
  );
}

/** The actions of traces by start, and how these were classified. @param roots of traces */
export async function readActionsOfTraces(
  session: IndexSession,
  roots: readonly bigint[],
  types: ActionTypeFilter,
): Promise<ReadonlyMap<bigint, readonly IndexedAction[]>> {
  const byRoot = new Map<bigint, IndexedAction[]>(roots.map((root) => [root, []]));
  if (roots.length === 0) return byRoot;
  const source = sql`SELECT a.* FROM unnest(${opaqueToPlanner(roots, 'bigint[]')}) AS k(root)
    CROSS JOIN LATERAL (SELECT * FROM actions a WHERE a.root = k.root AND ${all(shownTypes(types))} OFFSET 0) AS a`;
  const found = await session.rows<ActionFound>(withTraces(source, emptySql));
  const actions = await openActions(session, found);
  actions.sort((a, b) => order(a.start_lt, b.start_lt) || order(a.end_lt, b.end_lt) || a.position - b.position);
  for (const action of actions) byRoot.get(action.root)!.push(action);
  return byRoot;
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Rows of actions `a` with what they need of their traces. */
function withTraces(source: Sql, end: Sql): Sql {
  return sql`SELECT a.root, a.position, a.layout, a.end_lt, a.data, x.trace_id, x.end_utime, x.mc_seqno_end,
      c.external_hash, c.external_hash_norm
    FROM (${source}) AS a
    CROSS JOIN LATERAL (SELECT * FROM traces x WHERE x.root = a.root LIMIT 1) AS x
    CROSS JOIN LATERAL (SELECT * FROM classified_traces c WHERE c.root = a.root LIMIT 1) AS c ${end}`;
}

/** The numbers of the layouts of types, also of those that are not written any more. */
function layoutsOf(types: readonly string[], type = 'smallint'): Sql {
  return sql`ARRAY(SELECT l.id::${raw(type)} FROM action_layouts l WHERE l.type = ANY(${types}::text[]))`;
}

/** Conditions on an action `a`. */
function shownTypes({ types, supported }: ActionTypeFilter): Sql[] {
  return [sql`a.layout = ANY(${layoutsOf(types)})`, notWithin(supported)];
}

function notWithin(supported: readonly string[]): Sql {
  return sql`(a.ancestors IS NULL OR NOT a.ancestors && ${layoutsOf(supported, 'integer')})`;
}

/** The actions that match a filter, by keys. */
class ActionList {
  readonly #session: IndexSession;
  readonly #filter: ActionFilter;
  readonly #sort: 'asc' | 'desc';
  /** Roots of traces that contain the hashes of the filter; null: it has none. */
  readonly #roots: readonly bigint[] | null;
  /** Hashes of transactions of which an action must have one, for each condition on them. */
  readonly #transactions: readonly (readonly Uint8Array[])[];
  readonly #hashes: readonly ReadonlySet<string>[];
  readonly #bounds: ReturnType<typeof storableTimeRange>;

  private constructor(
    session: IndexSession,
    filter: ActionFilter,
    sort: 'asc' | 'desc',
    found: {
      readonly roots: readonly bigint[] | null;
      readonly transactions: readonly (readonly Uint8Array[])[];
      readonly bounds: ReturnType<typeof storableTimeRange>;
    },
  ) {
    this.#session = session;
    this.#filter = filter;
    this.#sort = sort;
    this.#roots = found.roots;
    this.#transactions = found.transactions;
    this.#hashes = found.transactions.map((hashes) => new Set(hashes.map(toHex)));
    this.#bounds = found.bounds;
  }

  static async open(session: IndexSession, filter: ActionFilter, sort: 'asc' | 'desc'): Promise<ActionList> {
    const { trace_id, tx_hash, msg_hash } = filter;
    const sets: (readonly bigint[])[] = [];
    const transactions: (readonly Uint8Array[])[] = [];
    const ofTraces = await rootsOf(session, { trace_id, tx_hash });
    if (ofTraces !== null) sets.push(ofTraces);
    if (tx_hash !== undefined) transactions.push(tx_hash);
    if (msg_hash !== undefined) {
      const found = await transactionsOfMessages(session, msg_hash);
      sets.push(found.map(({ root }) => root));
      transactions.push(found.map(({ hash }) => hash));
    }
    const [first, ...others] = sets;
    const roots =
      first === undefined ? null : [...new Set(first)].filter((root) => others.every((set) => set.includes(root)));
    const given = storableTimeRange(filter);
    const bounds = hasTime(given) ? await translateTimeRange(session, given) : given;
    return new ActionList(session, filter, sort, { roots, transactions, bounds });
  }

  async read({ after, offset, count }: RowWindow): Promise<ActionFound[]> {
    if (this.#roots?.length === 0 || this.#transactions.some((hashes) => hashes.length === 0)) return [];
    const dir = this.#sort;
    const ordered = (alias: string) => `${alias}.end_lt ${dir}, ${alias}.root ${dir}, ${alias}.position ${dir}`;
    const first = count + offset;
    const source = this.#source(this.#behind(after), raw(`ORDER BY ${ordered('a')} LIMIT ${first}`));
    const end = raw(`ORDER BY ${ordered('a')} LIMIT ${count}${offset === 0 ? '' : ` OFFSET ${offset}`}`);
    return this.#session.rows<ActionFound>(
      withTraces(sql`SELECT a.* FROM (${source}) AS a ${end}`, raw(`ORDER BY ${ordered('a')}`)),
      offset === 0 ? {} : { planned: 'each time' },
    );
  }

  /** Compares an action that was found by keys with the whole values of the filter. */
  holds(action: IndexedAction): boolean {
    const { account, action_id, trace_id } = this.#filter;
    if (account !== undefined && !action.accounts.some((each) => each.equals(account))) return false;
    if (action_id !== undefined && !action_id.some((id) => bytesEqual(id, action.action_id))) return false;
    if (trace_id !== undefined && !trace_id.some((id) => bytesEqual(id, action.trace_id))) return false;
    return this.#hashes.every((hashes) => action.transactions.some((hash) => hashes.has(toHex(hash))));
  }

  /** Rows of which the first ones are wanted. */
  #source(behind: (alias: string) => readonly Sql[], end: Sql): Sql {
    const { account, action_id, mc_seqno, types, supported, isSelection } = this.#filter;
    const key = account === undefined ? null : accountKey(addressBytes(account));
    const within = notWithin(supported);
    if (this.#roots === null && action_id === undefined && mc_seqno === undefined) {
      const bounds = this.#boundsOf('a');
      if (key !== null) {
        const conditions = [...this.#boundsOf('p'), ...behind('p'), sql`p.layout = ANY(${layoutsOf(types)})`];
        const dir = this.#sort;
        return sql`SELECT a.* FROM action_accounts p
          CROSS JOIN LATERAL (
            SELECT * FROM actions a WHERE a.root = p.root AND a.position = p.position AND ${all([within, ...this.#ofTraces()])} LIMIT 1
          ) AS a
          WHERE p.account_key = ${key}::bigint AND ${all(conditions)}
          ORDER BY p.end_lt ${raw(dir)}, p.root ${raw(dir)}, p.position ${raw(dir)} ${limitOf(end)}`;
      }
      if (isSelection) return this.#byType([within, ...this.#ofTraces(), ...behind('a')], end);
      const conditions = [...shownTypes(this.#filter), ...bounds, ...this.#ofTraces(), ...behind('a')];
      return sql`SELECT a.* FROM actions a WHERE ${all(conditions)} ${end}`;
    }
    const conditions = [...shownTypes(this.#filter), ...this.#boundsOf('a'), ...this.#ofTraces(), ...behind('a')];
    if (key !== null) {
      conditions.push(sql`EXISTS (
        SELECT FROM action_accounts p
        WHERE p.account_key = ${key}::bigint AND p.end_lt = a.end_lt AND p.root = a.root AND p.position = a.position OFFSET 0
      )`);
    }
    for (const hashes of this.#transactions) {
      conditions.push(
        sql`EXISTS (SELECT FROM unnest(${hashes}::bytea[]) AS h(hash) WHERE position(h.hash IN a.data) > 0)`,
      );
    }
    const ids = action_id === undefined ? null : [...new Set(action_id.map(hashKey))];
    if (this.#roots === null && mc_seqno === undefined) {
      return sql`SELECT a.* FROM unnest(${opaqueToPlanner(ids, 'bigint[]')}) AS k(key)
        CROSS JOIN LATERAL (SELECT * FROM actions a WHERE a.id_key = k.key AND ${all(conditions)} OFFSET 0) AS a ${end}`;
    }
    if (ids !== null) conditions.push(sql`a.id_key = ANY(${ids}::bigint[])`);
    if (this.#roots !== null && mc_seqno !== undefined) {
      conditions.push(
        sql`EXISTS (SELECT FROM traces x WHERE x.root = a.root AND x.mc_seqno_end = ${mc_seqno}::integer OFFSET 0)`,
      );
    }
    const roots =
      this.#roots === null
        ? sql`(SELECT x.root FROM traces x WHERE x.mc_seqno_end = ${mc_seqno}::integer AND x.state = 0 OFFSET 0) AS k`
        : sql`unnest(${opaqueToPlanner(this.#roots, 'bigint[]')}) AS k(root)`;
    return sql`SELECT a.* FROM ${roots}
      CROSS JOIN LATERAL (SELECT * FROM actions a WHERE a.root = k.root AND ${all(conditions)} OFFSET 0) AS a ${end}`;
  }

  /** Of each layout of the types the first rows: some types are so rare that no walk over all actions finds them. */
  #byType(conditions: readonly Sql[], end: Sql): Sql {
    const { start_lt, end_lt } = this.#bounds;
    const dir = raw(this.#sort);
    const place = raw('(a.layout, a.end_lt)');
    return sql`SELECT a.* FROM (SELECT l.id FROM action_layouts l WHERE l.type = ANY(${this.#filter.types}::text[])) AS k
      CROSS JOIN LATERAL (
        SELECT * FROM actions a
        WHERE ${place} >= (k.id, ${start_lt ?? LEAST}::bigint) AND ${place} <= (k.id, ${end_lt ?? GREATEST}::bigint) AND ${all(conditions)}
        ORDER BY a.layout ${dir}, a.end_lt ${dir}, a.root ${dir}, a.position ${dir} ${limitOf(end)}
      ) AS a ${end}`;
  }

  /** Conditions on the logical time of the end of the trace. */
  #boundsOf(alias: string): readonly Sql[] {
    const { start_lt, end_lt } = this.#bounds;
    return withinTimeRange({ start_lt, end_lt }, raw(`${alias}.end_lt`), emptySql);
  }

  /** Conditions on the trace itself, where the filter has them. */
  #ofTraces(): readonly Sql[] {
    const found: Sql[] = [];
    if (this.#filter.exclude_system === true) found.push(sql`NOT ${isSystemTrace(raw('a.root'))}`);
    if (hasTime(this.#filter)) {
      const { start_utime, end_utime } = this.#filter;
      const conditions = withinTimeRange({ start_utime, end_utime }, emptySql, raw('x.end_utime'));
      found.push(sql`EXISTS (SELECT FROM traces x WHERE x.root = a.root AND ${all(conditions)} OFFSET 0)`);
    }
    return found;
  }

  #behind(after: RowWindow['after']): (alias: string) => readonly Sql[] {
    if (after === null) return () => [];
    const [end_lt, root, position] = after;
    const compare = raw(this.#sort === 'desc' ? '<' : '>');
    return (alias) => {
      const place = raw(`(${alias}.end_lt, ${alias}.root, ${alias}.position)`);
      return [sql`${place} ${compare} (${end_lt}::bigint, ${root}::bigint, ${Number(position)}::integer)`];
    };
  }
}

/** The limit of a clause `ORDER BY … LIMIT …`. */
function limitOf(end: Sql): Sql {
  const text = end.strings.join('');
  return raw(text.slice(text.indexOf('LIMIT')));
}

/** The transactions that sent or received messages, by the hash of these, plain or normalized. */
async function transactionsOfMessages(
  session: IndexSession,
  msg_hash: readonly Uint8Array[],
): Promise<readonly { readonly root: bigint; readonly hash: Uint8Array }[]> {
  const keys = [...new Set(msg_hash.map(hashKey))];
  const wanted = new Set(msg_hash.map(toHex));
  const found = await session.rows<{ trace_root: bigint; boc: Uint8Array }>(
    sql`SELECT DISTINCT ON (t.id) t.id, t.trace_root, t.boc FROM (
        SELECT m.tx_id AS id FROM messages m WHERE m.msg_key = ANY(${keys}::bigint[])
        UNION
        SELECT m.tx_id AS id FROM messages m WHERE m.norm_key = ANY(${keys}::bigint[])
        UNION
        SELECT t.id FROM transactions t WHERE t.in_msg_key = ANY(${keys}::bigint[])
      ) AS m
      CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = m.id LIMIT 1) AS t`,
  );
  return found.flatMap(({ trace_root: root, boc }) => {
    const messages = new StoredMessages(boc);
    const own = messages.received === null ? messages.sent : [messages.received, ...messages.sent];
    const isMeant = own.some(({ hashes }) => hashes.some((hash) => wanted.has(toHex(hash))));
    return isMeant ? [{ root, hash: messages.hash.slice() }] : [];
  });
}

/** Decodes rows; their layouts are read when they are first seen. */
async function openActions(session: IndexSession, found: readonly ActionFound[]): Promise<IndexedAction[]> {
  const { layouts } = session.caches;
  if (found.some(({ layout }) => !layouts.has(layout))) {
    const rows = await session.rows<{ id: number; type: string; fields: string }>(
      sql`SELECT id, type, fields FROM action_layouts`,
    );
    for (const { id, type, fields } of rows) layouts.set(id, { type, layout: layoutOfText(fields) });
  }
  return found.map((row) => {
    const { type, layout } = layouts.get(row.layout) as { readonly type: string; readonly layout: ActionLayout };
    return {
      type,
      position: row.position,
      root: row.root,
      trace_id: row.trace_id,
      trace_end_lt: row.end_lt,
      trace_end_utime: Number(row.end_utime),
      trace_mc_seqno_end: row.mc_seqno_end,
      trace_external_hash: row.external_hash,
      trace_external_hash_norm: row.external_hash_norm,
      ...decodeAction(row.data, layout),
    };
  });
}
