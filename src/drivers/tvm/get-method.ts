import { tvmErrors } from '#drivers/tvm/errors.js';
import {
  LOG_LEVELS,
  type LogLevel,
  type ResolveLibrary,
  randSeedOf,
  type TvmPrevBlocksInfo,
  uint32Of,
  uint63Of,
  wholeCellBoc,
} from '#drivers/tvm/request-fields.js';
import type { GetMethodJob, GetMethodReply } from '#drivers/tvm/worker-protocol.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { methodIdOf, VmStack, vmInt } from '#formats/tlb/vm-stack.js';
import { fromHex } from '#kernel/bytes.js';

/** A get method of an account, with everything that it may read. */
export interface GetMethodRequest {
  /** Null when the account has none: the run then ends with {@link NO_CODE}, as in the reference implementation. */
  readonly code: Cell | null;
  /** Null when the account has none; the contract then sees an empty cell. */
  readonly data: Cell | null;
  /** A name, or an id as number or decimal string; see {@link getMethodId}. */
  readonly method: string | number;
  /** Arguments, last one on top; at most 1,000. */
  readonly stack: VmStack;
  readonly address: Address;
  /** Unix seconds: the time of the block of the state. */
  readonly now: number;
  /** Nanotons. */
  readonly balance: bigint;
  /** Amounts by currency id. */
  readonly extra_currencies?: Iterable<readonly [id: number, amount: bigint]>;
  /** Root of `Hashmap 32 ^Cell`: the complete configuration at that block. */
  readonly config: Cell;
  /** A function is called only when the contract may read it. */
  readonly prev_blocks_info?: TvmPrevBlocksInfo | null | (() => Promise<TvmPrevBlocksInfo | null>);
  /** 32 bytes; default: zeros, as in the reference implementation. */
  readonly rand_seed?: Uint8Array;
  /**
   * Default: 1,000,000, as in the reference implementation. Nothing that the contract does lifts it. With a higher limit, a
   * method that runs out of gas at 1,000,000 is run again with that limit; not on networks before global version 4.
   */
  readonly gas_limit?: number;
  /** Root of `HashmapE 256 ^Cell` (or of the libraries of a masterchain state): known libraries. */
  readonly libraries?: Cell | null;
  /** Resolves missing libraries: those referenced by the code before the run, others when the run fails on one. */
  readonly resolveLibrary?: ResolveLibrary;
  /** Log level; default: no log. */
  readonly log_level?: LogLevel;
}

/** Result of a run. An exception of the contract is a result, too. */
export interface GetMethodResult {
  /** 0 and 1 mean success; -14 out of gas; 11 usually that the method does not exist. */
  readonly exit_code: number;
  readonly gas_used: number;
  /** Last result on top; after an exception its number and argument. */
  readonly stack: VmStack;
  /** The last 256 KB of the log; null when not requested. */
  readonly vm_log: string | null;
  /** Hash of a library that was needed and not found; 32 bytes. */
  readonly missing_library: Uint8Array | null;
  /** Null: it was run. A number: the result is from the memory of a run that ran out of gas so many milliseconds ago. */
  readonly remembered_ms: number | null;
}

/** Exit code of a run without code. */
export const NO_CODE = -13;

/** The result without code: the initial stack. @throws tvm/bad-request */
export function resultWithoutCode(request: GetMethodRequest): GetMethodResult {
  checkArguments(request.stack);
  const stack = [...request.stack, vmInt(getMethodId(request.method))];
  return { exit_code: NO_CODE, gas_used: 0, stack, vm_log: null, missing_library: null, remembered_ms: null };
}

/** The parts shared by all runs of one request. */
export type GetMethodParts = Omit<GetMethodJob, 'config' | 'libraries' | 'prevBlocksInfo'>;

/** The emulator's default limit. `ACCEPT` and `SETGASLIMIT` would lift any other limit of the emulator, but not this one. */
export const USUAL_GAS = 1_000_000;

