import type { Json } from '#test/contract/against-chain/v3-client.js';
import type { ChainFacts } from '#test/contract/against-chain/v3-facts.js';
import {
  accountForm,
  argument,
  type Condition,
  type Conditions,
  hasUtime,
  type ListOfFacts,
  listQuery,
  order,
  times,
} from '#test/contract/against-chain/v3-lists.js';
import type { Dice } from '#test/support/filter-combinations.js';

/** A message about tokens that a verified wallet or item received; addresses in raw form, upper case. */
interface TokenEventFact {
  readonly id: bigint;
  readonly hash: string;
  readonly lt: bigint;
  readonly now: number;
  readonly account: string;
  /** The master or the collection. */
  readonly token: string | null;
  readonly source: string;
  readonly destination: string | null;
}

/** The master of each jetton wallet and the collection of each item, by address. */
export type KnownTokens = Readonly<Record<'wallets' | 'items', ReadonlyMap<string, string | null>>>;

/** How an endpoint calls what all of them have. */
interface EventNames {
  readonly endpoint: string;
  readonly member: string;
  readonly opcode: number;
  readonly of: keyof KnownTokens;
  readonly account: string;
  readonly token: string;
  readonly hasDirection: boolean;
  readonly showsAborted: boolean;
}

const JETTONS = { of: 'wallets', account: 'jetton_wallet', token: 'jetton_master' } as const;
const EVENTS: readonly EventNames[] = [
  {
    ...{ endpoint: 'jetton/transfers', member: 'jetton_transfers', opcode: 0x0f8a7ea5, ...JETTONS },
    ...{ hasDirection: true, showsAborted: false },
  },
  {
    ...{ endpoint: 'jetton/burns', member: 'jetton_burns', opcode: 0x595f07bc, ...JETTONS },
    ...{ hasDirection: false, showsAborted: true },
  },
  {
    ...{ endpoint: 'nft/transfers', member: 'nft_transfers', opcode: 0x5fcc3d14, of: 'items', account: 'item_address' },
    ...{ token: 'collection_address', hasDirection: true, showsAborted: true },
  },
];

/** Lists of events by endpoint. */
export const TOKEN_LISTS: Readonly<
  Record<string, (facts: ChainFacts, known: KnownTokens) => ListOfFacts<TokenEventFact>>
> = Object.fromEntries(EVENTS.map((names) => [names.endpoint, (facts, known) => eventList(names, facts, known)]));

function eventFacts(names: EventNames, { transactions }: ChainFacts, known: KnownTokens): TokenEventFact[] {
  return transactions.flatMap(({ json, in_msg, id, hash, lt, now, account }) => {
    const { description } = json as Json;
    const token = known[names.of].get(account);
    const source = in_msg?.json.source as string | null | undefined;
    if (token === undefined || in_msg === null || source == null || (description.aborted && !names.showsAborted))
      return [];
    const body = in_msg.body.beginParse();
    if (body.remainingBits < 32 || body.loadUint(32) !== names.opcode) return [];
    body.loadUintBig(64);
    if (names.of === 'wallets') body.loadCoins();
    const destination = names.hasDirection ? (body.loadMaybeAddress()?.toRawString().toUpperCase() ?? null) : null;
    return [{ id, hash, lt, now, account, token, source, destination }];
  });
}

/** A condition on owners, or on the way, which goes with an owner. */
interface OwnerCondition extends Condition<TokenEventFact> {
  readonly owners: readonly string[];
  readonly direction?: 'in' | 'out';
}

function eventList(names: EventNames, chain: ChainFacts, known: KnownTokens): ListOfFacts<TokenEventFact> {
  const facts = eventFacts(names, chain, known);
  const someone = (fact: TokenEventFact, dice: Dice) => dice.pick([fact.source, fact.destination ?? fact.source]);
  const list = (name: string, most: number, take: (fact: TokenEventFact, dice: Dice) => string) => ({
    [name]: (fact: TokenEventFact, dice: Dice): OwnerCondition => {
      const owners = [take(fact, dice)];
      for (let more = dice.below(most); more > 0; more--) owners.push(take(dice.pick(facts), dice));
      const forms = owners.map((owner) => accountForm(owner, dice));
      const query = listQuery(name, forms, dice);
      return { query, owners, meets: ({ account }) => owners.includes(account) };
    },
  });
  const direction = (fact: TokenEventFact, dice: Dice): OwnerCondition => {
    const side = dice.pick(['in', 'out'] as const);
    const owner = someone(fact, dice);
    const query = `${argument('direction', side)}&${argument('owner_address', accountForm(owner, dice))}`;
    return { query, owners: [owner], direction: side, meets: () => true };
  };
  return {
    endpoint: names.endpoint,
    member: names.member,
    facts,
    parameters: {
      ...list('owner_address', 3, someone),
      ...list('address', 3, someone),
      ...list(names.account, 3, ({ account }) => account),
      [names.token]: (fact, dice) => {
        const token = fact.token ?? (facts.find((one) => one.token !== null)!.token as string);
        return { query: argument(names.token, accountForm(token, dice)), meets: (other) => other.token === token };
      },
      ...(names.hasDirection ? { direction } : {}),
      ...times<TokenEventFact>(
        ({ lt }) => lt,
        ({ now }) => now,
      ),
    },
    nameOf: ({ transaction_hash }) => transaction_hash,
    nameOfFact: ({ hash }) => hash,
    refuses: (given) => given.includes('address') && (given.includes('owner_address') || given.includes('direction')),
    compare: (a, b, way, given) =>
      (hasUtime(given) ? way * (a.now - b.now) : 0) || way * order(a.lt, b.lt) || order(a.id, b.id),
    select: (conditions) => selectEvents(facts, conditions),
  };
}

function selectEvents(
  facts: readonly TokenEventFact[],
  { owner_address, address, direction, ...others }: Conditions<TokenEventFact>,
): readonly TokenEventFact[] {
  const given = [owner_address, address, direction].filter((one) => one !== undefined) as OwnerCondition[];
  const owners = given.flatMap((one) => one.owners);
  const side = (direction as OwnerCondition | undefined)?.direction;
  return facts.filter(
    (fact) =>
      Object.values(others).every((condition) => condition.meets(fact)) &&
      (given.length === 0 ||
        (side !== 'in' && owners.includes(fact.source)) ||
        (side !== 'out' && fact.destination !== null && owners.includes(fact.destination))),
  );
}
