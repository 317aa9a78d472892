import { ConfigImages } from '#drivers/tvm/config-image.js';
import { compileEmulator } from '#drivers/tvm/emulator-module.js';
import { tvmErrors } from '#drivers/tvm/errors.js';
import {
  type GetMethodRequest,
  type GetMethodResult,
  getMethodParts,
  getMethodResult,
  resultWithoutCode,
} from '#drivers/tvm/get-method.js';
import { findLibraries, LibraryCollection } from '#drivers/tvm/libraries.js';
import type { TvmMetrics } from '#drivers/tvm/metrics.js';
import { checkTvmSettings, type TvmModules, type TvmOptions, type TvmSettings } from '#drivers/tvm/options.js';
import { prevBlocksText } from '#drivers/tvm/prev-blocks-info.js';
import { bocOf } from '#drivers/tvm/request-fields.js';
import {
  librariesOfTransaction,
  type TickTockRequest,
  type TransactionRequest,
  type TransactionResult,
  transactionParts,
  transactionResult,
} from '#drivers/tvm/transaction.js';
import { type RunOptions, WorkerPool } from '#drivers/tvm/worker-pool.js';
import type { Job, Reply } from '#drivers/tvm/worker-protocol.js';
import type { Cell } from '#formats/cells/cell.js';
import { fromHex, toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** How often a get method is run again with a library that it lacked. */
const MAX_LIBRARY_RUNS = 8;

/** Get methods that are known to look at the configuration. */
const MAX_CONFIG_READERS = 4_096;

/** Runs contracts in worker threads, on the emulator that the C++ node is compiled to. */
export class TvmPool {
  readonly #settings: TvmSettings;
  readonly #configs: ConfigImages;
  readonly #workers: WorkerPool;
  /** Code hash and method id of get methods that are run with the whole configuration at once. */
  readonly #configReaders = new Set<string>();
  #getMethods = 0;
  #getMethodsWithConfig = 0;
  #transactions = 0;
  readonly #failures: Record<string, number> = {};

  /** @throws tvm/bad-option */
  constructor(options: TvmOptions, modules: TvmModules) {
    this.#settings = checkTvmSettings(options);
    this.#configs = new ConfigImages(this.#settings.configs);
    this.#workers = new WorkerPool(this.#settings, modules);
  }

  /** Compiles the emulator and starts the workers; resolves when the first one is ready. @throws tvm/not-started */
  async start(): Promise<void> {
    await this.#workers.start(await compileEmulator());
  }

  /** Stops all workers; what runs or waits fails with tvm/closed. */
  async close(): Promise<void> {
    await this.#workers.close();
  }

  metrics(): TvmMetrics {
    return {
      ...this.#workers.counts(),
      get_methods: this.#getMethods,
      get_methods_with_config: this.#getMethodsWithConfig,
      transactions: this.#transactions,
      failures: { ...this.#failures },
    };
  }

  /**
   * Runs a get method. It is run with the few parameters that the machine itself reads; should its log show that it may
   * have looked at more, it is run again with the whole configuration, so that the result is the same.
   *
   * @throws tvm/bad-request, tvm/bad-config, tvm/bad-library, tvm/refused, tvm/timeout, tvm/overloaded,
   *   tvm/waited-too-long, tvm/aborted, tvm/closed, tvm/crashed; what `resolveLibrary` and `prev_blocks_info` throw
   */
  runGetMethod(request: GetMethodRequest, options: RunOptions = {}): Promise<GetMethodResult> {
    this.#getMethods++;
    return this.#counted(async () => {
      const { code, resolveLibrary = null } = request;
      if (code === null) return resultWithoutCode(request);
      const parts = getMethodParts(request, code, this.#settings.maxGas);
      const image = this.#configs.get(request.config);
      const libraries = new LibraryCollection(request.libraries ?? null, resolveLibrary);
      if (resolveLibrary !== null) await libraries.add(findLibraries(code));
      const reader = `${toHex(code.hash())}:${parts.params.method_id}`;
      let config = this.#configReaders.has(reader) ? null : image.short;
      let prevBlocksInfo: string | null = null;
      let hasPrevBlocks = false;
      for (let libraryRuns = 0; ; ) {
        if (config === null && !hasPrevBlocks) {
          hasPrevBlocks = true;
          this.#getMethodsWithConfig++;
          const { prev_blocks_info: info = null } = request;
          const blocks = typeof info === 'function' ? await info() : info;
          prevBlocksInfo = blocks === null ? null : prevBlocksText(blocks, image.globalVersion);
        }
        const reply = await this.#run(
          { ...parts, config: config ?? image.whole, libraries: librariesBoc(libraries.root), prevBlocksInfo },
          options,
          'get-method',
        );
        if (reply.sawConfig && config !== null) {
          config = null;
          this.#remember(reader);
          continue;
        }
        const { missingLibrary } = reply;
        if (missingLibrary !== null && libraryRuns < MAX_LIBRARY_RUNS) {
          libraryRuns++;
          if (await libraries.add([fromHex(missingLibrary.toLowerCase()) as Uint8Array])) continue;
        }
        return getMethodResult(reply);
      }
    });
  }

  /**
   * Executes a message as a validator would.
   *
   * @throws as {@link TvmPool.runGetMethod}; tvm/refused for what cannot be a message or an account
   */
  emulateTransaction(request: TransactionRequest, options: RunOptions = {}): Promise<TransactionResult> {
    return this.#emulate(request, options);
  }

  /** Executes a tick or tock transaction of a special contract. @throws as {@link TvmPool.emulateTransaction} */
  emulateTickTock(request: TickTockRequest, options: RunOptions = {}): Promise<TransactionResult> {
    return this.#emulate(request, options);
  }

  #emulate(request: TransactionRequest | TickTockRequest, options: RunOptions): Promise<TransactionResult> {
    this.#transactions++;
    return this.#counted(async () => {
      const parts = transactionParts(request);
      const { whole, globalVersion } = this.#configs.get(request.config);
      const { resolveLibrary = null, prev_blocks_info: info = null } = request;
      const libraries = new LibraryCollection(request.libraries ?? null, resolveLibrary);
      if (resolveLibrary !== null) await libraries.add(librariesOfTransaction(request));
      const prevBlocksInfo = info === null ? null : prevBlocksText(info, globalVersion);
      const job = { ...parts, config: whole, libraries: librariesBoc(libraries.root), prevBlocksInfo };
      return transactionResult(await this.#run(job, options, 'transaction', 'not-accepted'));
    });
  }

  /** The reply if it is one of these kinds. @throws tvm/refused, tvm/crashed, and as {@link WorkerPool.run} */
  async #run<Kind extends Reply['kind']>(
    job: Job,
    options: RunOptions,
    ...kinds: readonly Kind[]
  ): Promise<Extract<Reply, { kind: Kind }>> {
    const reply = await this.#workers.run(job, options);
    if ((kinds as readonly string[]).includes(reply.kind)) return reply as Extract<Reply, { kind: Kind }>;
    const { kind, problem } = reply as Extract<Reply, { problem: string }>;
    throw tvmErrors[kind === 'refused' ? 'refused' : 'crashed']({ problem });
  }

  #remember(reader: string): void {
    if (this.#configReaders.size >= MAX_CONFIG_READERS) {
      const [oldest] = this.#configReaders;
      this.#configReaders.delete(oldest as string);
    }
    this.#configReaders.add(reader);
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const code = isTernError(error) ? error.code : 'unknown';
      this.#failures[code] = (this.#failures[code] ?? 0) + 1;
      throw error;
    }
  }
}

function librariesBoc(root: Cell | null): Uint8Array | null {
  return root === null ? null : bocOf('libraries', root);
}
