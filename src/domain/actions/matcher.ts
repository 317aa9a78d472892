import type { ActionBlock } from '#domain/actions/block.js';
import { actionsErrors } from '#domain/actions/errors.js';
import type { Expectation, MatchContext, Matched, MatchedBy, MissReason, Step } from '#domain/actions/pattern.js';
import type { ContractFacts, FactInterface, FactRequest, TraceFacts } from '#domain/actions/trace-facts.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';

/** Steps that matching may take: some for each trace, and more for each transaction. */
const STEPS = 100_000;
const STEPS_PER_TRANSACTION = 2_000;

/** Facts that one classification may ask for: some for each trace, and more for each transaction. */
const WANTED = 100;
const WANTED_PER_TRANSACTION = 4;

/** Matches steps with blocks, within bounds. One per trace. */
export class Matcher implements MatchContext {
  readonly #facts: TraceFacts;
  readonly #transactions: number;
  readonly #wanted = new Map<string, FactRequest>();
  #steps: number;
  /** The reason of the match that got furthest. */
  #reason: MissReason | null = null;
  #reach = 0;

  constructor(facts: TraceFacts, transactions: number) {
    this.#facts = facts;
    this.#transactions = transactions;
    this.#steps = STEPS + transactions * STEPS_PER_TRANSACTION;
  }

  get wanted(): readonly FactRequest[] {
    return [...this.#wanted.values()];
  }

  /** The reason why the last match failed. */
  takeReason(): MissReason | null {
    const reason = this.#reason;
    this.#reason = null;
    this.#reach = 0;
    return reason;
  }

  /** Counts a step. @throws actions/too-complex */
  spend(steps = 1): void {
    this.#steps -= steps;
    if (this.#steps >= 0) return;
    const transactions = this.#transactions;
    throw actionsErrors['too-complex']({ steps: STEPS + transactions * STEPS_PER_TRANSACTION, transactions });
  }

  /** What a contract is; null when it is not known to be anything. */
  contract(address: Address | null): ContractFacts | null {
    if (address === null) return null;
    const known = this.#facts.contract(address);
    if (known === undefined) this.#want({ address, what: 'contract' });
    return known ?? null;
  }

  /** The state of a contract as one interface. */
  fact<Name extends FactInterface>(address: Address | null, name: Name): NonNullable<ContractFacts[Name]> | null {
    return (this.contract(address)?.[name] ?? null) as NonNullable<ContractFacts[Name]> | null;
  }

  /** Data of an account. */
  contractData(address: Address): Cell | null {
    const known = this.#facts.data(address);
    if (known === undefined) this.#want({ address, what: 'data' });
    return known ?? null;
  }

  #want(request: FactRequest): void {
    if (this.#wanted.size >= WANTED + this.#transactions * WANTED_PER_TRANSACTION) return;
    this.#wanted.set(`${request.what} ${request.address.toRaw()}`, request);
  }

  /** Refuses the match. @throws actions/mismatch */
  refuse(problem: string): never {
    throw actionsErrors.mismatch({ problem });
  }

  /** Refuses the match unless the condition holds. */
  check(condition: boolean, problem: string): void {
    if (!condition) this.refuse(problem);
  }

  /** Decodes the start of a cell. @throws as decoding it, which refuses the match */
  read<Data>(codec: Codec<Data>, cell: Cell): Data {
    return codec.load(openCell(cell));
  }

  /** As {@link read}; null when it does not decode. */
  readIf<Data>(codec: Codec<Data>, cell: Cell | null): Data | null {
    if (cell === null) return null;
    try {
      return codec.load(openCell(cell));
    } catch (error) {
      if (isTernError(error)) return null;
      throw error;
    }
  }

  /** The block as a step, with what follows from it; null when it does not match. */
  match<S extends Step>(step: S, block: ActionBlock | null, name = 'start'): Matched<S> | null {
    return block === null ? null : (this.#match(step, block, name, 1) as Matched<S> | null);
  }

  /** The first block after this one that matches. */
  after<S extends Step>(block: ActionBlock, step: S, taken: ReadonlySet<ActionBlock> = NONE): Matched<S> | null {
    return this.#find(step, block.next, taken, 'next', 1) as Matched<S> | null;
  }

  /** All blocks after this one that match. */
  allAfter<S extends Step>(block: ActionBlock, step: S): Matched<S>[] {
    const found: Matched<S>[] = [];
    for (const one of block.next) {
      const matched = this.#match(step, one, 'next', 1);
      if (matched !== null) found.push(matched as Matched<S>);
    }
    return found;
  }

  #match(step: Step, block: ActionBlock, name: string, reach: number): AnyMatch | null {
    this.spend();
    if (block.parent !== null || !hasKey(block, step.keys)) return null;
    const { from, to, where, next, before } = step;
    if (from !== null && !this.#has(block.source, from, name, reach)) return null;
    if (to !== null && !this.#has(block.destination, to, name, reach)) return null;
    const match: AnyMatch = { block, data: null };
    try {
      match.data = step.read(block);
    } catch (error) {
      this.fail(reasonOf(error, name), reach);
      return null;
    }
    for (const [condition, holds] of Object.entries(where)) {
      if (holds(block, match.data, this)) continue;
      this.fail({ kind: 'condition', step: name, problem: condition }, reach);
      return null;
    }
    if (before !== null) {
      const found = this.#expect(
        before,
        block.previous === null ? NONE : new Set([block.previous]),
        NONE,
        'before',
        reach + 1,
      );
      if (found === undefined) return null;
      match.before = found;
    }
    const names = Object.keys(next);
    if (names.length === 0) return match;
    const taken = new Set<ActionBlock>();
    for (const one of names) {
      const found = this.#expect(next[one]!, block.next, taken, one, reach + 1);
      if (found === undefined) return null;
      match[one] = found;
      for (const each of Array.isArray(found) ? found : [found]) if (each !== null) taken.add((each as AnyMatch).block);
    }
    return match;
  }

  /** Undefined: what is required is missing. */
  #expect(
    expected: Expectation,
    among: ReadonlySet<ActionBlock>,
    taken: ReadonlySet<ActionBlock>,
    name: string,
    reach: number,
  ): unknown {
    switch (expected.presence) {
      case 'optional':
        return this.#expect(expected.step as Expectation, among, taken, name, reach) ?? null;
      case 'each': {
        const all: AnyMatch[] = [];
        for (const block of among) {
          if (taken.has(block)) continue;
          const found = this.#expect(expected.step as Expectation, new Set([block]), taken, name, reach);
          if (found !== undefined) all.push(found as AnyMatch);
        }
        return all;
      }
      case 'one of':
        for (const option of expected.options as readonly Step[]) {
          const found = this.#find(option, among, taken, name, reach);
          if (found !== null) return found;
        }
        break;
      default: {
        const found = this.#find(expected, among, taken, name, reach);
        if (found !== null) return found;
      }
    }
    this.fail({ kind: 'missing-step', step: name }, reach - 1);
    return undefined;
  }

  #find(
    step: Step,
    among: ReadonlySet<ActionBlock>,
    taken: ReadonlySet<ActionBlock>,
    name: string,
    reach: number,
  ): AnyMatch | null {
    for (const block of among) {
      if (taken.has(block)) continue;
      const matched = this.#match(step, block, name, reach);
      if (matched !== null) return matched;
    }
    return null;
  }

  #has(address: Address | null, wanted: FactInterface, step: string, reach: number): boolean {
    const known = this.fact(address, wanted);
    if (known !== null && known !== false) return true;
    if (address !== null) this.fail({ kind: 'interface', step, address, wanted }, reach);
    return false;
  }

