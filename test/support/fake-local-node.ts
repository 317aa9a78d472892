import { Address } from '#formats/address/address.js';
import { type BlockId, MASTERCHAIN_SHARD, type Shard } from '#formats/proofs/block-id.js';
import { defineErrors } from '#kernel/tern-error.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type {
  LocalNode,
  MinedIn,
  MinedMessage,
  NodeStatus,
  RecentState,
  Seeded,
  SnapshotInfo,
  WrittenStates,
} from '#localnet/node/local-node.js';
import type { AccountOverride } from '#localnet/producer/block-request.js';
import type { FundedWallet } from '#localnet/wallets/wallet-contract.js';

/** Errors as a network has them. */
export const fakeNodeErrors = defineErrors('fake-node', {
  'no-snapshot': {
    class: 'not-found',
    message: (d: { name: string }) => `there is no snapshot ${d.name}`,
    remedy: 'Name one that there is.',
  },
  refused: { class: 'caller', message: () => 'the network does not want it', remedy: 'Want something else.' },
  busy: { class: 'overloaded', message: () => 'the network has no time', remedy: 'Wait.' },
});

const SHARD_A: Shard = { workchain: 0, shard: 0x4000000000000000n };
const SHARD_B: Shard = { workchain: 0, shard: 0xc000000000000000n };

const GENESIS_TIME = 1_763_700_000;

/** A block whose hashes tell its place. */
export function fakeBlock(shard: Shard, seqno: number): BlockId {
  return {
    ...shard,
    seqno,
    root_hash: new Uint8Array(32).fill(seqno & 0xff),
    file_hash: new Uint8Array(32).fill((seqno + 1) & 0xff),
  };
}

export const fakeFaucet: FundedWallet = {
  version: 'highload-v3',
  address: Address.ofParts(0, new Uint8Array(32).fill(0xfa)),
  mnemonic: null,
  seed: new Uint8Array(32).fill(1),
  walletId: 4_269,
  balance: 1_000_000_000_000_000n,
};

export const fakeWallet: FundedWallet = {
  version: 'v5r1',
  address: Address.ofParts(0, new Uint8Array(32).fill(0x5e)),
  mnemonic: Array.from({ length: 24 }, (_, i) => `word${i}`),
  seed: new Uint8Array(32).fill(2),
  walletId: 2_147_483_409,
  balance: 5_000_000_000_000n,
};

/**
 * A network without a chain: it counts blocks, keeps time, balances and names of snapshots, and remembers what it was asked.
 */
export class FakeLocalNode implements LocalNode {
  /** What was asked that changes something, in its order. */
  readonly calls: (readonly [name: string, ...args: unknown[]])[] = [];
  readonly balances = new Map<string, bigint>();
  /** Seqnos of blocks that were waited for, to be known to readers. */
  readonly known: number[] = [];
  /** When set, everything that changes something is rejected with it. */
  problem: Error | null = null;
  fork: NodeStatus['fork'] = null;
  /** Accounts that a forked network has. */
  readonly foreign = new Set<string>();
  funded: readonly FundedWallet[] = [fakeFaucet, fakeWallet];
  #chain = 1;
  #seqno = 10;
  #now = GENESIS_TIME;
  readonly #recent = new Set<string>();
  #offset = 0;
  #speed = 1;
  #paused = false;
  #blockTime = 400;
  #mining: NodeStatus['mining'] = 'steady';
  #snapshots: SnapshotInfo[] = [];

  constructor() {
    for (const { address, balance } of this.funded) this.balances.set(address.toRaw(), balance);
  }

  get seqno(): number {
    return this.#seqno;
  }

  noteKnown({ seqno }: BlockId): void {
    this.known.push(seqno);
  }

  balanceOf(address: Address): bigint {
    return this.balances.get(address.toRaw()) ?? 0n;
  }

