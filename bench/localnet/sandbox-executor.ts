import { Cell as CoreCell } from '@ton/core';
import { Executor } from '@ton/sandbox/dist/executor/Executor.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { bytesEqual, fromBase64, toBase64 } from '#kernel/bytes.js';
import type { MadeTransaction } from './transfer-network.js';

/** Makes transactions again, one after the other, as a `Blockchain` of @ton/sandbox has them made. */
export class SandboxExecutor {
  readonly #executor: Executor;
  readonly #configs = new WeakMap<Cell, string>();

  private constructor(executor: Executor) {
    this.#executor = executor;
  }

  static async create(): Promise<SandboxExecutor> {
    return new SandboxExecutor(await Executor.create());
  }

  /** What does the same work once more; what it takes is prepared before. It gives the transactions. */
  prepare(made: readonly MadeTransaction[]): () => Promise<(string | null)[]> {
    const calls = made.map(({ request }) => {
      const common = {
        config: this.#config(request.config),
        libs: null,
        verbosity: 'short' as const,
        shardAccount: toBase64(serializeBoc(request.shard_account)),
        now: request.now,
        lt: request.lt,
        randomSeed: Buffer.from(request.rand_seed!),
        ignoreChksig: false,
        debugEnabled: false,
      };
      if ('which' in request) return () => this.#executor.runTickTock({ ...common, which: request.which });
      const [message] = CoreCell.fromBoc(Buffer.from(serializeBoc(request.message)));
      return () => this.#executor.runTransaction({ ...common, message: message! });
    });
    return async () => {
      const found: (string | null)[] = [];
      for (const call of calls) {
        const { result } = await call();
        found.push(result.success ? result.transaction : null);
      }
      return found;
    };
  }

  /** @throws when a transaction is another one */
  static compare(made: readonly MadeTransaction[], found: readonly (string | null)[]): void {
    for (const [i, { result }] of made.entries()) {
      const other = found[i] ?? null;
      const expected = result.accepted ? result.transaction.hash() : null;
      const actual = other === null ? null : parseBocRoot(fromBase64(other)!).hash();
      const same = expected === null || actual === null ? expected === actual : bytesEqual(expected, actual);
      if (!same) throw new Error(`transaction ${i} of a bundle is another one in the executor of @ton/sandbox`);
    }
  }

  #config(root: Cell): string {
    const known = this.#configs.get(root) ?? toBase64(serializeBoc(root));
    this.#configs.set(root, known);
    return known;
  }
}
