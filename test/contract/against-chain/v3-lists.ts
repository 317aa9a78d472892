import { Address } from '@ton/core';
import type { Json } from '#test/contract/against-chain/v3-client.js';
import type {
  BlockFact,
  ChainFacts,
  MessageFact,
  TraceFact,
  TransactionFact,
} from '#test/contract/against-chain/v3-facts.js';
import type { Dice } from '#test/support/filter-combinations.js';

/** A parameter with a value: how it is asked for, and what meets it. */
export interface Condition<Fact> {
  /** Arguments of the query: `name=value`. */
  readonly query: string;
  meets(fact: Fact): boolean;
}

/** What a list is asked for, by parameter. */
export type Conditions<Fact> = Readonly<Record<string, Condition<Fact>>>;

/** A list of the API, and how a list of all facts is made into it. */
export interface ListOfFacts<Fact> {
  readonly endpoint: string;
  /** Where the rows stand in the answer. */
  readonly member: string;
  readonly facts: readonly Fact[];
  /** Every parameter but those of pages, with a value that something near the fact meets. */
  readonly parameters: Readonly<Record<string, (fact: Fact, dice: Dice) => Condition<Fact>>>;
  /** What names a row, and the fact behind it. */
  nameOf(row: Json): string;
  nameOfFact(fact: Fact): string;
  /** Whether parameters must not be given together, or not alone. */
  refuses(names: readonly string[]): boolean;
  /** @param way 1: rising, -1: falling */
  compare(a: Fact, b: Fact, way: number, names: readonly string[]): number;
  /** All that meet, when it is not each for itself. */
  select?(conditions: Conditions<Fact>): readonly Fact[];
}

const NOWHERE = Buffer.alloc(32, 7).toString('base64');

/** A name and a value that must be escaped. */
export const argument = (name: string, value: string | number | bigint): string =>
  `${name}=${encodeURIComponent(String(value))}`;

/** A list in one of its forms: repeated, with brackets, with commas. */
export function listQuery(name: string, values: readonly string[], dice: Dice): string {
  const form = dice.below(3);
  if (form === 0) return values.map((value) => argument(name, value)).join('&');
  if (form === 1) return values.map((value) => argument(`${name}[]`, value)).join('&');
  return argument(name, values.join(','));
}

/** An account in one of the forms that it may have. */
export function accountForm(raw: string, dice: Dice): string {
  const address = Address.parse(raw);
  return dice.pick([
    raw,
    raw.toLowerCase(),
    address.toString(),
    address.toString({ bounceable: false }),
    address.toString({ urlSafe: false, testOnly: true }),
  ]);
}

function hashForm(base64: string, dice: Dice): string {
  const bytes = Buffer.from(base64, 'base64');
  const hex = bytes.toString('hex');
  return dice.pick([base64, base64.replaceAll('+', '-').replaceAll('/', '_'), hex, `0x${hex}`, hex.toUpperCase()]);
}

function shardForm(hex: string, dice: Dice): string {
  return dice.pick([hex, `0x${hex}`, hex.toLowerCase(), BigInt.asIntN(64, BigInt(`0x${hex}`)).toString()]);
}

/** As the live service reads it: what can be hexadecimal, is. */
function opcodeForm(hex: string, dice: Dice): string {
  const signed = Number(hex) | 0;
  return signed < 0 ? dice.pick([hex, hex.slice(2), String(signed)]) : dice.pick([hex, hex.slice(2)]);
}

const single = <Fact, Value extends string | number>(
  name: string,
  take: (fact: Fact) => Value,
  form: (value: Value, dice: Dice) => string = String,
) => ({
  [name]: (fact: Fact, dice: Dice): Condition<Fact> => {
    const value = take(fact);
    return { query: argument(name, form(value, dice)), meets: (other) => take(other) === value };
  },
});

