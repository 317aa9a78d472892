import { describe, expect, it } from 'vitest';
import type { Listed, Page } from '#drivers/store/read/index-types.js';
import type { Json, V3Client } from '#test/contract/against-chain/v3-client.js';
import type { ChainFacts } from '#test/contract/against-chain/v3-facts.js';
import {
  blockList,
  byMessageList,
  type Conditions,
  type ListOfFacts,
  messageList,
  traceList,
  transactionList,
} from '#test/contract/against-chain/v3-lists.js';
import { compareCombinations, Dice } from '#test/support/filter-combinations.js';

/** What lists are asked of, and what they are compared with. */
export interface ListSubject {
  readonly client: V3Client;
  readonly facts: ChainFacts;
}

// biome-ignore lint/suspicious/noExplicitAny: lists of all kinds of facts
export type AnyList = ListOfFacts<any>;

/** By endpoint. */
const LISTS: Readonly<Record<string, (facts: ChainFacts) => AnyList>> = {
  blocks: blockList,
  transactions: transactionList,
  transactionsByMessage: byMessageList,
  messages: messageList,
  traces: traceList,
};

/** The parameters of pages. */
const PAGE_PARAMETERS = ['limit', 'offset', 'cursor', 'sort'];

/** Which parameters of which lists the tests below ask for. */
export function listedParameters(
  facts: ChainFacts,
  lists: Readonly<Record<string, (facts: ChainFacts) => AnyList>> = LISTS,
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(lists).map(([endpoint, make]) => [
      endpoint,
      [...Object.keys(make(facts).parameters), ...PAGE_PARAMETERS],
    ]),
  );
}

const LARGER = 20;

/** Lists for all sets of parameters against brute force over what `@ton/core` decoded. */
export function describeLists(
  subject: () => ListSubject,
  lists: Readonly<Record<string, (facts: ChainFacts) => AnyList>> = LISTS,
): void {
  describe.each(Object.keys(lists))('%s', (endpoint) => {
    const list = () => lists[endpoint]!(subject().facts);

    it('with every parameter, every pair and some larger sets of them, in pages', { timeout: 600_000 }, async () => {
      const { client } = subject();
      const of = list();
      const found = await compareCombinations<unknown, Conditions<unknown>, Json>(
        {
          facts: of.facts,
          parts: Object.fromEntries(
            Object.entries(of.parameters).map(([name, make]) => [name, (fact, dice) => ({ [name]: make(fact, dice) })]),
          ),
          read: (conditions, page) => readPage(client, of, conditions, page),
          nameOf: (row) => of.nameOf(row),
          expected: (conditions, sort) =>
            of.refuses(Object.keys(conditions)) ? [] : expectedNames(of, conditions, sort === 'asc' ? 1 : -1),
        },
        new Dice(endpoint.length),
        LARGER,
      );
      expect(found).toBeGreaterThan(20);
    });

    it('is another list without a parameter', { timeout: 120_000 }, async () => {
      const { client } = subject();
      const of = list();
      const dice = new Dice(7);
      for (const [name, make] of Object.entries(of.parameters)) {
        const base = of.refuses([]) && name !== 'opcode' ? { opcode: opcodeOf(of, dice) } : {};
        const plain = of.refuses(Object.keys(base)) ? null : [-1, 1].map((way) => firstPage(of, base, way).join());
        for (let tries = 0; ; tries++) {
          expect(tries, `a value of ${name} that matters`).toBeLessThan(200);
          const conditions = { ...base, [name]: make(dice.pick(of.facts), dice) };
          if (of.refuses(Object.keys(conditions))) continue;
          const way = dice.pick([-1, 1]);
          const expected = firstPage(of, conditions, way);
          if (plain?.includes(expected.join()) === true) continue;
          const sort = way === 1 ? 'asc' : 'desc';
          const { body } = await client.ask(`${requestOf(of, conditions)}&limit=100&sort=${sort}`);
          expect(body[of.member].map(of.nameOf), name).toEqual(expected);
          break;
        }
      }
    });
  });
}

/** Of a received message, for a list that is not given without a condition. */
function opcodeOf(of: AnyList, dice: Dice) {
  for (;;) {
    const condition = of.parameters.opcode!(dice.pick(of.facts), dice);
    if (expectedNames(of, { opcode: condition }, -1).length > 20) return condition;
  }
}

const firstPage = (of: AnyList, conditions: Conditions<unknown>, way: number) =>
  expectedNames(of, conditions, way).slice(0, 100);

function expectedNames(of: AnyList, conditions: Conditions<unknown>, way: number): string[] {
  const names = Object.keys(conditions);
  const all = Object.values(conditions);
  const met = of.select?.(conditions) ?? of.facts.filter((fact) => all.every((condition) => condition.meets(fact)));
  return [...met].sort((a, b) => of.compare(a, b, way, names)).map(of.nameOfFact);
}

function requestOf(of: AnyList, conditions: Conditions<unknown>): string {
  return `${of.endpoint}?${Object.values(conditions)
    .map(({ query }) => query)
    .join('&')}`;
}

async function readPage(
  client: V3Client,
  of: AnyList,
  conditions: Conditions<unknown>,
  { limit, offset, sort, cursor }: Page,
): Promise<Listed<Json>> {
  const behind = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  const from = offset === 0 ? '' : `&offset=${offset}`;
  const request = `${requestOf(of, conditions)}&limit=${limit}${from}&sort=${sort}${behind}&x_no_address_book=1`;
  if (of.refuses(Object.keys(conditions))) {
    expect((await client.refused(request)).status, request).toBe(422);
    return { rows: [], next: null };
  }
  const { body, next } = await client.ask(request);
  return { rows: body[of.member], next };
}
