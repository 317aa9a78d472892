import type { NativeAccount } from '#domain/contracts/native-code.js';
import type { GetMethodResult } from '#drivers/tvm/get-method.js';
import type { ResolveLibrary } from '#drivers/tvm/libraries.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { parseAddress } from '#formats/address/parse-address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { fromBase64, toHex } from '#kernel/bytes/bytes.js';
import { readBytes, vectorPath } from '#test/support/shared-data.js';
import { mainnetConfig } from '#test/support/tvm-contract.js';

/** A contract of the recorded network. */
export interface RecordedAccount extends NativeAccount {
  /** `jetton_wallet_notcoin` */
  readonly kind: string;
  readonly utime: number;
  readonly balance: bigint;
  /** What the Python service told of it as a wallet, if it was asked; empty when it is none. */
  readonly wallet: Readonly<Record<string, string | number>> | null;
  /** What tonlib told of it, if it was asked. */
  readonly account_state: Readonly<Record<string, string | number>> | null;
  readonly revision: number | null;
}

interface Line {
  readonly kind: string;
  readonly address: string;
  readonly utime: number;
  readonly balance: string;
  readonly code: string;
  readonly data: string;
  readonly wallet?: RecordedAccount['wallet'];
  readonly account_state?: RecordedAccount['account_state'];
  readonly revision?: number;
}

const lines = Buffer.from(readBytes(vectorPath('contracts/accounts.jsonl.gz')))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);

function cellOf(text: string): Cell {
  return parseBocRoot(fromBase64(text) as Uint8Array);
}

/** Some of each kind. */
export const recordedAccounts: readonly RecordedAccount[] = lines
  .filter(({ kind }) => kind !== 'library')
  .map(({ kind, address, utime, balance, code, data, wallet, account_state, revision }) => ({
    kind,
    address: parseAddress(address).address,
    utime,
    balance: BigInt(balance),
    code: cellOf(code),
    data: cellOf(data),
    wallet: wallet ?? null,
    account_state: account_state ?? null,
    revision: revision ?? null,
  }));

const known = new Map(lines.map(({ code }) => cellOf(code)).map((code) => [toHex(code.hash()), code]));

/** Libraries that the contracts refer to. */
export const resolveRecordedLibrary: ResolveLibrary = async (hashes) =>
  hashes.map((hash) => known.get(toHex(hash)) ?? null);

/** Runs a get method of such a contract, or of one with other data. */
export function runRecorded(
  pool: TvmPool,
  { code, data, address, utime, balance }: RecordedAccount,
  method: string,
  stack: VmStack = [],
): Promise<GetMethodResult> {
  const resolveLibrary = resolveRecordedLibrary;
  return pool.runGetMethod({
    code,
    data,
    address,
    method,
    stack,
    now: utime,
    balance,
    config: mainnetConfig,
    resolveLibrary,
  });
}
