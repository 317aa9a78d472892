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
import { methodIdOf, VmStack } from '#formats/tlb/vm-stack.js';
import { vmInt } from '#formats/tlb/vm-value.js';
import { fromHex } from '#kernel/bytes.js';

/** A get method of an account, and all that it may look at. */
export interface GetMethodRequest {
  /** Null where the account has none: the run then ends at once with {@link NO_CODE}, as in the reference. */
  readonly code: Cell | null;
  /** Null where the account has none; the contract then sees an empty cell. */
  readonly data: Cell | null;
  /** A name, or an id as number or decimal text; see {@link getMethodId}. */
  readonly method: string | number;
  /** Arguments, the last one on top; 1,000 at most. */
  readonly stack: VmStack;
  readonly address: Address;
  /** Unix seconds: the time of the block whose state it is. */
  readonly now: number;
  /** Nanotons. */
  readonly balance: bigint;
  /** Amounts by id of the currency. */
  readonly extra_currencies?: Iterable<readonly [id: number, amount: bigint]>;
  /** Root of `Hashmap 32 ^Cell`: the configuration at that block, whole. */
  readonly config: Cell;
  /** A function is asked only when the contract may look at it. */
  readonly prev_blocks_info?: TvmPrevBlocksInfo | null | (() => Promise<TvmPrevBlocksInfo | null>);
  /** 32 bytes; zeros when not given, as in the reference. */
  readonly rand_seed?: Uint8Array;
  /**
   * 1,000,000 when not given, as in the reference; nothing lifts that. A lower limit `ACCEPT` lifts, and then only time
   * limits the run. With a higher one, a method that is out of gas at 1,000,000 is run again, up to that limit, which
   * nothing lifts; not on networks before global version 4.
   */
  readonly gas_limit?: number;
  /** Root of `HashmapE 256 ^Cell` (or of the libraries of a masterchain state): libraries that are known. */
  readonly libraries?: Cell | null;
  /** Gets libraries that are missing: those that the code names before the run, others when it fails on one. */
  readonly resolveLibrary?: ResolveLibrary;
  /** How much the log says; without it there is none. */
  readonly log_level?: LogLevel;
}

/** What came of it. A contract that throws is a result, too. */
export interface GetMethodResult {
  /** 0 and 1 are success; -14 is out of gas; 11 usually says that there is no such method. */
  readonly exit_code: number;
  readonly gas_used: number;
  /** The last result on top; after an exception its number and argument. */
  readonly stack: VmStack;
  /** The last 256 KB of it; null when none was asked for. */
  readonly vm_log: string | null;
  /** Hash of a library that it wanted and that nobody has; 32 bytes. */
  readonly missing_library: Uint8Array | null;
}

/** The exit code of a run without code. */
export const NO_CODE = -13;

/** The result where there is no code: the stack is as the machine would have begun with it. */
export function resultWithoutCode(request: GetMethodRequest): GetMethodResult {
  const stack = [...request.stack, vmInt(getMethodId(request.method))];
  return { exit_code: NO_CODE, gas_used: 0, stack, vm_log: null, missing_library: null };
}

/** What all runs of one request have in common. */
export type GetMethodParts = Omit<GetMethodJob, 'config' | 'libraries' | 'prevBlocksInfo'>;

/** Without a limit of its own the emulator takes this one, which `ACCEPT` does not lift. */
export const USUAL_GAS = 1_000_000;

/** Values of a stack are nested cells, which nest 1,024 deep at most. */
const MAX_ARGUMENTS = 1_000;

/** @throws tvm/bad-request, and what encoding the stack throws */
export function getMethodParts(request: GetMethodRequest, code: Cell, maxGas: number): GetMethodParts {
  const { gas_limit = Math.min(USUAL_GAS, maxGas), log_level } = request;
  if (!Number.isSafeInteger(gas_limit) || gas_limit < 1 || gas_limit > maxGas) {
    throw tvmErrors['bad-request']({
      field: 'gas_limit',
      found: String(gas_limit),
      accepted: `a whole number from 1 to ${maxGas}`,
    });
  }
  if (request.stack.length > MAX_ARGUMENTS) {
    const found = `${request.stack.length} values`;
    throw tvmErrors['bad-request']({ field: 'stack', found, accepted: `at most ${MAX_ARGUMENTS}` });
  }
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
      gas_limit: gas_limit >= USUAL_GAS ? '0' : String(gas_limit),
      debug_enabled: false,
    },
    wantLog: log_level !== undefined,
  };
}

/** @throws cells/*, tlb/vm-size for a result larger than any contract can want to give */
export function getMethodResult(reply: GetMethodReply): GetMethodResult {
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
 * The emulator makes a text `1=100 2=5` of these and reads it; it forgets the spaces between, so they are part of the
 * keys. On an amount of 0 it would read for ever.
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
 * The id by which a contract knows a get method: that of its name; a number, or a text that is one in decimal, is the id
 * itself.
 *
 * @throws tvm/bad-request when it is empty or no int32
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