/** Selects {@link USUAL_GAS}. */
const FIXED_GAS = '0';

/** A stack is a chain of nested cells, and cells nest at most 1,024 deep. */
const MAX_ARGUMENTS = 1_000;

/** @throws tvm/bad-request */
function checkArguments({ length }: VmStack): void {
  if (length <= MAX_ARGUMENTS) return;
  throw tvmErrors['bad-request']({ field: 'stack', found: `${length} values`, accepted: `at most ${MAX_ARGUMENTS}` });
}

/** @throws tvm/bad-request, and errors of encoding the stack */
export function getMethodParts(request: GetMethodRequest, code: Cell, maxGas: number): GetMethodParts {
  const { gas_limit = Math.min(USUAL_GAS, maxGas), log_level } = request;
  if (!Number.isSafeInteger(gas_limit) || gas_limit < 1 || gas_limit > maxGas) {
    throw tvmErrors['bad-request']({
      field: 'gas_limit',
      found: String(gas_limit),
      accepted: `a whole number from 1 to ${maxGas}`,
    });
  }
  checkArguments(request.stack);
  return {
    kind: 'get-method',
    code: wholeCellBoc('code', code),
    data: wholeCellBoc('data', request.data ?? EMPTY_CELL),
    stack: serializeBoc(encodeCell(VmStack, request.stack)),
    params: {
      method_id: getMethodId(request.method),
      verbosity: log_level === undefined ? 0 : LOG_LEVELS.indexOf(log_level),
      address: request.address.toRaw(),
      unixtime: uint32Of('now', request.now),
      balance: uint63Of('balance', request.balance),
      extra_currencies: extraCurrencies(request.extra_currencies ?? []),
      rand_seed: randSeedOf(request.rand_seed),
      gas_limit: FIXED_GAS,
      debug_enabled: false,
    },
    wantLog: log_level !== undefined,
  };
}

/** @throws cells/*, tlb/vm-size for an excessively large result */
export function getMethodResult(reply: GetMethodReply): GetMethodResult {
  return { ...readResult(reply), remembered_ms: null };
}

function readResult(reply: GetMethodReply): Omit<GetMethodResult, 'remembered_ms'> {
  const { exitCode, gasUsed, stack, log, missingLibrary } = reply;
  return {
    exit_code: exitCode,
    gas_used: gasUsed,
    stack: decodeCell(VmStack, parseBocRoot(stack)),
    vm_log: log,
    missing_library: missingLibrary === null ? null : fromHex(missingLibrary.toLowerCase()),
  };
}

const MAX_AMOUNT = 2n ** 248n - 1n;

/**
 * The emulator converts these to a string `1=100 2=5` and parses it, but omits the separators, so the keys contain them. On
 * an amount of 0 its parser would not terminate.
 */
function extraCurrencies(amounts: Iterable<readonly [number, bigint]>): Record<string, string> {
  const texts = new Map<string, string>();
  for (const [id, amount] of amounts) {
    uint32Of('extra_currencies', id);
    if (amount < 0n || amount > MAX_AMOUNT) {
      const accepted = 'amounts from 0 to 2^248 - 1';
      throw tvmErrors['bad-request']({ field: 'extra_currencies', found: String(amount), accepted });
    }
    if (amount > 0n) texts.set(` ${id}`, amount.toString());
  }
  return Object.fromEntries(texts);
}

/**
 * The id of a get method: computed from its name; a number, or a decimal string, is the id itself.
 *
 * @throws tvm/bad-request when the name is empty or the id is not an int32
 */
export function getMethodId(method: string | number): number {
  if (typeof method === 'string' && !/^-?\d+$/.test(method)) {
    if (method === '') throw refuse('empty');
    return methodIdOf(method);
  }
  const id = Number(method);
  if ((id | 0) !== id) throw refuse(String(method));
  return id;
}

function refuse(found: string) {
  return tvmErrors['bad-request']({ field: 'method', found, accepted: 'a name, or a number from -2^31 to 2^31 - 1' });
}
