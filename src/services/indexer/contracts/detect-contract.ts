import type { ClientBase } from 'pg';
import type { ContractInterface } from '#domain/contracts/contract-interface.js';
import { type ContractView, isContractError, type ViewedContract } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import { nativeCodeOf } from '#domain/contracts/interface-registry.js';
import { runNatively } from '#domain/contracts/native-code.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { ColumnValue } from '#drivers/store/write/contract-tables.js';
import type { ContractFindings, FoundInterface, SupersededReason } from '#drivers/store/write/contracts.js';
import type { VerifiedItem, VerifiedWallet } from '#drivers/store/write/token-events.js';
import { tvmErrors } from '#drivers/tvm/errors.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Cell } from '#formats/cells/cell.js';
import { methodIdOf } from '#formats/tlb/vm-stack.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import type {
  ContractAccount,
  ContractAccounts,
  PublishedLibraryCache,
} from '#services/indexer/contracts/contract-accounts.js';
import type { ContractMethodRunner } from '#services/indexer/contracts/contract-methods.js';
import { indexerErrors } from '#services/indexer/errors.js';

/** Result of the detection of one account. */
export interface DetectionResult {
  readonly found: ContractFindings;
  /** Addresses of other contracts that were queried. */
  readonly referenced: readonly Uint8Array[];
}

/** Maximum size of a row. */
const MAX_ROW_BYTES = 128 * 1024;

export interface DetectContractModules {
  readonly kindsOf: (codeHash: string, methodIds: readonly number[] | null) => readonly ContractInterface[];
  readonly logger: Logger;
  /** Called with the reason when detection is postponed. */
  readonly onPostponed: (error: unknown) => void;
}

/**
 * Detects the interfaces of a contract, among those that its code may implement.
 *
 * @param attempts number of earlier postponed attempts
 * @throws transient errors: the contract, or one that it references, cannot be queried now
 */
export async function detectContract(
  state: ContractAccount,
  view: IndexedContractView,
  known: KnownContract | null,
  attempts: number,
  { kindsOf, logger }: Pick<DetectContractModules, 'kindsOf' | 'logger'>,
): Promise<DetectionResult> {
  const { address, last_trans_lt, mc_seqno, code_hash, data_hash, running } = state;
  const rows: FoundInterface[] = [];
  const refused: Record<string, DetectionRefusal> = {};
  for (const kind of running === null ? [] : kindsOf(running.code.hash, running.code.methods)) {
    try {
      rows.push(await readKind(kind, view));
    } catch (error) {
      const verdict = verdictOf(error, address.toRaw(), attempts);
      if (verdict.kind === 'passing') throw error;
      if (verdict.kind === 'other') continue;
      const { reason } = verdict;
      // For code without a method dictionary a failure says nothing about its interfaces.
      const seems = running!.code.methods !== null || reason === 'not-verified' || known?.kinds.includes(kind.name);
      if (seems || isEndless(reason) || reason === 'too-large' || reason === 'unsteady') refused[kind.name] = reason;
      if (reason === 'failed') logger.warn('a contract could not be detected', problemOf(error, kind.name, state));
      if (isEndless(reason)) break;
    }
  }
  // Interfaces share get-methods: a contract of one interface is not a malformed one of another.
  if (rows.length > 0)
    for (const [kind, reason] of Object.entries(refused)) if (reason === 'malformed') delete refused[kind];
  const lost = known?.kinds.filter((kind) => rows.every((row) => row.kind !== kind)) ?? [];
  const lapsed = lapseReason(state, lost, refused);
  return {
    found: { address, last_trans_lt, mc_seqno, code_hash, data_hash, rows, refused, supersededReason: lapsed },
    referenced: view.referenced,
  };
}

async function readKind(kind: ContractInterface, view: IndexedContractView): Promise<FoundInterface> {
  const values = kind.row(await kind.read(view, view.subject()));
  requireBounded(kind, values);
  return { kind: kind.name, table: kind.table, values };
}

/** @throws contract-data/too-large */
function requireBounded({ name: kind }: ContractInterface, values: Readonly<Record<string, ColumnValue>>): void {
  let size = 0;
  for (const value of Object.values(values)) size += sizeOf(value);
  if (size > MAX_ROW_BYTES) throw contractDataErrors['too-large']({ what: kind, size, limit: MAX_ROW_BYTES });
}

function sizeOf(value: ColumnValue): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  if (value instanceof Cell) return serializeBoc(value).length;
  return Array.isArray(value) ? 33 * value.length : 32;
}

function lapseReason(
  { running }: ContractAccount,
  lost: readonly string[],
  refused: Readonly<Record<string, DetectionRefusal>>,
): SupersededReason {
  if (running === null) return 'destroyed';
  return lost.some((kind) => refused[kind] === 'not-verified' || refused[kind] === 'unsteady') ? 'refused' : 'changed';
}

function problemOf(error: unknown, kind: string, { address, code_hash }: ContractAccount) {
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { problem, kind, address: address.toRaw(), code_hash: code_hash === null ? null : toHex(code_hash) };
}

