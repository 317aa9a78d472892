import type { ContractInterface } from '#domain/contracts/contract-interface.js';
import { nativeCodeOf } from '#domain/contracts/interface-registry.js';
import { WALLET_CODE_HASHES } from '#domain/contracts/wallet.js';
import { addressBytes } from '#drivers/store/keys.js';
import { codeRow } from '#drivers/store/stored-transaction.js';
import type { CodeRow } from '#drivers/store/tables.js';
import { BatchEncoder, type EncodedTable } from '#drivers/store/write/write-batch.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { toHex } from '#kernel/bytes.js';
import type { Logger } from '#kernel/logger.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';
import type {
  ContractAccount,
  ContractCode,
  ContractCodes,
  NewMethods,
  PublishedLibraryCache,
} from '#services/indexer/contracts/contract-accounts.js';
import {
  type DetectionResult,
  detectContract,
  IndexedContractView,
  type KnownContract,
} from '#services/indexer/contracts/detect-contract.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { AccountBatch, FoundAccount, StateLookup } from '#services/indexer/import/state-accounts.js';

export interface ImportBatchModules {
  readonly lookup: StateLookup;
  readonly codes: ContractCodes;
  readonly libraries: PublishedLibraryCache;
  readonly kindsOf: (codeHash: string, methodIds: readonly number[] | null) => readonly ContractInterface[];
  readonly logger: Logger;
}

/** Whether contracts of a code need detection, and how: not at all, natively, or on the TVM, from the queue. */
type CodeUse = 'none' | 'native' | 'queue';

interface KnownCode {
  readonly use: CodeUse;
  /** Null: of a wallet, or its library cannot be read. */
  readonly code: ContractCode | null;
  /** Whether the code is in the index. */
  stored: boolean;
}

/** Memory for what is known of codes. */
const CODES_BYTES = 24 * 2 ** 20;
const WALLETS = new Set(WALLET_CODE_HASHES.map(toHex));

/** Accounts of a state file as rows, with what contract detection found natively. */
export interface ImportBatch extends Pick<AccountBatch, 'interval' | 'gen_utime'> {
  readonly mc_seqno: number;
  /** {@link AccountBatch.lastId} */
  readonly position: Uint8Array;
  readonly accounts: number;
  readonly tables: readonly EncodedTable[];
  /** Hashes of codes whose accounts need no detection from the queue. */
  readonly plainCodes: readonly Uint8Array[];
  readonly detected: readonly DetectionResult[];
  /** Accounts that the queue gets although their code has native readers. */
  readonly toQueue: readonly Uint8Array[];
  readonly newMethods: readonly NewMethods[];
  /** Marks the codes of the batch as stored; called after the commit. */
  readonly onCommitted: () => void;
}

/** Makes rows of the accounts of a state, and detects contracts whose codes have native readers. */
export class ImportBatchBuilder {
  readonly #modules: ImportBatchModules;
  readonly #mc_seqno: number;
  readonly #known = new LruByBytes<KnownCode>(CODES_BYTES);
  readonly #encoder = new BatchEncoder();

  /** @param mc_seqno of the masterchain block of the state */
  constructor(mc_seqno: number, modules: ImportBatchModules) {
    this.#mc_seqno = mc_seqno;
    this.#modules = modules;
  }

