import { parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { fromBase64 } from '#kernel/bytes.js';
import type { FeeRequest } from '#services/emulation/contract-reads.js';
import type { TonlibEntry } from '#test/support/tonlib-stack.js';
import { readBytes } from '#test/support/vector-files.js';

/** A get method as tonlib ran it. */
export interface RecordedRun {
  /** Number in the recordings. */
  readonly n: number;
  readonly desc: string;
  readonly request: { '@type': string; id: number; method: { name?: string; number?: number }; stack: TonlibEntry[] };
  readonly response: { '@type': string; message: string; exit_code: number; gas_used: number; stack: TonlibEntry[] };
}

/** An account as tonlib read it. */
interface RecordedState {
  /** `-1`: there is none. */
  readonly balance: string;
  readonly code: string;
  readonly data: string;
  /** The masterchain block whose state it is. */
  readonly block_id: { seqno: number };
  readonly sync_utime: number;
  readonly extra_currencies: { id: number; amount: string }[];
}

/** A contract that tonlib loaded, what it was, and the get methods that it ran on it. */
export interface LoadedContract {
  readonly address: string;
  account: RecordedState | null;
  readonly runs: RecordedRun[];
}

/** tonlib refuses these by itself, before a machine runs; what the message says is not of the machine. */
export const REFUSED_BY_TONLIB = [
  /Failed to parse dec string to int256/,
  /Unsuppored stack entry/,
  /cannot deserialize bag-of-cells/,
  /TVM stack size exceeds limit/,
];

/** Runs that differ, by number in the recordings. */
export const RUNS_THAT_DIFFER: ReadonlyMap<number, string> = new Map([
  [4389, 'its argument is 2^256, no integer of the machine; tonlib puts it on the stack unchecked, Tern refuses it'],
  [
    4405,
    '8,001 arguments: tonlib sets no limit to those, but the cells that the emulator reads them from cannot nest so deep',
  ],
]);

function* linesOf(path: string): Generator<string> {
  yield* new TextDecoder().decode(readBytes(path)).trim().split('\n');
}

/** All contracts that tonlib loaded to run get methods. */
export function readLoadedContracts(path: string): LoadedContract[] {
  const all: LoadedContract[] = [];
  const open = new Map<number, LoadedContract>();
  for (const line of linesOf(path)) {
    const recording = JSON.parse(line);
    const { request, response } = recording;
    if (request['@type'] === 'smc.load' && response['@type'] === 'smc.info') {
      const loaded = { address: request.account_address.account_address, account: null, runs: [] };
      open.set(response.id, loaded);
      all.push(loaded);
    }
    if (request['@type'] === 'smc.getRawFullAccountState') open.get(request.id)!.account = response;
    if (request['@type'] === 'smc.runGetMethod') open.get(request.id)!.runs.push(recording);
  }
  return all;
}

/** Fees of a message as tonlib estimated them. */
export interface RecordedFees {
  readonly n: number;
  readonly desc: string;
  /** Unix seconds: when the account was read, which was as of some block shortly before. */
  readonly time: number;
  readonly question: FeeRequest;
  /** in_fwd_fee, storage_fee, gas_fee, fwd_fee */
  readonly fees: readonly number[];
}

function cellOf(text: string): Cell | null {
  return text === '' ? null : parseBocRoot(fromBase64(text)!);
}

/** All estimates of fees. */
export function readRecordedFees(path: string): RecordedFees[] {
  const all: RecordedFees[] = [];
  const open = new Map<number, { readonly time: number; readonly question: Omit<FeeRequest, 'ignore_chksig'> }>();
  for (const line of linesOf(path)) {
    const { n, desc, time, request, response } = JSON.parse(line);
    if (request['@type'] === 'raw.createQuery' && response['@type'] === 'query.info') {
      const { destination, body, init_code, init_data } = request;
      open.set(response.id, {
        time: Date.parse(time) / 1000,
        question: {
          address: parseAddress(destination.account_address).address,
          body: cellOf(body)!,
          init_code: cellOf(init_code),
          init_data: cellOf(init_data),
        },
      });
    }
    if (request['@type'] !== 'query.estimateFees') continue;
    const { in_fwd_fee, storage_fee, gas_fee, fwd_fee } = response.source_fees;
    const { time: at, question } = open.get(request.id)!;
    const { ignore_chksig } = request;
    all.push({
      n,
      desc,
      time: at,
      question: { ...question, ignore_chksig },
      fees: [in_fwd_fee, storage_fee, gas_fee, fwd_fee],
    });
  }
  return all;
}