export interface IndexedContractViewModules {
  readonly states: Pick<ContractAccounts, 'get'>;
  readonly runs: Pick<ContractMethodRunner, 'run'>;
  readonly libraries: PublishedLibraryCache;
  /** Called for each get-method result that was read natively from contract data. */
  readonly onNative: () => void;
}

const NO_METHOD = 11;
const NO_CODE = -13;

/** A {@link ContractView} of the index: contracts in their newest known states, for the detection of one of them. */
export class IndexedContractView implements ContractView {
  readonly #subject: ContractAccount;
  readonly #modules: IndexedContractViewModules;
  readonly #states = new WeakMap<ViewedContract, ContractAccount>();
  readonly #named = new Map<string, Uint8Array>();

  constructor(subject: ContractAccount, modules: IndexedContractViewModules) {
    this.#subject = subject;
    this.#modules = modules;
  }

  /** The contract being detected. */
  subject(): ViewedContract {
    return this.#asked(this.#subject);
  }

  /** Addresses of the other contracts that were queried. */
  get referenced(): readonly Uint8Array[] {
    return [...this.#named.values()];
  }

  async contract(address: Address): Promise<ViewedContract> {
    if (address.equals(this.#subject.address)) return this.subject();
    this.#named.set(address.toRaw(), addressBytes(address));
    const state = await this.#modules.states.get(address);
    return state === null ? { address, account: null } : this.#asked(state);
  }

  async runGetMethod<Arguments extends readonly unknown[], Result>(
    contract: ViewedContract,
    method: GetMethod<Arguments, Result>,
    ...given: Arguments
  ): Promise<Result> {
    const { account, address } = contract;
    const state = this.#states.get(contract);
    const failed = (exit_code: number) =>
      contractDataErrors['method-failed']({ address: address.toRaw(), method: method.name, exit_code });
    if (state?.incomplete === true) throw indexerErrors['contract-incomplete']({ address: address.toRaw() });
    if (account === null || state === undefined || state.running === null) throw failed(NO_CODE);
    const { library, methods } = state.running.code;
    const { runs, libraries, onNative } = this.#modules;
    // A contract whose library is not published cannot run, even if its data could be read natively.
    const canRun = library === null || (await libraries.find(library)) !== null;
    const read = canRun ? runNatively(nativeCodeOf(account.code), account, method, given) : null;
    if (read !== null) {
      onNative();
      return read.result;
    }
    if (methods !== null && !methods.includes(methodIdOf(method.name))) throw failed(NO_METHOD);
    const isSubject = state === this.#subject;
    const now = Math.max(this.#subject.gen_utime, state.gen_utime);
    const stack = method.stack(...given);
    return method.parse(await runs.run({ state, method: method.name, stack, now, steady: !isSubject }));
  }

  #asked(state: ContractAccount): ViewedContract {
    const { address, running } = state;
    const account = running === null ? null : { address, code: running.code.cell, data: running.data };
    const asked = { address, account };
    this.#states.set(asked, state);
    return asked;
  }
}

/**
 * Why a contract is not accepted as an interface that its code suggests: another contract does not confirm it (`not-verified`)
 * or returns changing results (`unsteady`); it runs out of gas (`out-of-gas`) or time (`too-long`); its result is too large
 * (`too-large`), it throws (`threw`), its result has another form (`malformed`), it crashes the TVM worker (`crashed`); or
 * reading it failed because of a bug in Tern (`failed`).
 */
const REFUSALS = [
  'not-verified',
  'unsteady',
  'out-of-gas',
  'too-long',
  'too-large',
  'threw',
  'malformed',
  'crashed',
  'failed',
] as const;
type DetectionRefusal = (typeof REFUSALS)[number];

/** What an error means for the detection of an interface. */
type DetectionVerdict =
  /** The contract does not implement the interface. */
  | { readonly kind: 'other' }
  | { readonly kind: 'refused'; readonly reason: DetectionRefusal }
  /** Nothing: the contract could not be queried now. */
  | { readonly kind: 'passing' };

const OTHER_VERDICT: DetectionVerdict = { kind: 'other' };
const TRANSIENT_VERDICT: DetectionVerdict = { kind: 'passing' };

/** Exit codes: no such get-method; no code. */
const ABSENT_EXIT_CODES = new Set([11, -13]);

/** One timeout may be due to load; a second attempt that times out is final. */
const FINAL_AFTER_ATTEMPTS = 1;

const REFUSAL_REASONS: ReadonlyMap<string, DetectionRefusal> = new Map([
  [contractDataErrors['not-verified'].code, 'not-verified'],
  [contractDataErrors['too-large'].code, 'too-large'],
  [indexerErrors['contract-unsteady'].code, 'unsteady'],
  [indexerErrors['contract-out-of-gas'].code, 'out-of-gas'],
  [indexerErrors['contract-too-large'].code, 'too-large'],
  ['tlb/vm-size', 'too-large'],
  [tvmErrors.refused.code, 'malformed'],
  [tvmErrors['out-of-memory'].code, 'too-large'],
]);

const LATE_REASONS: ReadonlyMap<string, DetectionRefusal> = new Map([
  [tvmErrors.timeout.code, 'too-long'],
  [tvmErrors['cpu-time'].code, 'too-long'],
  [tvmErrors['ran-out-before'].code, 'too-long'],
  [tvmErrors.crashed.code, 'crashed'],
]);

/**
 * @param address raw address of the contract
 * @param attempts number of earlier postponed attempts
 */
function verdictOf(error: unknown, address: string, attempts: number): DetectionVerdict {
  if (!isTernError(error)) return { kind: 'refused', reason: 'failed' };
  const { code, data } = error;
  if (code === contractDataErrors['unknown-code'].code) return OTHER_VERDICT;
  if (code === contractDataErrors['method-failed'].code) {
    if (data.address !== address) return { kind: 'refused', reason: 'not-verified' };
    return ABSENT_EXIT_CODES.has(Number(data.exit_code)) ? OTHER_VERDICT : { kind: 'refused', reason: 'threw' };
  }
  const late = LATE_REASONS.get(code);
  if (late !== undefined)
    return attempts < FINAL_AFTER_ATTEMPTS ? TRANSIENT_VERDICT : { kind: 'refused', reason: late };
  const reason = REFUSAL_REASONS.get(code) ?? (isContractError(error) ? 'malformed' : null);
  return reason === null ? TRANSIENT_VERDICT : { kind: 'refused', reason };
}

/** Whether the contract does not terminate, so that other interfaces are not tried. */
function isEndless(reason: DetectionRefusal): boolean {
  return reason === 'out-of-gas' || reason === 'too-long' || reason === 'crashed';
}

/** The stored result of an earlier detection. */
export interface KnownContract {
  /** Sorted. */
  readonly kinds: readonly string[];
  readonly code_hash: Uint8Array | null;
  /** Set for a jetton master. */
  readonly wallet_code_hash: Uint8Array | null;
  /** For a jetton wallet: its master; for an NFT item: its collection. */
  readonly jetton: Uint8Array | null;
  readonly collection: Uint8Array | null;
}

/** By raw address. */
export async function readKnownContracts(
  client: ClientBase,
  contracts: readonly { readonly address: Uint8Array }[],
): Promise<ReadonlyMap<string, KnownContract>> {
  const { rows } = await client.query<KnownContract & { readonly address: Uint8Array }>({
    name: 'known-contracts',
    text: `SELECT c.address, c.kinds, c.code_hash, m.jetton_wallet_code_hash AS wallet_code_hash, w.jetton, i.collection
           FROM contracts c LEFT JOIN jetton_masters m ON m.address = c.address AND m.lapsed IS NULL
             LEFT JOIN jetton_wallets w ON w.address = c.address LEFT JOIN nft_items i ON i.address = c.address
           WHERE c.address = ANY($1::bytea[])`,
    values: [contracts.map(({ address }) => address)],
  });
  return new Map(rows.map((row) => [addressOfBytes(row.address).toRaw(), row]));
}

/**
 * Whether contracts that reference this one must be detected again: its interfaces changed, or its results may differ because
 * its code, or the wallet code it issues, changed.
 */
export function isChange({ rows, code_hash }: ContractFindings, known: KnownContract | null): boolean {
  const kinds = rows.map(({ kind }) => kind).sort();
  if (kinds.join() !== (known?.kinds.join() ?? '')) return true;
  if (kinds.length === 0 || known === null) return false;
  const wallet = rows.find(({ kind }) => kind === 'jetton_master')?.values.jetton_wallet_code_hash;
  return (
    !isSame(code_hash, known.code_hash) || (wallet instanceof Uint8Array && !isSame(wallet, known.wallet_code_hash))
  );
}

/** The jetton wallets and NFT items whose events must be confirmed: new ones, and those that belonged to another token before. */
export function newlyVerified(
  found: readonly ContractFindings[],
  known: ReadonlyMap<string, KnownContract>,
): { readonly wallets: readonly VerifiedWallet[]; readonly items: readonly VerifiedItem[] } {
  const wallets: VerifiedWallet[] = [];
  const items: VerifiedItem[] = [];
  for (const { address: account, rows } of found) {
    const before = known.get(account.toRaw());
    const address = addressBytes(account);
    for (const { kind, values } of rows) {
      const { jetton, collection = null } = values;
      const isKnown = before?.kinds.includes(kind) === true;
      if (kind === 'jetton_wallet' && jetton instanceof Address) {
        const master = addressBytes(jetton);
        if (!isKnown || !isSame(master, before.jetton)) wallets.push({ address, master });
      } else if (kind === 'nft_item') {
        const named = collection instanceof Address ? addressBytes(collection) : null;
        if (!isKnown || !isSame(named, before.collection)) items.push({ address, collection: named });
      }
    }
  }
  return { wallets, items };
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : bytesEqual(a, b);
}
