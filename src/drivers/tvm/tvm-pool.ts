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
import { type RunEnd, RunHistory, type RunSubject } from '#drivers/tvm/run-history.js';
import {
  type ContextResult,
  type ContextRun,
  RUNVM_VERSION,
  resultWithGasLimit,
  withGasLimit,
  withinGas,
  withoutNetworkContext,
  wrapInRunvm,
} from '#drivers/tvm/runvm.js';
import { type EmulatorConfig, EmulatorConfigCache, type SharedBoc, SharedBocCache } from '#drivers/tvm/shared-bocs.js';
import {
  codesOfTransaction,
  type TickTockRequest,
  type TransactionRequest,
  type TransactionResult,
  transactionParts,
  transactionResult,
} from '#drivers/tvm/transaction.js';
import { WorkerPool } from '#drivers/tvm/worker-pool.js';
import type { GetMethodReply, Job, Reply } from '#drivers/tvm/worker-protocol.js';
import type { Cell } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { VmStack, type VmStackValue } from '#formats/tlb/vm-stack.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';

/** Maximum retries of a get method after a missing library. */
const MAX_LIBRARY_RUNS = 8;

/** Maximum number of get methods remembered as reading the configuration. */
const MAX_CONFIG_READERS = 4_096;

/** Cached library dictionaries. */
const MAX_LIBRARIES = 8;

/** How far a run may go, and for whom it is. */
export interface RunOptions {
  /** Calls it off: a run that waits is taken out, of one under way the result is dropped. */
  readonly signal?: AbortSignal;
  /** Milliseconds of elapsed time; instead of `timeoutMs` of the pool. */
  readonly timeoutMs?: number;
  /** Milliseconds of CPU time; instead of `cpuMs` of the pool. */
  readonly cpuMs?: number;
  /** Opaque id of the client. Clients take turns, and slow runs delay further ones of the same client. Default: nobody. */
  readonly client?: string;
  /** Called once when the request has ended, also with an error, if anything was run. */
  readonly onCost?: (cost: TvmCost) => void;
}

/** What the runs of a request took. */
export interface TvmCost {
  /** 0 when a run was stopped, because then it is unknown. */
  readonly gas: number;
  /** CPU milliseconds. */
  readonly cpuMs: number;
}

/** One request to the pool, which may need several runs. */
interface PooledRequest {
  readonly options: RunOptions;
  readonly subject: RunSubject;
  /** Raw address. */
  readonly contract: string;
  /** CPU milliseconds so far. */
  cpuMs: number;
  isSlow: boolean;
  /** Whether the history knows already that the client requested it. */
  isNoted: boolean;
}

/** State of a get method, which may need several runs. */
interface GetMethodRun {
  readonly request: GetMethodRequest;
  readonly image: EmulatorConfig;
  readonly libraries: LibraryCollection;
  /** Code hash and method id. */
  readonly method: string;
  readonly pooled: PooledRequest;
  /** Encoded for the emulator; undefined until needed. */
  prevBlocksInfo: string | null | undefined;
}

/** Runs contracts in worker threads, on the TVM of the C++ node compiled to WASM. */
export class TvmPool {
  readonly #settings: TvmSettings;
  readonly #configs: EmulatorConfigCache;
  readonly #libraries = new SharedBocCache(MAX_LIBRARIES);
  readonly #workers: WorkerPool;
  readonly #history: RunHistory<GetMethodResult>;
  readonly #clock: Clock;
  /** Code hash and method id of get methods that are run with the whole configuration immediately. */
  readonly #configReaders = new Set<string>();
  /** Of those that are run with their own gas limit immediately, because the usual one is not enough. */
  readonly #gasUsers = new Set<string>();
  #getMethods = 0;
  #getMethodsWithConfig = 0;
  #transactions = 0;
  #remembered = 0;
  readonly #failures: Record<string, number> = {};

