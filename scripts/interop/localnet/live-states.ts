import { setTimeout as delay } from 'node:timers/promises';
import { parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { accountPrefix, shardContains } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { fromBase64, toBase64, toHex } from '#kernel/bytes.js';
import { statesOfChain } from '#test/support/states-of-chain.js';
import { tonlibId } from '../block-checks.js';
import type { ChainTruth } from '../chain-truth.js';
import { expectSame } from '../same-answer.js';
import type { JsonObject, TonlibSession } from '../tonlib-session.js';
import { ZEROSTATES } from './local-network.js';
import { ask } from './tonlib-wallet.js';

const PAUSE_MS = 100;

/** What was said of an account. */
interface SeenState {
  readonly address: string;
  readonly answer: JsonObject;
}

/** Asks tonlib for accounts again and again while the chain goes on; the files say later whether it was right. */
export class LiveStates {
  readonly #tonlib: TonlibSession;
  readonly #addresses: readonly string[];
  readonly #seen: SeenState[] = [];
  #stopped = false;

  /** @param addresses raw */
  constructor(tonlib: TonlibSession, addresses: readonly string[]) {
    this.#tonlib = tonlib;
    this.#addresses = addresses;
  }

  async watch(): Promise<void> {
    for (let i = 0; !this.#stopped; i++) {
      const address = this.#addresses[i % this.#addresses.length]!;
      const account_address = { '@type': 'accountAddress', account_address: address };
      const answer = await ask(this.#tonlib, { '@type': 'raw.getAccountState', account_address });
      this.#seen.push({ address, answer });
      await delay(PAUSE_MS);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Compares with the states that the files of the chain make. @returns how much it was */
  compare(folder: string, { masterchain }: ChainTruth): string {
    const bySeqno = new Map(masterchain.map((block) => [block.id.seqno, block]));
    const asked = new Map<string, SeenState[]>();
    for (const seen of this.#seen) {
      const block = bySeqno.get((seen.answer.block_id as JsonObject).seqno as number);
      if (block === undefined) throw new Error(`${seen.address} is of a block that the chain has not`);
      expectSame(tonlibId(block.id), seen.answer.block_id, `the block of ${seen.address}`);
      expectSame(block.gen_utime, seen.answer.sync_utime, `the time of ${seen.address}`);
      const { workchain, hash } = parseAddress(seen.address).address;
      const holds = (shard: bigint): boolean => shardContains(shard, accountPrefix(hash));
      const top = workchain === -1 ? block.id : block.tops.find(({ shard }) => holds(shard))!;
      const name = toHex(top.root_hash);
      asked.set(name, [...(asked.get(name) ?? []), seen]);
    }
    let count = 0;
    const states = new Set<string>();
    for (const { link, root } of statesOfChain(folder, ZEROSTATES)) {
      for (const seen of asked.get(link.id.rootHash) ?? []) {
        compareAccount(root, seen);
        states.add(link.id.rootHash);
        count++;
      }
    }
    if (count < this.#seen.length) throw new Error(`${this.#seen.length - count} are of blocks that are missing`);
    return `${count} states after ${states.size} blocks`;
  }
}

function compareAccount(root: Cell, { address, answer }: SeenState): void {
  const { accounts } = decodeCell(ShardStateUnsplit, root);
  const found = accounts.value.get(parseAddress(address).address.hash);
  const account = found?.account.value;
  const storage = account?.kind === 'account' ? account.storage : null;
  const parts = storage?.state.kind === 'account_active' ? storage.state.state_init : null;
  const last = answer.last_transaction_id as JsonObject;
  const expected = {
    balance: storage === null ? '-1' : `${storage.balance.grams}`,
    lt: `${found?.last_trans_lt ?? 0}`,
    hash: toBase64(found?.last_trans_hash ?? new Uint8Array(32)),
    code: hashOf(parts?.code ?? null),
    data: hashOf(parts?.data ?? null),
  };
  const { balance, code, data } = answer;
  const said = { balance: balance!, lt: last.lt!, hash: last.hash!, code: bagHash(code), data: bagHash(data) };
  expectSame(expected, said, `${address} after block ${(answer.block_id as JsonObject).seqno}`);
}

function hashOf(cell: Cell | null): string {
  return cell === null ? '' : toHex(cell.hash());
}

function bagHash(base64: unknown): string {
  return base64 === '' ? '' : hashOf(parseBocRoot(fromBase64(base64 as string)!));
}