/** A list of hashes: those of the fact, of another one, and one that there is not. */
const hashes = <Fact>(name: string, facts: readonly Fact[], hashesOf: (fact: Fact) => readonly string[]) => ({
  [name]: (fact: Fact, dice: Dice): Condition<Fact> => {
    const own = hashesOf(fact);
    const others = hashesOf(dice.pick(facts));
    const asked = [own.length === 0 ? NOWHERE : dice.pick(own), NOWHERE, others[0] ?? NOWHERE];
    const query = listQuery(
      name,
      asked.map((hash) => hashForm(hash, dice)),
      dice,
    );
    return { query, meets: (other) => hashesOf(other).some((hash) => asked.includes(hash)) };
  },
});

/** Bounds near the time of a fact, or just at it. A fact without time is in none. */
export function times<Fact>(lt: (fact: Fact) => bigint | null, utime: (fact: Fact) => number | null) {
  const bound = (
    name: string,
    time: (fact: Fact) => bigint | number | null,
    distances: readonly number[],
    way: number,
  ) => ({
    [name]: (fact: Fact, dice: Dice): Condition<Fact> => {
      const at = BigInt(time(fact) ?? 0) - BigInt(way * dice.pick(distances));
      const value = at < 0n ? 0n : at;
      const inside = (other: bigint) => (way > 0 ? other >= value : other <= value);
      return {
        query: argument(name, value),
        meets: (other) => {
          const found = time(other);
          return found !== null && inside(BigInt(found));
        },
      };
    },
  });
  return {
    ...bound('start_lt', lt, [0, 1, 2_000_000, 60_000_000], 1),
    ...bound('end_lt', lt, [0, 1, 2_000_000, 60_000_000], -1),
    ...bound('start_utime', utime, [0, 1, 5, 60], 1),
    ...bound('end_utime', utime, [0, 1, 5, 60], -1),
  };
}

export const hasUtime = (names: readonly string[]) => names.includes('start_utime') || names.includes('end_utime');
const hasLt = (names: readonly string[]) => names.includes('start_lt') || names.includes('end_lt');
export const order = <T extends bigint | number | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
const never = () => false;

export function blockList({ blocks }: ChainFacts): ListOfFacts<BlockFact> {
  return {
    endpoint: 'blocks',
    member: 'blocks',
    facts: blocks,
    parameters: {
      ...single('workchain', (fact: BlockFact) => fact.workchain),
      ...single('shard', (fact: BlockFact) => fact.shard, shardForm),
      ...single('seqno', (fact: BlockFact) => fact.seqno),
      ...single('root_hash', (fact: BlockFact) => fact.json.root_hash as string, hashForm),
      ...single('file_hash', (fact: BlockFact) => fact.json.file_hash as string, hashForm),
      ...single('mc_seqno', (fact: BlockFact) => fact.mc_seqno),
      ...times<BlockFact>(
        (fact) => fact.start_lt,
        (fact) => fact.gen_utime,
      ),
    },
    nameOf: ({ workchain, shard, seqno }) => `${workchain}:${shard}:${seqno}`,
    nameOfFact: ({ name }) => name,
    refuses: never,
    compare: (a, b, way, names) =>
      way *
      ((hasLt(names) && !hasUtime(names) ? order(a.start_lt, b.start_lt) : a.gen_utime - b.gen_utime) ||
        order(a.id, b.id)),
  };
}