  /** The batch is valid until the next one is built. @param known contracts of the index, by raw address */
  async build(
    { accounts, lastId, interval, gen_utime }: AccountBatch,
    known: ReadonlyMap<string, KnownContract>,
  ): Promise<ImportBatch> {
    const encoder = this.#encoder;
    encoder.reset();
    const codes = new Map<string, KnownCode>();
    const rows: CodeRow[] = [];
    const newMethods: NewMethods[] = [];
    const states: ContractAccount[] = [];
    for (const each of accounts) {
      const { address, found } = each;
      const { data } = found;
      encoder.add('accounts', {
        address: addressBytes(address),
        state_hash: found.cell.hash(0),
        status: found.status,
        balance: found.balance,
        extra_currencies: found.extra_currencies,
        last_trans_lt: found.last_trans_lt,
        last_trans_hash: found.last_trans_hash,
        mc_seqno: this.#mc_seqno,
        gen_utime,
        code_hash: found.code_hash,
        data_hash: found.data_hash,
        frozen_hash: found.frozen_hash,
        data_boc: data.kind === 'whole' ? serializeBoc(data.cell) : null,
        incomplete: false,
        first_tx: null,
      });
      if (found.code === null || found.code_hash === null) continue;
      const hash = toHex(found.code_hash);
      let code = codes.get(hash);
      if (code === undefined) {
        code = this.#known.get(hash) ?? (await this.#useOf(hash, each));
        codes.set(hash, code);
        if (!code.stored) {
          const row = codeRow(found.code);
          rows.push(row);
          const { code: whole } = code;
          if (!row.methods_read && whole?.isWhole === true) {
            newMethods.push({ code_hash: row.code_hash, methods: whole.methods });
          }
        }
      }
      if (code.use === 'native') states.push(contractOf(each, this.#mc_seqno, code.code!));
    }
    encoder.addAll('codes', rows);
    const plainCodes = [...codes].flatMap(([hash, { use }]) => (use === 'queue' ? [] : [Buffer.from(hash, 'hex')]));
    const detected: DetectionResult[] = [];
    const toQueue: Uint8Array[] = [];
    for (const state of states) {
      const result = await this.#detect(state, known.get(state.address.toRaw()) ?? null);
      if (result === null) toQueue.push(addressBytes(state.address));
      else detected.push(result);
    }
    return {
      ...{ interval, gen_utime },
      mc_seqno: this.#mc_seqno,
      position: lastId,
      accounts: accounts.length,
      tables: encoder.finish().filter(({ rows: count }) => count > 0),
      plainCodes,
      detected,
      toQueue,
      newMethods,
      onCommitted: () => {
        for (const code of codes.values()) code.stored = true;
      },
    };
  }

  async #useOf(hash: string, { found }: FoundAccount): Promise<KnownCode> {
    const { codes, kindsOf } = this.#modules;
    let known: KnownCode = { use: 'none', code: null, stored: false };
    let size = 512;
    if (!WALLETS.has(hash)) {
      // A copy: the cell itself would keep the whole batch in memory.
      const boc = serializeBoc(found.code!);
      try {
        const code = codes.get(hash) ?? (await codes.add(hash, parseBocRoot(boc), boc.length));
        known = { ...known, code, use: useOf(code, kindsOf(hash, code.methods).length > 0) };
        size += 2 * boc.length;
      } catch {
        // Its library cannot be read now: the queue tries again.
        known = { ...known, use: 'queue' };
      }
    }
    this.#known.set(hash, known, size);
    return known;
  }

  /** Null: the TVM is needed, or something could not be read now. */
  async #detect(state: ContractAccount, known: KnownContract | null): Promise<DetectionResult | null> {
    const { lookup, libraries, kindsOf, logger } = this.#modules;
    const states = { get: (address: Address) => this.#contract(lookup, address) };
    const view = new IndexedContractView(state, { states, runs: NO_RUNS, libraries, onNative: () => {} });
    try {
      return await detectContract(state, view, known, 0, { kindsOf, logger });
    } catch {
      return null;
    }
  }

  async #contract(lookup: StateLookup, address: Address): Promise<ContractAccount | null> {
    const account = lookup.find(address);
    if (account === null) return null;
    const { code_hash, code: cell } = account.found;
    if (code_hash === null || cell === null) return contractOf(account, this.#mc_seqno, null);
    const hash = toHex(code_hash);
    const { codes } = this.#modules;
    let code = codes.get(hash);
    if (code === undefined) {
      const boc = serializeBoc(cell);
      code = await codes.add(hash, parseBocRoot(boc), boc.length);
    }
    return contractOf(account, this.#mc_seqno, code);
  }
}

function useOf(code: ContractCode, hasInterfaces: boolean): CodeUse {
  if (!code.isWhole) return 'queue';
  if (!hasInterfaces) return 'none';
  return nativeCodeOf(code.cell) === null ? 'queue' : 'native';
}

/** What needs the TVM goes to the queue. */
const NO_RUNS = {
  run: ({ state, method }: { readonly state: ContractAccount; readonly method: string }): never => {
    throw indexerErrors['contract-needs-tvm']({ address: state.address.toRaw(), method });
  },
};

/** @param code null: it has none */
function contractOf(
  { address, gen_utime, found }: FoundAccount,
  mc_seqno: number,
  code: ContractCode | null,
): ContractAccount {
  const { balance, extra_currencies, last_trans_lt, code_hash, data_hash, data } = found;
  return {
    address,
    balance,
    extra_currencies: [...(extra_currencies ?? [])],
    last_trans_lt,
    mc_seqno,
    gen_utime,
    code_hash,
    data_hash,
    running: code === null ? null : { code, data: data.kind === 'whole' ? data.cell : EMPTY_CELL },
    incomplete: false,
    unindexed: null,
  };
}
