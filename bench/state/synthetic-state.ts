import { closeSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { stateInitHash, storeAddress } from '#domain/contracts/native-code.js';
import { Address } from '#formats/address/address.js';
import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { bitAt, commonBits, storeLabel } from '#formats/cells/dict-label.js';
import { crc32c, joinCrc32c, sha256 } from '#formats/cells/digests.js';
import { openCell } from '#formats/cells/slice.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { grams } from '#formats/tlb/codec/primitives.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { compareBytes, toHex } from '#kernel/bytes.js';
import { openReplay } from '#localnet/replay/replay-ledger.js';
import { vectorPath } from '../../test/support/vector-files.js';

/** The states that were written. */
export interface SyntheticState {
  readonly masterchainFile: string;
  readonly basechainFile: string;
  readonly accounts: number;
  readonly cells: number;
  readonly bytes: number;
  /** Accounts by what they are. */
  readonly mix: Readonly<Record<string, number>>;
}

/** Share of the accounts, as on mainnet roughly; the rest are masters and collections. */
const MIX = { wallet: 0.45, 'jetton wallet': 0.32, 'NFT item': 0.1, uninit: 0.1, other: 0.03 } as const;
type Kind = keyof typeof MIX;
const KINDS = Object.keys(MIX) as Kind[];
/** Accounts for each master and each collection. */
const WALLETS_PER_MASTER = 2000;
const WALLETS_PER_OWNER = 4;
const ITEMS_PER_COLLECTION = 500;

/** Codes and data of recorded accounts, after which the synthetic ones are made. */
interface Templates {
  readonly wallets: readonly Cell[];
  readonly other: Cell;
  readonly master: { readonly code: Cell; readonly data: Cell; readonly walletCode: Cell };
  readonly collection: { readonly code: Cell; readonly data: Cell; readonly itemCode: Cell };
  readonly itemContent: Cell;
  readonly masterchain: Cell;
  readonly basechain: Cell;
}

const CODES = {
  wallets: [
    'feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0',
    '84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599',
    '20834b7b72b112147e1b2fb457b84e74d1a30f04f737d4f62a668e9552d2b72f',
  ],
  master: '9a0f98dd6fbf225eef8165e4e64417ee931f7eea000653439e7b5dcdc0644cd6',
  collection: '8e5aab17e2e503bec75c2f453b9dacf11a98bbb2cc202994710952a7271c7780',
  item: 'ba4d975d2b66231c1f0a0ccca6e8ff8f7ba0610c4b7639584b8e98303dc3128c',
};
const OTHER = 'a5e84e4c';

function readTemplates(): Templates {
  const ledger = openReplay(vectorPath('collection/recorded-net/chain'), { to: 900, head: null });
  const masterchain = ledger.state(ledger.head!);
  const { custom } = decodeCell(ShardStateUnsplit, masterchain);
  const [top] = [...shardDescrs(custom!.value.shard_hashes)].map(blockOfShard);
  const basechain = ledger.state(ledger.block(top!)!);
  const found = new Map<string, { readonly code: Cell; readonly data: Cell }>();
  for (const [, { account }] of decodeCell(ShardStateUnsplit, basechain).accounts.value.entries()) {
    const { value } = account;
    if (value.kind !== 'account' || value.storage.state.kind !== 'account_active') continue;
    const { code, data } = value.storage.state.state_init;
    if (code === null || data === null) continue;
    const hash = toHex(code.hash());
    // The items of a collection have the code that it names.
    const fits = hash !== CODES.collection || toHex(data.ref(1).hash()) === CODES.item;
    if (!found.has(hash) && fits) found.set(hash, { code, data });
    if (hash.startsWith(OTHER)) found.set(OTHER, { code, data });
  }
  const need = (hash: string) => {
    const each = found.get(hash);
    if (each === undefined) throw new Error(`the recorded network has no account with code ${hash}`);
    return each;
  };
  const master = need(CODES.master);
  const collection = need(CODES.collection);
  const item = openCell(need(CODES.item).data);
  return {
    wallets: CODES.wallets.map((hash) => need(hash).code),
    other: need(OTHER).code,
    // total_supply admin content:^Cell wallet_code:^Cell
    master: { ...master, walletCode: master.data.ref(1) },
    collection: { ...collection, itemCode: collection.data.ref(1) },
    itemContent: item.loadRef(),
    masterchain,
    basechain,
  };
}

/** Writes cells, children first, to a bag in which the last one is the root: its cells in the opposite order. */
class BackwardBag {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #known = new Map<string, number>();
  readonly #buffer = Buffer.alloc(1 << 20);
  #used = 0;
  #lengths = new Uint16Array(1 << 20);
  cells = 0;
  #bytes = 0;

  constructor(file: string) {
    this.#file = file;
    this.#descriptor = openSync(file, 'w+');
  }

  /** @param cell whose own references are not written @param refs numbers of the cells that it refers to */
  add(cell: Cell, refs: readonly number[] = []): number {
    const data = (cell.bits + 7) >> 3;
    const length = 2 + data + 4 * refs.length;
    if (this.#used + length > this.#buffer.length) this.#flush();
    const buffer = this.#buffer;
    let at = this.#used;
    buffer[at++] = refs.length + (cell.type === 0 ? 0 : 8);
    buffer[at++] = (cell.bits >> 3) + data;
    for (let i = 0; i < data; i++) buffer[at++] = cell.bytes[cell.dataOffset + i]!;
    for (const ref of refs) at = buffer.writeUInt32LE(ref, at);
    this.#used = at;
    if (this.cells === this.#lengths.length) {
      const larger = new Uint16Array(this.#lengths.length * 2);
      larger.set(this.#lengths);
      this.#lengths = larger;
    }
    this.#lengths[this.cells] = length;
    this.#bytes += length;
    return this.cells++;
  }

  /** Adds a cell with all below it; equal trees are written once. */
  addTree(cell: Cell): number {
    const key = toHex(cell.hash());
    let number = this.#known.get(key);
    if (number === undefined) {
      const refs = Array.from({ length: cell.refCount }, (_, i) => this.addTree(cell.ref(i)));
      number = this.add(cell, refs);
      this.#known.set(key, number);
    }
    return number;
  }

  #flush(): void {
    writeSync(this.#descriptor, this.#buffer, 0, this.#used);
    this.#used = 0;
  }

  /** Writes the bag, with index, cache bits and checksum. @returns its size */
  finish(target: string): number {
    this.#flush();
    const { cells } = this;
    const offsetSize = 6;
    const head = Buffer.alloc(6 + 4 * 4 + offsetSize);
    head.writeUInt32BE(0xb5ee9c72, 0);
    head[4] = 0x80 | 0x40 | 0x20 | 4;
    head[5] = offsetSize;
    head.writeUInt32BE(cells, 6);
    head.writeUInt32BE(1, 10);
    head.writeUIntBE(this.#bytes, 18, offsetSize);
    const out = new Output(target);
    out.write(head);
    let end = 0;
    const entry = Buffer.alloc(offsetSize);
    for (let number = cells - 1; number >= 0; number--) {
      end += this.#lengths[number]!;
      entry.writeUIntBE(end * 2, 0, offsetSize);
      out.write(entry);
    }
    this.#writeCells(out);
    const size = out.finish();
    closeSync(this.#descriptor);
    rmSync(this.#file);
    return size;
  }

  #writeCells(out: Output): void {
    const piece = Buffer.alloc(8 << 20);
    let top = this.#bytes;
    let from = top;
    for (let number = this.cells - 1; number >= 0; number--) {
      const start = top - this.#lengths[number]!;
      if (start < from) {
        from = Math.max(0, top - piece.length);
        for (let at = from; at < top; ) at += readSync(this.#descriptor, piece, at - from, top - at, at);
      }
      const cell = piece.subarray(start - from, top - from);
      const refs = cell[0]! & 7;
      for (let at = cell.length - 4 * refs; at < cell.length; at += 4) {
        cell.writeUInt32BE(this.cells - 1 - cell.readUInt32LE(at), at);
      }
      out.write(cell);
      top = start;
    }
  }
}

/** A file that is written once, with its checksum. */
class Output {
  readonly #descriptor: number;
  readonly #buffer = Buffer.alloc(4 << 20);
  #used = 0;
  #size = 0;
  #crc = 0;

  constructor(file: string) {
    this.#descriptor = openSync(file, 'w');
  }

  write(bytes: Uint8Array): void {
    if (this.#used + bytes.length > this.#buffer.length) this.#flush();
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  /** Writes the checksum. @returns the size */
  finish(): number {
    this.#flush();
    const end = Buffer.alloc(4);
    end.writeUInt32LE(this.#crc);
    writeSync(this.#descriptor, end);
    closeSync(this.#descriptor);
    return this.#size + 4;
  }

  #flush(): void {
    const part = this.#buffer.subarray(0, this.#used);
    this.#crc = joinCrc32c(this.#crc, crc32c(part), part.length);
    for (let at = 0; at < part.length; ) at += writeSync(this.#descriptor, part, at);
    this.#size += part.length;
    this.#used = 0;
  }
}

/** A number for each seed, evenly distributed over 32 bits. */
function mixed(seed: number): number {
  let x = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

function randomId(what: string, seed: number): Uint8Array {
  return sha256(new TextEncoder().encode(`${what} ${seed}`));
}

/** Accounts made by their number, always the same. */
class AccountMaker {
  readonly #templates: Templates;
  readonly #masters: readonly Address[];
  readonly #collections: readonly Address[];
  readonly count: number;
  readonly #shown: number;

  constructor(templates: Templates, accounts: number) {
    this.#templates = templates;
    this.count = accounts;
    const masters = Math.max(1, Math.round((accounts * MIX['jetton wallet']) / WALLETS_PER_MASTER));
    const collections = Math.max(1, Math.round((accounts * MIX['NFT item']) / ITEMS_PER_COLLECTION));
    this.#masters = Array.from({ length: masters }, (_, i) => Address.ofParts(0, randomId('master', i)));
    this.#collections = Array.from({ length: collections }, (_, i) => Address.ofParts(0, randomId('collection', i)));
    this.#shown = masters + collections;
  }

  kindOf(n: number): Kind | 'jetton master' | 'NFT collection' {
    if (n < this.#masters.length) return 'jetton master';
    if (n < this.#shown) return 'NFT collection';
    let share = mixed(n) / 2 ** 32;
    for (const kind of KINDS) {
      share -= MIX[kind];
      if (share < 0) return kind;
    }
    return 'wallet';
  }

  idOf(n: number): Uint8Array {
    const { master, collection } = this.#templates;
    switch (this.kindOf(n)) {
      case 'jetton master':
        return this.#masters[n]!.hash;
      case 'NFT collection':
        return this.#collections[n - this.#masters.length]!.hash;
      case 'jetton wallet':
        return stateInitHash(master.walletCode, this.#walletData(n, 0n)).slice();
      case 'NFT item': {
        const data = storeAddress(new Builder().storeUint(n, 64), this.#collectionOf(n)).endCell();
        return stateInitHash(collection.itemCode, data).slice();
      }
      default:
        return randomId('account', n);
    }
  }

  #collectionOf(n: number): Address {
    return this.#collections[mixed(n + 1) % this.#collections.length]!;
  }

  #walletData(n: number, balance: bigint): Cell {
    // An owner has wallets of several jettons, and one of each.
    const each = Math.min(WALLETS_PER_OWNER, this.#masters.length);
    const owner = Math.floor(n / each);
    const jetton = this.#masters[(mixed(owner) + (n % each)) % this.#masters.length]!;
    const builder = new Builder();
    grams.store(balance, builder);
    storeAddress(builder, Address.ofParts(0, randomId('owner', owner)));
    return storeAddress(builder, jetton).storeRef(this.#templates.master.walletCode).endCell();
  }

  /** Code and data; null: it has none. */
  stateOf(n: number): { readonly code: Cell; readonly data: Cell } | null {
    const { wallets, other, master, collection, itemContent } = this.#templates;
    switch (this.kindOf(n)) {
      case 'jetton master':
        return master;
      case 'NFT collection':
        return collection;
      case 'jetton wallet':
        return { code: master.walletCode, data: this.#walletData(n, BigInt(mixed(n + 2)) * 1000n) };
      case 'NFT item': {
        const data = storeAddress(new Builder().storeUint(n, 64), this.#collectionOf(n));
        storeAddress(data, Address.ofParts(0, randomId('owner', n % 1_000_000)));
        const content = new Builder().storeBytes(new TextEncoder().encode(`item/${n}.json`)).endCell();
        return { code: collection.itemCode, data: data.storeRef(n % 2 === 0 ? content : itemContent).endCell() };
      }
      case 'uninit':
        return null;
      case 'other':
        return { code: other, data: new Builder().storeBytes(randomId('data', n)).endCell() };
      case 'wallet': {
        const code = wallets[mixed(n + 3) % wallets.length]!;
        const data = new Builder().storeUint(n % 1000, 32).storeUint(698_983_191, 32);
        return { code, data: data.storeBytes(randomId('key', n)).storeBit(false).endCell() };
      }
    }
  }
}

/** Writes a state of the basechain with so many accounts, and the masterchain state of the recorded network beside it. */
export function writeSyntheticState(folder: string, accounts: number): SyntheticState {
  const templates = readTemplates();
  const maker = new AccountMaker(templates, accounts);
  const ids = new Uint8Array(32 * accounts);
  const mix: Record<string, number> = {};
  for (let n = 0; n < accounts; n++) {
    ids.set(maker.idOf(n), n * 32);
    const kind = maker.kindOf(n);
    mix[kind] = (mix[kind] ?? 0) + 1;
  }
  const bag = new BackwardBag(join(folder, 'cells.scratch'));
  const { number } = new DictionaryWriter(bag, maker, ids, sortedBy(ids, accounts)).run();
  const dictionary = new Builder().storeBit(true);
  const root = templates.basechain;
  const [queue, , totals] = [0, 1, 2].map((i) => root.ref(i));
  const extra = new Builder().storeUint(0, 5);
  grams.store(BigInt(accounts) * BALANCE, extra);
  const holder = bag.add(dictionary.storeBuilder(extra.storeBit(false)).endCell(), [number]);
  bag.add(root, [bag.addTree(queue!), holder, bag.addTree(totals!)]);
  const basechainFile = join(folder, 'basechain.boc');
  const { cells } = bag;
  const bytes = bag.finish(basechainFile);
  const masterchainFile = join(folder, 'masterchain.boc');
  writeFileSync(masterchainFile, serializeBoc(templates.masterchain, BLOCK_FILE));
  return { masterchainFile, basechainFile, accounts, cells, bytes, mix };
}

/** The numbers of accounts in the order of their ids. */
function sortedBy(ids: Uint8Array, accounts: number): Uint32Array {
  const bits = BigInt(32 - Math.clz32(accounts));
  const view = new DataView(ids.buffer);
  const keys = new BigUint64Array(accounts);
  for (let n = 0; n < accounts; n++) keys[n] = ((view.getBigUint64(n * 32) >> bits) << bits) | BigInt(n);
  keys.sort();
  const order = Uint32Array.from(keys, (key) => Number(BigInt.asUintN(Number(bits), key)));
  const idOf = (i: number): Uint8Array => ids.subarray(order[i]! * 32, order[i]! * 32 + 32);
  // The first bits of a few are the same.
  for (let i = 1; i < accounts; i++) {
    for (let j = i; j > 0 && compareBytes(idOf(j - 1), idOf(j)) > 0; j--) {
      [order[j - 1], order[j]] = [order[j]!, order[j - 1]!];
    }
  }
  return order;
}

/** Of each account. */
const BALANCE = 1_234_567_890n;

/** Writes `HashmapAug 256 ShardAccount DepthBalanceInfo`. */
class DictionaryWriter {
  readonly #bag: BackwardBag;
  readonly #maker: AccountMaker;
  readonly #ids: Uint8Array;
  readonly #order: Uint32Array;

  constructor(bag: BackwardBag, maker: AccountMaker, ids: Uint8Array, order: Uint32Array) {
    this.#bag = bag;
    this.#maker = maker;
    this.#ids = ids;
    this.#order = order;
  }

  run(): { readonly number: number } {
    return { number: this.#node(0, this.#order.length, 0) };
  }

  #idAt(i: number): Uint8Array {
    const at = this.#order[i]! * 32;
    return this.#ids.subarray(at, at + 32);
  }

  #node(from: number, to: number, at: number): number {
    const first = this.#idAt(from);
    if (to - from === 1) return this.#leaf(from, first, at);
    const length = commonBits(first, at, this.#idAt(to - 1), at, 256 - at);
    const forkAt = at + length;
    let low = from + 1;
    let high = to - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (bitAt(this.#idAt(middle), forkAt) === 0) low = middle + 1;
      else high = middle;
    }
    // The last reference first: in the file, the first one follows its parent.
    const right = this.#node(low, to, forkAt + 1);
    const left = this.#node(from, low, forkAt + 1);
    const builder = new Builder();
    storeLabel(builder, first, at, length, 256 - at);
    grams.store(BigInt(to - from) * BALANCE, builder.storeUint(0, 5));
    return this.#bag.add(builder.storeBit(false).endCell(), [left, right]);
  }

  #leaf(i: number, id: Uint8Array, at: number): number {
    const n = this.#order[i]!;
    const state = this.#maker.stateOf(n);
    const account = new Builder().storeBit(true);
    storeAddress(account, Address.ofParts(0, id));
    // storage_used:(cells bits) storage_extra last_paid due_payment, last_trans_lt
    account.storeUint(1, 3).storeUint(3, 8).storeUint(2, 3).storeUint(700, 16).storeUint(0, 3);
    account
      .storeUint(1_700_000_000, 32)
      .storeBit(false)
      .storeUint(1000 + n, 64);
    grams.store(BALANCE, account);
    account.storeBit(false);
    let refs: number[] = [];
    if (state === null) account.storeUint(0, 2);
    else {
      account.storeBit(true).storeUint(0b00110, 5);
      const { code, data } = state;
      refs = [this.#bag.addTree(code), this.#data(data)];
    }
    const number = this.#bag.add(account.endCell(), refs);
    const leaf = new Builder();
    storeLabel(leaf, id, at, 256 - at, 256 - at);
    grams.store(BALANCE, leaf.storeUint(0, 5));
    leaf
      .storeBit(false)
      .storeBytes(id)
      .storeUint(1000 + n, 64);
    return this.#bag.add(leaf.endCell(), [number]);
  }

  /** Data is of one account; what is below is shared now and then. */
  #data(data: Cell): number {
    const refs = Array.from({ length: data.refCount }, (_, r) => {
      const ref = data.ref(r);
      return ref.refCount === 0 && ref.bits < 200 && ref !== EMPTY_CELL ? this.#bag.add(ref) : this.#bag.addTree(ref);
    });
    return this.#bag.add(data, refs);
  }
}