export function transactionList({ transactions }: ChainFacts): ListOfFacts<TransactionFact> {
  const accounts = (name: string, most: number, excluded: boolean) => ({
    [name]: (fact: TransactionFact, dice: Dice): Condition<TransactionFact> => {
      const others = Array.from({ length: dice.below(most) }, () => dice.pick(transactions).account);
      const asked = excluded ? [dice.pick(transactions).account, ...others] : [fact.account, ...others];
      const query = listQuery(
        name,
        asked.map((account) => accountForm(account, dice)),
        dice,
      );
      return { query, meets: ({ account }) => asked.includes(account) !== excluded };
    },
  });
  return {
    endpoint: 'transactions',
    member: 'transactions',
    facts: transactions,
    parameters: {
      ...single('workchain', (fact: TransactionFact) => fact.block.workchain),
      ...single('shard', (fact: TransactionFact) => fact.block.shard, shardForm),
      ...single('seqno', (fact: TransactionFact) => fact.block.seqno),
      ...single('mc_seqno', (fact: TransactionFact) => fact.mc_seqno),
      ...accounts('account', 3, false),
      ...accounts('exclude_account', 3, true),
      ...hashes('hash', transactions, ({ hash }) => [hash]),
      ...single('lt', (fact: TransactionFact) => String(fact.lt)),
      ...times<TransactionFact>(
        (fact) => fact.lt,
        (fact) => fact.now,
      ),
    },
    nameOf: ({ hash }) => hash,
    nameOfFact: ({ hash }) => hash,
    refuses: never,
    compare: (a, b, way, names) =>
      (hasUtime(names) ? way * (a.now - b.now) : 0) || way * order(a.lt, b.lt) || order(a.id, b.id),
  };
}

const NULL = 'null';

/** Parameters about messages that two lists have. */
function messageParameters(
  facts: readonly MessageFact[],
  takesNull: boolean,
): ListOfFacts<MessageFact>['parameters'] &
  Record<'opcode', (fact: MessageFact, dice: Dice) => Condition<MessageFact>> {
  const withOpcode = single('opcode', (fact: MessageFact) => fact.opcode ?? '0x00000000', opcodeForm).opcode!;
  const account = (name: 'source' | 'destination') => ({
    [name]: (fact: MessageFact, dice: Dice): Condition<MessageFact> => {
      const found = fact[name] ?? (takesNull ? NULL : (facts.find((one) => one[name] !== null)![name] as string));
      const query = argument(name, found === NULL ? NULL : accountForm(found, dice));
      return { query, meets: (other) => (other[name] ?? NULL) === found };
    },
  });
  return {
    ...hashes('msg_hash', facts, ({ hash, hash_norm }) => [hash, hash_norm]),
    ...single('body_hash', (fact: MessageFact) => fact.body_hash, hashForm),
    ...account('source'),
    ...account('destination'),
    // Messages without one are met by none.
    opcode: (fact, dice) => {
      const wanted = withOpcode(fact, dice);
      return { query: wanted.query, meets: (other) => other.opcode !== null && wanted.meets(other) };
    },
    direction: (_: MessageFact, dice: Dice): Condition<MessageFact> => {
      const side = dice.pick(['in', 'out']);
      const meets = ({ sender, receiver }: MessageFact) => (side === 'in' ? receiver : sender) !== null;
      return { query: argument('direction', side), meets };
    },
  };
}

export function messageList({ messages }: ChainFacts): ListOfFacts<MessageFact> {
  const parameters = messageParameters(messages, true);
  const flag = (name: string, fromOutside: boolean) => ({
    [name]: (_: MessageFact, dice: Dice): Condition<MessageFact> => {
      const on = dice.below(4) > 0;
      const query = argument(name, dice.pick(on ? ['true', '1', 'on', 'T'] : ['false', '0']));
      return { query, meets: ({ created_lt }) => !on || (created_lt === null) === fromOutside };
    },
  });
  return {
    endpoint: 'messages',
    member: 'messages',
    facts: messages,
    parameters: {
      ...parameters,
      ...hashes('hash', messages, ({ hash, hash_norm }) => [hash, hash_norm]),
      ...times<MessageFact>(
        (fact) => fact.created_lt,
        (fact) => fact.created_at,
      ),
      ...flag('exclude_externals', false),
      ...flag('only_externals', true),
    },
    nameOf: ({ hash }) => hash,
    nameOfFact: ({ hash }) => hash,
    refuses: (names) => names.includes('hash') && names.includes('msg_hash'),
    compare: (a, b, way, names) => {
      const time = ({ created_lt, created_at }: MessageFact) =>
        hasUtime(names) ? (created_at ?? Number.POSITIVE_INFINITY) : (created_lt ?? 2n ** 64n);
      return way * (order<bigint | number>(time(a), time(b)) || order(a.hash, b.hash));
    },
  };
}

