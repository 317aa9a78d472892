import { decodeDomainName, encodeDomainName, readDnsEntries, readDnsRecord } from '#domain/contracts/dns-records.js';
import { orderActions } from '#domain/contracts/order-actions.js';
import { readTokenContent, sha256KeyOf } from '#domain/contracts/token-content.js';
import { readTonlibAccountState } from '#domain/contracts/tonlib-account-state.js';
import { readWallet } from '#domain/contracts/wallet.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { openCell } from '#formats/cells/slice.js';
import { storeChunkedBytes, storeSnakeBytes } from '#formats/cells/snake.js';
import { fromBase64 } from '#kernel/bytes.js';
import type { TernError } from '#kernel/tern-error.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import type { Random } from '#test/fuzz/random.js';
import { damageBelow } from '#test/fuzz/seeds.js';
import { otherAccounts, recordedAccounts } from '#test/support/contract-accounts.js';
import { nativeMethods, nativeShape } from '#test/support/native-comparison.js';

const fromReading = (error: TernError) => /^(contract-data|cells|tlb|address)\//.test(error.code);

const NAMES = ['uri', 'name', 'description', 'image', 'image_data', 'symbol', 'decimals', 'x'];

/** Content with values of all forms, in which one cell is damaged. */
function damagedContent(random: Random): Uint8Array {
  if (random.chance(1, 4)) return serializeBoc(damageBelow(offchain(random), random));
  const entries = NAMES.filter(() => random.chance(1, 2))
    .map((name) => [sha256KeyOf(name), contentValue(random)] as const)
    .sort(([a], [b]) => Buffer.compare(a, b));
  const root = buildDictionary(256, entries);
  const cell = new Builder().storeUint(0, 8).storeBit(root !== null);
  return serializeBoc(damageBelow((root === null ? cell : cell.storeRef(root)).endCell(), random));
}

function offchain(random: Random): Cell {
  return storeSnakeBytes(random.bytes(random.below(600)), new Builder().storeUint(1, 8)).endCell();
}

function contentValue(random: Random): Builder {
  const bytes = random.bytes(random.below(random.chance(1, 8) ? 9_000 : 200));
  const value = random.chance(1, 2)
    ? storeSnakeBytes(bytes, new Builder().storeUint(0, 8))
    : storeChunkedBytes(bytes, new Builder().storeUint(1, 8));
  return random.chance(1, 4) && value.bits < 500 ? value : new Builder().storeRef(value.endCell());
}

const TAGS = [0x1eda, 0xba93, 0xad01, 0x9fd3, 0x7473, 0x1234];

function damagedRecords(random: Random): Uint8Array {
  const entries = Array.from({ length: 1 + random.below(6) }, (_, i) => {
    const key = random.bytes(32);
    key[0] = i;
    const record = new Builder().storeUint(random.pick(TAGS), 16).storeBytes(random.bytes(random.below(60)));
    return [key, new Builder().storeRef(record.endCell())] as const;
  });
  return serializeBoc(damageBelow(buildDictionary(256, entries) as Cell, random));
}

const accounts = [...recordedAccounts, ...otherAccounts];
const orders = otherAccounts.flatMap(({ row }) => row?.order_boc ?? []).map((text) => parseBocRoot(fromBase64(text)!));

/** An account: the number of one that was recorded, and its data with one damaged cell. */
function damagedAccount(random: Random): Uint8Array {
  const number = random.below(accounts.length);
  const { data } = accounts[number] as (typeof accounts)[number];
  return serializeBoc(new Builder().storeUint(number, 16).storeRef(damageBelow(data, random)).endCell());
}

function readAccount(input: Uint8Array): void {
  const slice = openCell(parseBocRoot(input));
  const account = accounts[slice.loadUint(16) % accounts.length] as (typeof accounts)[number];
  const changed = { ...account, data: slice.loadRef() };
  readWallet(changed.code, changed.data);
  readTonlibAccountState({ ...changed, now: 0 });
  for (const method of nativeMethods(changed)) nativeShape(method);
}

export const fuzzTargets: readonly FuzzTarget[] = [
  {
    name: 'token-content',
    make: damagedContent,
    run: (input) => void readTokenContent(parseBocRoot(input)),
    allowed: fromReading,
  },
  {
    name: 'dns-records',
    make: damagedRecords,
    run: (input) => {
      const root = parseBocRoot(input);
      readDnsRecord(root);
      readDnsEntries(root);
    },
    allowed: fromReading,
  },
  {
    name: 'domain-name',
    make: (random) => random.bytes(random.below(140)),
    run: (input) => {
      const encoded = encodeDomainName(Buffer.from(input).toString());
      const again = encodeDomainName(decodeDomainName(encoded));
      if (!Buffer.from(encoded).equals(again)) throw new RangeError('the name is another one after decoding');
    },
    allowed: fromReading,
  },
  {
    name: 'order-actions',
    make: (random) => serializeBoc(damageBelow(random.pick(orders), random)),
    run: (input) => void orderActions(parseBocRoot(input)),
    allowed: fromReading,
  },
  { name: 'known-contracts', make: damagedAccount, run: readAccount, allowed: fromReading },
];
