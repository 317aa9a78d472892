import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
import { Address } from '#formats/address/address.js';
import { parseAddress } from '#formats/address/parse-address.js';
import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { Account } from '#formats/tlb/account.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { bytesEqual, fromHex, toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { forkErrors } from '#localnet/fork/errors.js';
import type { Round } from '#localnet/ledger/round.js';

const NO_ACCOUNT = encodeCell(Account, { kind: 'account_none' }).hash();

/** A masterchain block by number and hashes, and an account. */
const LINE = /^([1-9]\d{0,9}) ([0-9a-f]{64}) ([0-9a-f]{64}) (\S+)$/;

/**
 * Accounts that were here and have been destroyed: those the forked network must not bring back. They are kept in a file
 * beside the chain, each with the block that ended it: lines of blocks that the chain does not have, or has no more, since
 * it went back to a snapshot, do not count.
 */
export class GoneAccounts {
  readonly #file: string;
  readonly #gone: Set<string>;

  private constructor(file: string, gone: Set<string>) {
    this.#file = file;
    this.#gone = gone;
  }

  /**
   * @param file need not be there yet
   * @param isInChain whether the local chain has a masterchain block
   * @throws fork/bad-file
   */
  static open(file: string, isInChain: (id: BlockId) => boolean): GoneAccounts {
    const gone = new Set<string>();
    const text = readText(file);
    // What has no line end was being written when the process was ended: its block was not made.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) truncateSync(file, whole.length);
    for (const [i, line] of whole.split('\n').slice(0, -1).entries()) {
      const entry = readLine(line);
      if (entry === null) throw forkErrors['bad-file']({ file, problem: `line ${i + 1} is of another form` });
      const { block, address } = entry;
      if (isInChain(block)) gone.add(address.toRaw());
    }
    return new GoneAccounts(file, gone);
  }

  has(address: Address): boolean {
    return this.#gone.has(address.toRaw());
  }

  /** Notes what a round destroys. To be called before the round is in the chain. */
  note({ masterchain, shards }: Round): void {
    const ended = [...shards, masterchain].flatMap(({ id, root }) => endedIn(root, id.workchain));
    if (ended.length === 0) return;
    const { seqno, root_hash, file_hash } = masterchain.id;
    const block = `${seqno} ${toHex(root_hash)} ${toHex(file_hash)}`;
    appendFileSync(this.#file, ended.map((address) => `${block} ${address}\n`).join(''));
    for (const address of ended) this.#gone.add(address);
  }
}

/** Accounts that a block ends, raw. */
function endedIn(root: Cell, workchain: number): string[] {
  const ended: string[] = [];
  for (const [id, { state_update, transactions }] of decodeCell(Block, root).extra.value.account_blocks.value) {
    if (!bytesEqual(state_update.value.new_hash, NO_ACCOUNT)) continue;
    // It may have been brought here in the same block, so that what was before says nothing.
    const lived = [...transactions].some(([, { value }]) => value.orig_status !== 'acc_state_nonexist');
    if (lived) ended.push(Address.ofParts(workchain, id).toRaw());
  }
  return ended;
}

/** @throws fork/bad-file */
function readText(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw forkErrors['bad-file']({ file, problem: message }, error);
  }
}

function readLine(line: string): { readonly block: BlockId; readonly address: Address } | null {
  const [, seqno, root, file, account] = LINE.exec(line) ?? [];
  if (account === undefined) return null;
  const block = { ...MASTERCHAIN_SHARD, seqno: Number(seqno), root_hash: fromHex(root!)!, file_hash: fromHex(file!)! };
  try {
    return { block, address: parseAddress(account).address };
  } catch (error) {
    if (!isTernError(error)) throw error;
    return null;
  }
}
