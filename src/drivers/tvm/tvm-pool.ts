import { compileEmulator } from '#drivers/tvm/emulator-binary.js';
import { OUT_OF_GAS } from '#drivers/tvm/emulator-output.js';
import { tvmErrors } from '#drivers/tvm/errors.js';
import {
  type GetMethodParts,
  type GetMethodRequest,
  type GetMethodResult,
  getMethodParts,
  getMethodResult,
  resultWithoutCode,
  USUAL_GAS,
} from '#drivers/tvm/get-method.js';
import type { TvmMetrics } from '#drivers/tvm/metrics.js';
import { checkTvmSettings, type TvmModules, type TvmOptions, type TvmSettings } from '#drivers/tvm/options.js';
import {
  findLibraries,
  LibraryCollection,
  librariesBoc,
  prevBlocksText,
  requireWhole,
} from '#drivers/tvm/request-fields.js';
import {
  type ContextResult,
  type ContextRun,
  RUNVM_VERSION,
  resultWithMoreGas,
  withMoreGas,
  withoutNetworkContext,
  wrapInRunvm,
} from '#drivers/tvm/runvm.js';
import { type EmulatorConfig, EmulatorConfigCache, type SharedBoc, SharedBocCache } from '#drivers/tvm/shared-bocs.js';
import {
  librariesOfTransaction,
  type TickTockRequest,
  type TransactionRequest,
  type TransactionResult,
  transactionParts,
  transactionResult,
} from '#drivers/tvm/transaction.js';
import { type RunOptions, WorkerPool } from '#drivers/tvm/worker-pool.js';
import type { GetMethodReply, Job, Reply } from '#drivers/tvm/worker-protocol.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStackValue } from '#formats/tlb/vm-stack.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** Maximum retries of a get method after a missing library. */
const MAX_LIBRARY_RUNS = 8;

/** Maximum number of get methods remembered as reading the configuration. */
const MAX_CONFIG_READERS = 4_096;

/** Cached library dictionaries. */
const MAX_LIBRARIES = 8;

/** State of a get method, which may need several runs. */
interface GetMethodRun {
  readonly request: GetMethodRequest;
  readonly image: EmulatorConfig;
  readonly libraries: LibraryCollection;
  /** Code hash and method id. */
  readonly method: string;
  readonly options: RunOptions;
  /** Encoded for the emulator; undefined until needed. */
  prevBlocksInfo: string | null | undefined;
}

/** Runs contracts in worker threads, on the TVM of the C++ node compiled to WASM. */
export class TvmPool {
  readonly #settings: TvmSettings;
  readonly #configs: EmulatorConfigCache;
  readonly #libraries = new SharedBocCache(MAX_LIBRARIES);
  readonly #workers: WorkerPool;
  /** Code hash and method id of get methods that are run with the whole configuration immediately. */
  readonly #configReaders = new Set<string>();
  #getMethods = 0;
  #getMethodsWithConfig = 0;
  #transactions = 0;
  readonly #failures: Record<string, number> = {};

  /** @throws tvm/bad-option */
  constructor(options: TvmOptions, modules: TvmModules) {
    this.#settings = checkTvmSettings(options);
    this.#configs = new EmulatorConfigCache(this.#settings.configs);
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
   * Runs a get method, first with only the parameters that the TVM setup reads; if the log shows that the method may have
   * read more, it is run again with the whole configuration, so that the result is the same.
   *
   * @throws tvm/bad-request, tvm/bad-config, tvm/bad-library, tvm/refused, tvm/timeout, tvm/overloaded,
   *   tvm/waited-too-long, tvm/aborted, tvm/closed, tvm/crashed; errors of `resolveLibrary` and `prev_blocks_info`
   */
  runGetMethod(request: GetMethodRequest, options: RunOptions = {}): Promise<GetMethodResult> {
    this.#getMethods++;
    return this.#counted(async () => {
      const { code, resolveLibrary = null, gas_limit = USUAL_GAS } = request;
      if (code === null) return resultWithoutCode(request);
      const parts = getMethodParts(request, code, this.#settings.maxGas);
      const run: GetMethodRun = {
        request,
        image: this.#configs.get(request.config),
        libraries: new LibraryCollection(request.libraries ?? null, resolveLibrary),
        method: `${toHex(code.hash())}:${parts.params.method_id}`,
        options,
        prevBlocksInfo: undefined,
      };
      if (resolveLibrary !== null) await run.libraries.add(findLibraries(code));
      const reply = await this.#complete(run, parts, run.image.short);
      const enough = gas_limit <= USUAL_GAS || reply.exitCode !== OUT_OF_GAS;
      if (enough || run.image.globalVersion < RUNVM_VERSION) return getMethodResult(reply);
      const more = await this.#complete(run, withMoreGas(request, code, parts, gas_limit), null);
      return resultWithMoreGas(getMethodResult(more));
    });
  }