  /** Remembers why a match failed, if it got at least as far as the others. */
  fail(reason: MissReason, reach = 100): void {
    if (this.#reason !== null && reach <= this.#reach) return;
    this.#reason = reason;
    this.#reach = reach;
  }
}

/** A match before its type is known. */
interface AnyMatch {
  readonly block: ActionBlock;
  data: unknown;
  [name: string]: unknown;
}

const NONE: ReadonlySet<ActionBlock> = new Set();

function hasKey(block: ActionBlock, keys: readonly (number | string)[]): boolean {
  if (keys.length === 0) return true;
  for (const key of keys) {
    if (key === block.opcode || key === block.kind) return true;
    if (key === 'deploys' && block.deployments.length === 1) return true;
  }
  return false;
}

/** The reason in an error of decoding or of a refusal. @throws the error itself when it is a defect */
export function reasonOf(error: unknown, step: string): MissReason {
  if (!isTernError(error)) throw error;
  if (error.code === 'actions/mismatch') return { kind: 'condition', step, problem: String(error.data.problem) };
  if (!/^(cells|tlb|address)\//.test(error.code)) throw error;
  return { kind: 'body', step, field: error.path, bit: bitOf(error), problem: error.message };
}

function bitOf({ data }: TernError): number {
  return typeof data.bit === 'number' ? data.bit : 0;
}

/** All blocks of a match, with those that its further steps matched. */
export function blocksOf(match: MatchedBy<Expectation>, into: Set<ActionBlock> = new Set()): Set<ActionBlock> {
  const { block, data: _, ...further } = match as unknown as AnyMatch;
  into.add(block);
  for (const one of Object.values(further)) {
    if (one === null || one === undefined) continue;
    for (const each of Array.isArray(one) ? one : [one]) blocksOf(each as never, into);
  }
  return into;
}