  async status(): Promise<NodeStatus> {
    return {
      chain: `chain-${this.#chain}`,
      head: fakeBlock(MASTERCHAIN_SHARD, this.#seqno),
      gen_utime: this.#now - 1,
      now: this.#now,
      time_offset: this.#offset,
      clock_speed: this.#speed,
      block_time: this.#blockTime,
      mining: this.#mining,
      paused: this.#paused,
      waiting_messages: 3,
      shards: [fakeBlock(SHARD_A, this.#seqno + 5), fakeBlock(SHARD_B, this.#seqno + 6)],
      fork: this.fork,
    };
  }

  async wallets(): Promise<readonly FundedWallet[]> {
    return this.funded;
  }

  async mine(blocks: number): Promise<MinedIn> {
    return this.#mined(['mine', blocks], blocks);
  }

  async setPaused(paused: boolean): Promise<void> {
    this.#note(['setPaused', paused]);
    this.#paused = paused;
  }

  async setBlockTime(milliseconds: number): Promise<void> {
    this.#note(['setBlockTime', milliseconds]);
    this.#blockTime = milliseconds;
    this.#mining = 'steady';
  }

  async setMining(mining: NodeStatus['mining']): Promise<void> {
    this.#note(['setMining', mining]);
    this.#mining = mining;
  }

  async snapshot(): Promise<RecentState> {
    this.#note(['snapshot']);
    this.#recent.add(String(this.#seqno));
    return { id: String(this.#seqno), block: fakeBlock(MASTERCHAIN_SHARD, this.#seqno) };
  }

  async revert(id: string): Promise<MinedIn> {
    if (!this.#recent.has(id)) throw localnetErrors['no-recent-state']({ id, kept: 64 });
    return this.#mined(['revert', id]);
  }

  async advanceTime(seconds: number): Promise<MinedIn> {
    const mined = this.#mined(['advanceTime', seconds]);
    this.#offset += seconds;
    this.#now += seconds;
    return mined;
  }

  async setClockSpeed(speed: number): Promise<void> {
    this.#note(['setClockSpeed', speed]);
    this.#speed = speed;
  }

  async fund(to: Address, amount: bigint, comment: string | null): Promise<MinedMessage> {
    const sent = this.#sent(['fund', to.toRaw(), amount, comment]);
    this.balances.set(to.toRaw(), this.balanceOf(to) + amount);
    this.balances.set(fakeFaucet.address.toRaw(), this.balanceOf(fakeFaucet.address) - amount);
    return sent;
  }

  async setAccount(address: Address, change: AccountOverride): Promise<MinedIn> {
    return this.#mined(['setAccount', address.toRaw(), change]);
  }

  async runMessageAs(message: Uint8Array): Promise<MinedMessage> {
    return this.#sent(['runMessageAs', message]);
  }

  async setConfigParam(index: number, value: Uint8Array | null): Promise<MinedIn> {
    return this.#mined(['setConfigParam', index, value]);
  }

  async seed(): Promise<Seeded> {
    const { block } = this.#mined(['seed']);
    const about = 'named by the wallet record';
    const domain = { kind: 'dns_domain', name: 'example.ton', address: fakeWallet.address, hash: null } as const;
    const library = { kind: 'library', name: 'code', address: fakeFaucet.address, hash: block.root_hash } as const;
    return {
      block,
      items: [
        { ...domain, about, created: true },
        { ...library, about, created: false },
      ],
    };
  }

  async split(shard: Shard): Promise<MinedIn> {
    return this.#mined(['split', shard.workchain, shard.shard]);
  }

  async merge(shard: Shard): Promise<MinedIn> {
    return this.#mined(['merge', shard.workchain, shard.shard]);
  }

  async saveSnapshot(name: string): Promise<SnapshotInfo> {
    this.#note(['saveSnapshot', name]);
    const saved = { name, head: fakeBlock(MASTERCHAIN_SHARD, this.#seqno), saved_at: GENESIS_TIME };
    this.#snapshots.push(saved);
    return saved;
  }

  async snapshots(): Promise<readonly SnapshotInfo[]> {
    return this.#snapshots;
  }

  async loadSnapshot(name: string): Promise<void> {
    this.#note(['loadSnapshot', name]);
    this.#begin(this.#find(name).head.seqno);
  }

  async deleteSnapshot(name: string): Promise<void> {
    this.#note(['deleteSnapshot', name]);
    const found = this.#find(name);
    this.#snapshots = this.#snapshots.filter((each) => each !== found);
  }

  async reset(): Promise<void> {
    this.#note(['reset']);
    this.#begin(0);
  }

  async exportTo(folder: string): Promise<{ readonly blocks: number }> {
    this.#note(['exportTo', folder]);
    return { blocks: this.#seqno * 3 };
  }

  async exportStatesTo(folder: string, splitDepth: number): Promise<WrittenStates> {
    const { block } = this.#mined(['exportStatesTo', folder, splitDepth]);
    return { block, files: [`${folder}/state.boc`], bytes: 1000 };
  }

  async touch(address: Address): Promise<MinedIn | null> {
    return this.foreign.has(address.toRaw()) ? this.#mined(['touch', address.toRaw()]) : null;
  }

  #begin(seqno: number): void {
    this.#chain++;
    this.#seqno = seqno;
  }

  #note(call: readonly [string, ...unknown[]]): void {
    if (this.problem !== null) throw this.problem;
    this.calls.push(call);
  }

  #mined(call: readonly [string, ...unknown[]], blocks = 1): MinedIn {
    this.#note(call);
    this.#seqno += blocks;
    return { block: fakeBlock(MASTERCHAIN_SHARD, this.#seqno) };
  }

  #sent(call: readonly [string, ...unknown[]]): MinedMessage {
    return { ...this.#mined(call), message_hash: new Uint8Array(32).fill(0xab) };
  }

  #find(name: string): SnapshotInfo {
    const found = this.#snapshots.find((each) => each.name === name);
    if (found === undefined) throw fakeNodeErrors['no-snapshot']({ name });
    return found;
  }
}