  /**
   * Runs a get method until it has everything that it reads: the whole configuration and libraries.
   *
   * @param first the initial configuration; null for the whole one
   */
  async #complete(run: GetMethodRun, parts: GetMethodParts, first: SharedBoc | null): Promise<GetMethodReply> {
    const { image, libraries, method, options } = run;
    let config = this.#configReaders.has(method) ? null : first;
    for (let libraryRuns = 0; ; ) {
      if (config === null && run.prevBlocksInfo === undefined) {
        this.#getMethodsWithConfig++;
        run.prevBlocksInfo = await prevBlocksOf(run);
      }
      const prevBlocksInfo = config === null ? (run.prevBlocksInfo ?? null) : null;
      const reply = await this.#run(
        { ...parts, config: config ?? image.whole, libraries: librariesBoc(libraries.root), prevBlocksInfo },
        options,
        'get-method',
      );
      if (reply.sawConfig && config !== null) {
        config = null;
        remember(this.#configReaders, method);
        continue;
      }
      const { missingLibrary } = reply;
      if (missingLibrary !== null && libraryRuns < MAX_LIBRARY_RUNS) {
        libraryRuns++;
        if (await libraries.add([fromHex(missingLibrary.toLowerCase()) as Uint8Array])) continue;
      }
      return reply;
    }
  }

  /**
   * Runs a get method in a given context, as a node does for `liteServer.runSmcMethod`.
   *
   * @throws as {@link TvmPool.runGetMethod}
   */
  runInContext(run: ContextRun, options: RunOptions = {}): Promise<ContextResult> {
    this.#getMethods++;
    return this.#counted(async () => {
      const image = this.#configs.get(run.config);
      const config = image.short ?? image.whole;
      const libraries = librariesBoc(run.libraries);
      const runWith = async (c7: VmStackValue) => {
        const { request, unwrap } = wrapInRunvm({ ...run, c7 }, image.globalVersion);
        const parts = getMethodParts(request, request.code as Cell, this.#settings.maxGas);
        const reply = await this.#run({ ...parts, config, libraries, prevBlocksInfo: null }, options, 'get-method');
        return { sawConfig: reply.sawConfig, result: unwrap(getMethodResult(reply)) };
      };
      const method = `${toHex(run.code.hash())}:${run.method_id}`;
      if (image.short !== null && !this.#configReaders.has(method)) {
        const { sawConfig, result } = await runWith(withoutNetworkContext(run.c7));
        if (!sawConfig) return result;
        remember(this.#configReaders, method);
      }
      this.#getMethodsWithConfig++;
      return (await runWith(run.c7)).result;
    });
  }

  /**
   * Executes a message as a validator does.
   *
   * @throws as {@link TvmPool.runGetMethod}; tvm/refused for an invalid message or account
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
      const job = { ...parts, config: whole, libraries: this.#librariesText(libraries.root), prevBlocksInfo };
      return transactionResult(await this.#run(job, options, 'transaction', 'not-accepted'));
    });
  }

  /** @throws tvm/bad-request */
  #librariesText(root: Cell | null): SharedBoc | null {
    return root === null ? null : this.#libraries.get(requireWhole('libraries', root));
  }

  /** Returns the reply if it is of one of these kinds. @throws tvm/refused, tvm/crashed, and as {@link WorkerPool.run} */
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

async function prevBlocksOf({ request, image }: GetMethodRun): Promise<string | null> {
  const { prev_blocks_info: info = null } = request;
  const blocks = typeof info === 'function' ? await info() : info;
  return blocks === null ? null : prevBlocksText(blocks, image.globalVersion);
}

function remember(readers: Set<string>, reader: string): void {
  if (readers.size >= MAX_CONFIG_READERS) {
    const [oldest] = readers;
    readers.delete(oldest as string);
  }
  readers.add(reader);
}
