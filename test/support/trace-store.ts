import {
  findOrphanJoins,
  growTrace,
  joinTraces,
  OpenMessages,
  type Trace,
  type UnmatchedMessage,
} from '#domain/traces/trace.js';
import { TraceAssembler, type TraceTransaction } from '#domain/traces/trace-assembler.js';

export interface StoredTrace extends Trace {
  /** Sorted. */
  readonly accounts: readonly bigint[];
}

/** An index of traces in memory, written as a database is: batch by batch, with joins after each. */
export class TraceStore {
  readonly opened = new OpenMessages();
  readonly orphans = new OpenMessages();
  readonly #traces = new Map<bigint, Trace>();
  readonly #accounts = new Map<bigint, Set<bigint>>();
  /** Root by transaction. */
  readonly #roots = new Map<bigint, bigint>();

  /** Adds whole masterchain blocks, with what the store knows as hints or without any. */
  add(batch: readonly TraceTransaction[], hints: boolean): void {
    const assembler = new TraceAssembler(hints ? this.opened : undefined);
    for (const transaction of batch) this.#roots.set(transaction.id, assembler.add(transaction));
    const { started, continued, opened, orphans, received: arrived } = assembler.finish();
    for (const { accounts, ...trace } of started) {
      this.#traces.set(trace.root, trace);
      this.#accounts.set(trace.root, new Set(accounts));
    }
    for (const { accounts, ...growth } of continued) {
      this.#traces.set(growth.root, growTrace(this.#traces.get(growth.root), growth));
      for (const account of accounts) this.#accounts.get(growth.root)!.add(account);
    }
    this.opened.remove(arrived);
    this.opened.add(opened);
    this.orphans.add(orphans);
    this.#join();
  }

  #join(): void {
    const joins = findOrphanJoins(this.opened, this.orphans);
    const concerned = new Set(joins.flatMap(({ parent, orphan }) => [parent, orphan]));
    const { traces, absorbed: moved } = joinTraces(
      joins,
      Array.from(concerned, (root) => this.#traces.get(root)!),
    );
    this.opened.remove(joins.map(({ hash }) => ({ hash, root: 0n })));
    this.orphans.remove(joins.map(({ hash }) => ({ hash, root: 0n })));
    for (const trace of traces) this.#traces.set(trace.root, trace);
    const to = new Map(moved.map((each) => [each.from, each.to]));
    for (const [from, root] of to) {
      this.#traces.delete(from);
      for (const account of this.#accounts.get(from)!) this.#accounts.get(root)!.add(account);
      this.#accounts.delete(from);
    }
    for (const [id, root] of this.#roots) this.#roots.set(id, to.get(root) ?? root);
    this.opened.add(Array.from(this.opened, ({ hash, root }) => ({ hash, root: to.get(root) ?? root })));
  }

  /** All that is stored, in one order. */
  content() {
    const traces = Array.from(this.#traces.values(), (trace): StoredTrace => {
      const accounts = Array.from(this.#accounts.get(trace.root)!).sort(byNumber);
      return { ...trace, accounts };
    });
    return {
      traces: traces.sort((a, b) => byNumber(a.root, b.root)),
      roots: Array.from(this.#roots).sort(([a], [b]) => byNumber(a, b)),
      opened: messages(this.opened),
      orphans: messages(this.orphans),
    };
  }
}

function byNumber(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}

function messages(list: Iterable<UnmatchedMessage>): string[] {
  return Array.from(list, ({ hash, root }) => `${Buffer.from(hash).toString('hex')} of ${root}`).sort();
}
