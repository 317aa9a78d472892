import type { NativeAccount } from '#domain/contracts/native-code.js';
import type { GetMethodResult } from '#drivers/tvm/get-method.js';
import type { ResolveLibrary } from '#drivers/tvm/request-fields.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { fromBase64, toHex } from '#kernel/bytes.js';
import { mainnetConfig } from '#test/support/tvm-contract.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

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
  /** What the reference index has of it, the kind first, if it has something. */
  readonly row: Readonly<Record<string, string>> | null;
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
  readonly row?: RecordedAccount['row'];
}

function linesOf(file: string): Line[] {
  const text = Buffer.from(readBytes(vectorPath(file)))
    .toString()
    .trim();
  return text.split('\n').map((line) => JSON.parse(line) as Line);
}

const tokens = linesOf('contracts/accounts.jsonl.gz');
const wallets = linesOf('contracts/jetton-wallets.jsonl.gz');
const others = linesOf('contracts/other-kinds.jsonl.gz');

function cellOf(text: string): Cell {
  return parseBocRoot(fromBase64(text) as Uint8Array);
}

function accountsOf(lines: readonly Line[]): RecordedAccount[] {
  return lines
    .filter(({ kind }) => kind !== 'library')
    .map(({ kind, address, utime, balance, code, data, wallet, account_state, revision, row }) => ({
      kind,
      address: parseAddress(address).address,
      utime,
      balance: BigInt(balance),
      code: cellOf(code),
      data: cellOf(data),
      wallet: wallet ?? null,
      account_state: account_state ?? null,
      revision: revision ?? null,
      row: row ?? null,
    }));
}

/** Wallets, tokens and domains: some of each kind. */
export const recordedAccounts: readonly RecordedAccount[] = accountsOf(tokens);

/** Jettons in wallets of the code of some service: shares of pools and stakes. */
export const serviceWallets: readonly RecordedAccount[] = accountsOf(wallets);

/** Sales, auctions, multisigs, pools and their like: all of the recorded network, and some of mainnet. */
export const otherAccounts: readonly RecordedAccount[] = accountsOf(others);

const known = new Map(
  [...tokens, ...wallets, ...others].map(({ code }) => cellOf(code)).map((code) => [toHex(code.hash()), code]),
);

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