  /** @throws tvm/bad-option */
  constructor(options: TvmOptions, modules: TvmModules) {
    this.#settings = checkTvmSettings(options);
    this.#configs = new EmulatorConfigCache(this.#settings.configs);
    this.#workers = new WorkerPool(this.#settings, modules);
    this.#history = new RunHistory(this.#settings, modules.clock);
    this.#clock = modules.clock;
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
      remembered: this.#remembered,
      failures: { ...this.#failures },
    };
  }

  /**
   * Runs a get method, first with only the parameters that the TVM setup reads; if the log shows that the method may have
   * read more, it is run again with the whole configuration, so that the result is the same.
   *
   * A run that was ended by a limit is not repeated for some time: the result, or the error, is that of before.
   *
   * @throws tvm/bad-request, tvm/bad-config, tvm/bad-library, tvm/refused, tvm/timeout, tvm/cpu-time, tvm/ran-out-before,
   *   tvm/ended-too-often, tvm/out-of-memory, tvm/overloaded, tvm/waited-too-long, tvm/aborted, tvm/closed, tvm/crashed; errors of
   *   `resolveLibrary` and `prev_blocks_info`
   */
  runGetMethod(request: GetMethodRequest, options: RunOptions = {}): Promise<GetMethodResult> {
    this.#getMethods++;
    return this.#counted(async () => {
      const { code, resolveLibrary = null, gas_limit = USUAL_GAS } = request;
      if (code === null) return resultWithoutCode(request);
      const parts = getMethodParts(request, code, this.#settings.maxGas);
      const method = `${toHex(code.hash())}:${parts.params.method_id}`;
      const subject: RunSubject = {
        method,
        client: options.client ?? NOBODY,
        exact: once(() => exactKey(method, request.data, request.stack)),
      };
      const pooled: PooledRequest = {
        options,
        subject,
        contract: request.address.toRaw(),
        cpuMs: 0,
        isSlow: false,
        isNoted: false,
      };
      const known = this.#recall(subject);
      if (known !== null) return known;
      const run: GetMethodRun = {
        request,
        image: this.#configs.get(request.config),
        libraries: new LibraryCollection(request.libraries ?? null, resolveLibrary),
        method,
        pooled,
        prevBlocksInfo: undefined,
      };
      if (resolveLibrary !== null) await run.libraries.add(findLibraries(code));
      return this.#recorded(pooled, () => this.#withinGas(run, parts, code, gas_limit));
    });
  }

  async #withinGas(run: GetMethodRun, parts: GetMethodParts, code: Cell, gas_limit: number): Promise<GetMethodResult> {
    const { request, image, method } = run;
    const canLimit = image.globalVersion >= RUNVM_VERSION;
    const isUsual = gas_limit === USUAL_GAS || (gas_limit > USUAL_GAS && !this.#gasUsers.has(method));
    if (isUsual || !canLimit) {
      const reply = await this.#complete(run, parts, image.short);
      const isEnough = gas_limit <= USUAL_GAS || reply.exitCode !== OUT_OF_GAS;
      if (isEnough || !canLimit) {
        const result = getMethodResult(reply);
        return gas_limit < USUAL_GAS ? withinGas(result, gas_limit) : result;
      }
      remember(this.#gasUsers, method);
    }
    const reply = await this.#complete(run, withGasLimit(request, code, parts, gas_limit), null);
    return resultWithGasLimit(getMethodResult(reply));
  }

  /**
   * Runs a get method until it has everything that it reads: the whole configuration and libraries.
   *
   * @param first the initial configuration; null for the whole one
   */
  async #complete(run: GetMethodRun, parts: GetMethodParts, first: SharedBoc | null): Promise<GetMethodReply> {
    const { image, libraries, method, pooled } = run;
    let config = this.#configReaders.has(method) ? null : first;
    for (let libraryRuns = 0; ; ) {
      if (config === null && run.prevBlocksInfo === undefined) {
        this.#getMethodsWithConfig++;
        run.prevBlocksInfo = await prevBlocksOf(run);
      }
      const prevBlocksInfo = config === null ? (run.prevBlocksInfo ?? null) : null;
      const reply = await this.#run(
        { ...parts, config: config ?? image.whole, libraries: librariesBoc(libraries.root), prevBlocksInfo },
        pooled,
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
      const method = `${toHex(run.code.hash())}:${run.method_id}`;
      const subject: RunSubject = {
        method,
        client: options.client ?? NOBODY,
        exact: once(() => exactKey(method, run.data, run.stack)),
      };
      const pooled: PooledRequest = { options, subject, contract: method, cpuMs: 0, isSlow: false, isNoted: false };
      const runWith = async (c7: VmStackValue) => {
        const { request, unwrap } = wrapInRunvm({ ...run, c7 }, image.globalVersion);
        const parts = getMethodParts(request, request.code as Cell, this.#settings.maxGas);
        const reply = await this.#run({ ...parts, config, libraries, prevBlocksInfo: null }, pooled, 'get-method');
        return { sawConfig: reply.sawConfig, result: unwrap(getMethodResult(reply)) };
      };
      const known = this.#recall(subject);
      if (known !== null) return contextResult(known);
      const ended = await this.#recorded(pooled, async () => {
        if (image.short !== null && !this.#configReaders.has(method)) {
          const { sawConfig, result } = await runWith(withoutNetworkContext(run.c7));
          if (!sawConfig) return { ...result, ...NO_DETAILS };
          remember(this.#configReaders, method);
        }
        this.#getMethodsWithConfig++;
        return { ...(await runWith(run.c7)).result, ...NO_DETAILS };
      });
      return contextResult(ended);
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
      const codes = codesOfTransaction(request);
      const method = `${codes.map((code) => toHex(code.hash())).join()}:transaction`;
      const account = toHex(request.shard_account.hash());
      const what = 'message' in request ? toHex(request.message.hash()) : request.which;
      const subject = { method, client: options.client ?? NOBODY, exact: () => `${account}:${what}` };
      // A result would be that of another time; an error is the same.
      this.#recall(subject);
      const { whole, globalVersion } = this.#configs.get(request.config);
      const { resolveLibrary = null, prev_blocks_info: info = null } = request;
      const libraries = new LibraryCollection(request.libraries ?? null, resolveLibrary);
      if (resolveLibrary !== null) await libraries.add(codes.flatMap(findLibraries));
      const prevBlocksInfo = info === null ? null : prevBlocksText(info, globalVersion);
      const job = { ...parts, config: whole, libraries: this.#librariesText(libraries.root), prevBlocksInfo };
      const pooled: PooledRequest = { options, subject, contract: account, cpuMs: 0, isSlow: false, isNoted: false };
      return this.#recorded(pooled, async () =>
        transactionResult(await this.#run(job, pooled, 'transaction', 'not-accepted')),
      );
    });
  }

  /** @throws tvm/bad-request */
  #librariesText(root: Cell | null): SharedBoc | null {
    return root === null ? null : this.#libraries.get(requireWhole('libraries', root));
  }

  /** The result of the same run, if it ran out of gas before. @throws tvm/ran-out-before, tvm/ended-too-often */
  #recall(subject: RunSubject): GetMethodResult | null {
    const recalled = this.#history.recall(subject);
    if (recalled === null) {
      const refusedMs = this.#history.refusedForMs(subject);
      if (refusedMs === 0) return null;
      const { endedCpuMs: limitMs } = this.#settings;
      throw tvmErrors['ended-too-often']({ limitMs, retryAfterSeconds: Math.ceil(refusedMs / 1000) });
    }
    this.#remembered++;
    const { ranOut, isExact, forgottenInMs } = recalled;
    const { limit, cpuMs, at, result } = ranOut;
    const agoMs = Math.round(this.#clock.now() - at);
    if (isExact && result !== null) return { ...result, remembered_ms: agoMs };
    const error = { limit, cpuMs: Math.round(cpuMs), agoMs, forgottenInMs: Math.round(forgottenInMs), isExact };
    throw tvmErrors['ran-out-before'](error);
  }

  /** Records in the history how the runs of a request ended, and reports what they took. */
  async #recorded<Result extends GetMethodResult | TransactionResult>(
    pooled: PooledRequest,
    runs: () => Promise<Result>,
  ): Promise<Result> {
    const { subject, options } = pooled;
    let gas = 0;
    try {
      const result = await runs();
      const isGetMethod = 'gas_used' in result;
      gas = isGetMethod ? result.gas_used : 0;
      const isOut = isGetMethod && result.exit_code === OUT_OF_GAS;
      this.#history.ended(subject, ranOf(pooled, isOut ? 'gas' : null, isOut ? (result as GetMethodResult) : null));
      return result;
    } catch (error) {
      const isOut =
        isTernError(error, tvmErrors['cpu-time'].code) || isTernError(error, tvmErrors['out-of-memory'].code);
      if (isOut || isTernError(error, tvmErrors.refused.code)) {
        this.#history.ended(subject, ranOf(pooled, isOut ? 'time' : null, null));
      } else if (pooled.isSlow) this.#history.left(subject.client, pooled);
      throw error;
    } finally {
      if (pooled.cpuMs > 0) options.onCost?.({ gas, cpuMs: pooled.cpuMs });
    }
  }

  /** Returns the reply if it is of one of these kinds. @throws tvm/refused, tvm/crashed, and as {@link WorkerPool.run} */
  async #run<Kind extends Reply['kind']>(
    job: Job,
    pooled: PooledRequest,
    ...kinds: readonly Kind[]
  ): Promise<Extract<Reply, { kind: Kind }>> {
    const { options, subject, contract } = pooled;
    const { timeoutMs, cpuMs: usualCpuMs, maxEmulatorBytes: limitBytes } = this.#settings;
    const limitMs = options.cpuMs ?? usualCpuMs;
    const leftMs = limitMs - pooled.cpuMs;
    if (leftMs <= 0) throw tvmErrors['cpu-time']({ limitMs });
    const reply = await this.#workers.run(job, {
      client: subject.client,
      contract,
      signal: options.signal,
      lane: pooled.isSlow ? 'slow' : this.#history.laneOf(subject),
      timeoutMs: options.timeoutMs ?? timeoutMs,
      cpuMs: leftMs,
      cpuLimitMs: limitMs,
      onDemoted: () => {
        if (!pooled.isNoted) this.#history.demoted(subject.client);
        pooled.isNoted = true;
      },
      onCpuTime: (cpuMs, isSlow) => {
        pooled.cpuMs += cpuMs;
        pooled.isSlow ||= isSlow;
      },
    });
    if ((kinds as readonly string[]).includes(reply.kind)) return reply as Extract<Reply, { kind: Kind }>;
    const { kind, problem } = reply as Extract<Reply, { problem: string }>;
    if (kind === 'out-of-memory') throw tvmErrors['out-of-memory']({ limitBytes });
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

/** The client of runs that name none. */
const NOBODY = '';

/** Fields that results of `runInContext` do not have. */
const NO_DETAILS = { vm_log: null, missing_library: null, remembered_ms: null };

function contextResult({ exit_code, gas_used, stack }: GetMethodResult): ContextResult {
  return { exit_code, gas_used, stack };
}

function ranOf(
  { cpuMs, isSlow, isNoted }: PooledRequest,
  limit: RunEnd<GetMethodResult>['limit'],
  result: GetMethodResult | null,
): RunEnd<GetMethodResult> {
  return { cpuMs, isSlow, isNoted, limit, result };
}

function exactKey(method: string, data: Cell | null, stack: VmStack): string {
  const given = stack.length === 0 ? '' : toHex(encodeCell(VmStack, stack).hash());
  return `${method}:${data === null ? '' : toHex(data.hash())}:${given}`;
}

function once(compute: () => string): () => string {
  let value: string | undefined;
  return () => {
    value ??= compute();
    return value;
  };
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