/** Transactions one of whose messages meets everything; the opcode is that of the message received. */
export function byMessageList({ messages, transactions }: ChainFacts): ListOfFacts<TransactionFact> {
  const byHash = new Map(messages.map((message) => [message.hash, message]));
  const parameters = messageParameters(messages, false);
  /** A condition on messages in the place of one on transactions. */
  const hidden = new WeakMap<Condition<TransactionFact>, Condition<MessageFact>>();
  const lifted = Object.entries(parameters).map(([name, make]) => [
    name,
    (fact: TransactionFact, dice: Dice): Condition<TransactionFact> => {
      const own = [...(fact.in_msg === null ? [] : [fact.in_msg]), ...fact.out_msgs];
      const about = own.length === 0 ? dice.pick(messages) : byHash.get(own[0]!.hash)!;
      const of = make!(about, dice);
      const condition = { query: of.query, meets: () => true };
      hidden.set(condition, of);
      return condition;
    },
  ]);
  return {
    endpoint: 'transactionsByMessage',
    member: 'transactions',
    facts: transactions,
    parameters: Object.fromEntries(lifted),
    nameOf: ({ hash }) => hash,
    nameOfFact: ({ hash }) => hash,
    refuses: (names) => !names.some((name) => ['msg_hash', 'body_hash', 'opcode'].includes(name)),
    compare: (a, b, way) => way * order(a.lt, b.lt) || order(a.id, b.id),
    select: (conditions) => {
      const about = Object.entries(conditions).filter(([name]) => name !== 'direction');
      const meets = (message: { hash: string }) =>
        about.every(([, condition]) => hidden.get(condition)!.meets(byHash.get(message.hash)!));
      const side = conditions.direction?.query.split('=')[1];
      return transactions.filter(
        ({ in_msg, out_msgs }) =>
          (side !== 'out' && in_msg !== null && meets(in_msg)) ||
          (side !== 'in' && conditions.opcode === undefined && out_msgs.some(meets)),
      );
    },
  };
}

export function traceList({ traces, messages }: ChainFacts): ListOfFacts<TraceFact> {
  const norms = new Map(messages.map(({ hash, hash_norm }) => [hash, hash_norm]));
  const messagesOf = ({ transactions }: TraceFact) =>
    transactions.flatMap(({ in_msg, out_msgs }) =>
      [...(in_msg === null ? [] : [in_msg]), ...out_msgs].flatMap(({ hash }) => [hash, norms.get(hash)!]),
    );
  const single_names = ['account', 'trace_id', 'tx_hash', 'msg_hash'];
  return {
    endpoint: 'traces',
    member: 'traces',
    facts: traces,
    parameters: {
      account: (fact, dice) => {
        const { account } = dice.pick(fact.transactions);
        const meets = ({ transactions }: TraceFact) => transactions.some((one) => one.account === account);
        return { query: argument('account', accountForm(account, dice)), meets };
      },
      ...hashes('trace_id', traces, ({ trace_id }) => [trace_id]),
      ...hashes('tx_hash', traces, ({ transactions }) => transactions.map(({ hash }) => hash)),
      ...hashes('msg_hash', traces, messagesOf),
      mc_seqno: ({ mc_seqno_end: asked }) => ({
        query: argument('mc_seqno', asked),
        meets: ({ mc_seqno_end, complete }) => complete && mc_seqno_end === asked,
      }),
      ...times<TraceFact>(
        (fact) => fact.end_lt,
        (fact) => fact.end_utime,
      ),
    },
    nameOf: ({ trace_id }) => trace_id,
    nameOfFact: ({ trace_id }) => trace_id,
    refuses: (names) => names.filter((name) => single_names.includes(name)).length > 1,
    compare: (a, b, way, names) =>
      way * ((hasUtime(names) ? a.end_utime - b.end_utime : order(a.end_lt, b.end_lt)) || order(a.root, b.root)),
  };
}
