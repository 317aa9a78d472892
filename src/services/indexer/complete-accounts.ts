import { WALLET_CODE_HASHES } from '#domain/contracts/wallet.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { accountKey, addressOfBytes, firstIdOf } from '#drivers/store/keys.js';
import { codeRow } from '#drivers/store/stored-transaction.js';
import {
  completeAccount,
  type IncompleteAccount,
  incompleteAccounts,
  type MissingAccountParts,
} from '#drivers/store/write/accounts.js';
import { lockEvents } from '#drivers/store/write/locks.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import type { IndexerContext } from '#services/indexer/index-progress.js';

/** Accounts per database page, and concurrent liteserver queries. */
const PAGE = 200;
const AT_A_TIME = 8;

/** A state that servers do not have is not requested again for this long. */
const AGAIN_AFTER_MS = 600_000;
/** Maximum number of states remembered as unavailable. */
const MAX_REMEMBERED = 100_000;

/**
 * Requests from liteservers the account parts that indexed blocks do not contain: data that is partly older than the first
 * indexed block, and code that no indexed block shows.
 */
export class AccountCompleter {
  readonly #work: IndexerContext;
  /** By state hash: when it may be requested again. */
  readonly #unavailable = new Map<string, number>();

  constructor(work: IndexerContext) {
    this.#work = work;
  }

  /**
   * Tries once to complete each incomplete account whose newest state is in a range of masterchain blocks.
   *
   * @returns how many remain incomplete because servers no longer have their states
   * @throws indexer/stopped
   */
  async run(range: SeqnoRange, signal: AbortSignal): Promise<number> {
    const { database, retries } = this.#work;
    let after: Uint8Array | null = null;
    let left = 0;
    for (;;) {
      const position: Uint8Array | null = after;
      const page: IncompleteAccount[] = await retries.run(
        () => database.withWriter((client) => incompleteAccounts(client, range, position, PAGE)),
        signal,
      );
      for (let i = 0; i < page.length; i += AT_A_TIME) {
        const found = await Promise.all(page.slice(i, i + AT_A_TIME).map((account) => this.#try(account, signal)));
        left += found.filter((parts) => parts === null).length;
        const parts = found.filter((each) => each !== null);
        await retries.run(
          () =>
            database.transaction(async (client) => {
              // Batches change accounts under this lock, in their own order.
              await lockTraces(client);
              await lockEvents(client);
              for (const each of parts) await completeAccount(client, each, WALLET_CODE_HASHES);
              if (parts.length > 0) {
                await recordContractChange(
                  client,
                  parts.map(({ address }) => accountKey(address)),
                );
              }
            }),
          signal,
        );
      }
      if (page.length < PAGE) return left;
      after = page.at(-1)!.address;
    }
  }

  async #try(account: IncompleteAccount, signal: AbortSignal): Promise<MissingAccountParts | null> {
    const { clock } = this.#work;
    const key = toHex(account.state_hash);
    if ((this.#unavailable.get(key) ?? 0) > clock.now()) return null;
    this.#unavailable.delete(key);
    const parts = await this.#find(account, signal);
    if (parts === null) {
      if (this.#unavailable.size >= MAX_REMEMBERED) this.#unavailable.clear();
      this.#unavailable.set(key, clock.now() + AGAIN_AFTER_MS);
    }
    return parts;
  }

  /** From the newest block if the account is unchanged there, else from the block that created the state. */
  async #find(account: IncompleteAccount, signal: AbortSignal): Promise<MissingAccountParts | null> {
    const { facts } = this.#work;
    const head = (await facts.head(signal)).block;
    const newest = await this.#stateAt(account, head, signal);
    if (newest !== null) return newest;
    const block = await this.#masterchainBlock(account.mc_seqno, signal);
    return block === null ? null : this.#stateAt(account, block, signal);
  }

  async #stateAt({ address, state_hash }: IncompleteAccount, block: BlockId, signal: AbortSignal) {
    const { bundles } = this.#work;
    const found = await bundles.accountAt(addressOfBytes(address), block, block.seqno, signal);
    if (found === null || found.account === null) return null;
    const cell = parseBocRoot(found.account);
    return bytesEqual(cell.hash(), state_hash) ? accountParts(address, state_hash, found.account) : null;
  }

  async #masterchainBlock(seqno: number, signal: AbortSignal): Promise<BlockId | null> {
    const { database, retries } = this.#work;
    // The accounts of a zerostate are known from the zerostate.
    if (seqno === 0) return null;
    const rows = await retries.run(
      () =>
        database.withWriter((client) =>
          client.query<{ root_hash: Uint8Array; file_hash: Uint8Array }>(
            'SELECT root_hash, file_hash FROM blocks WHERE id = $1',
            [firstIdOf(seqno)],
          ),
        ),
      signal,
    );
    const hashes = rows.rows[0];
    return hashes === undefined ? null : { ...MASTERCHAIN_SHARD, seqno, ...hashes };
  }
}

/** The parts of an account that may be missing, from its full state. */
function accountParts(address: Uint8Array, state_hash: Uint8Array, bytes: Uint8Array): MissingAccountParts {
  const account = decodeCell(Account, parseBocRoot(bytes));
  const none = { address, state_hash, data_boc: null, extra_currencies: null, code: null };
  if (account.kind === 'account_none') return none;
  const { balance, state } = account.storage;
  const extra = Object.fromEntries([...balance.other].map(([id, amount]) => [id, String(amount)]));
  const extra_currencies = Object.keys(extra).length === 0 ? null : JSON.stringify(extra);
  if (state.kind !== 'account_active') return { ...none, extra_currencies };
  const { code, data } = state.state_init;
  return {
    address,
    state_hash,
    extra_currencies,
    data_boc: data === null ? null : serializeBoc(data),
    code: code === null ? null : codeRow(code),
  };
}
