import { beforeAll, describe, expect, it } from 'vitest';
import { type EmulateArguments, Emulator, NO_LIBRARIES } from '#drivers/tvm/emulator.js';
import { compileEmulator, EMULATOR, emulatorKnows } from '#drivers/tvm/emulator-binary.js';
import { prevBlocksText } from '#drivers/tvm/request-fields.js';
import { EmulatorConfigCache, sharedBoc } from '#drivers/tvm/shared-bocs.js';
import { transactionParts } from '#drivers/tvm/transaction.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { fromBase64, toBase64, toHex } from '#kernel/bytes.js';
import { codeOf, libraryCell, mainnetConfig } from '#test/support/tvm-contract.js';

const address = Address.ofParts(0, new Uint8Array(32).fill(5));
const base64 = (cell: Cell): string => toBase64(serializeBoc(cell));

/** An active account with much money. */
function accountOf(code: Cell): Cell {
  const account = new Builder().storeUint(0b1100, 4).storeUint(0, 8).storeBytes(address.hash); // account$1 addr_std$10 no anycast
  account
    .storeUint(1, 3)
    .storeUint(3, 8)
    .storeUint(2, 3)
    .storeUint(800, 16)
    .storeUint(0, 3)
    .storeUint(0, 32)
    .storeUint(0, 1); // storage_used, about, no extra, last_paid, no due payment
  account
    .storeUint(0, 64)
    .storeUint(8, 4)
    .storeBytes(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0))
    .storeUint(0, 1); // last_trans_lt balance
  account.storeUint(1, 1).storeUint(0b00110, 5).storeRef(code).storeRef(EMPTY_CELL); // active, state_init with code and data
  const cell = account.endCell();
  expect(decodeCell(Account, cell)).toMatchObject({ kind: 'account', storage: { state: { kind: 'account_active' } } });
  return new Builder().storeRef(cell).storeBytes(new Uint8Array(32)).storeUint(0, 64).endCell();
}

/** `ext_in_msg_info$10`, without a body. */
const message = new Builder()
  .storeUint(0b1000, 4)
  .storeUint(0b100, 3)
  .storeUint(0, 8)
  .storeBytes(address.hash)
  .storeUint(0, 4 + 2)
  .endCell();

const library = codeOf('f800'); // ACCEPT
const libraries = buildDictionary(256, [[library.hash(), new Builder().storeRef(library)]])!;
const config = new EmulatorConfigCache(1).get(mainnetConfig).whole;

function argumentsFor(more: Partial<EmulateArguments>): EmulateArguments {
  const shard_account = accountOf(libraryCell(library.hash()));
  const { params } = transactionParts({
    shard_account,
    config: mainnetConfig,
    now: 1_750_000_000,
    lt: 1_000_001n,
    message,
  });
  return {
    config,
    verbosity: 0,
    libraries: null,
    account: base64(shard_account),
    message: base64(message),
    prevBlocksInfo: null,
    params,
    ...more,
  };
}

describe('the emulator', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await Emulator.instantiate(await compileEmulator(), { maxConfigs: 2, maxBytes: 2 ** 30 });
  });

  it('is the one that its version names', () => {
    expect(JSON.parse(emulator.version())).toMatchObject({ emulatorLibCommitHash: EMULATOR.commit });
    expect([13, 14].map(emulatorKnows)).toEqual([true, false]);
  });

  it('forgets the libraries of the call before', () => {
    const accepted = (more: Partial<EmulateArguments>) =>
      JSON.parse(emulator.emulate(argumentsFor(more))!).output.success;
    expect(accepted({})).toBe(false);
    expect(accepted({ libraries: sharedBoc('libraries', libraries) })).toBe(true);
    expect(accepted({})).toBe(false);
    const root = parseBocRoot(fromBase64(NO_LIBRARIES)!);
    const none = buildDictionary(256, [[new Uint8Array(32), new Builder().storeRef(EMPTY_CELL)]])!;
    expect(toHex(root.hash())).toBe(toHex(none.hash()));
  });

  it('knows the previous blocks of each call, given or not', () => {
    // ACCEPT, PREVKEYBLOCK, DROP: without a tuple of blocks an error of types.
    const account = base64(accountOf(codeOf('f800f8340130')));
    const block = { workchain: -1, shard: 1n << 63n, seqno: 3, root_hash: address.hash, file_hash: address.hash };
    const text = prevBlocksText({ last_mc_blocks: [], prev_key_block: block, last_mc_blocks_100: [] }, 12);
    const exitCode = (prevBlocksInfo: string | null): number | null => {
      const { output } = JSON.parse(emulator.emulate(argumentsFor({ account, prevBlocksInfo }))!);
      const { description } = decodeCell(Transaction, parseBocRoot(fromBase64(output.transaction)!));
      const { value } = description;
      if (value.kind !== 'trans_ord' || value.compute_ph.kind !== 'tr_phase_compute_vm') return null;
      return value.compute_ph.exit_code;
    };
    expect([null, text, text, null, null, text].map(exitCode)).toEqual([7, 0, 0, 7, 7, 0]);
  });

  it('goes on after parameters that make its inner emulator destroy itself', () => {
    const params = { utime: 1, lt: '1', rand_seed: 'short', ignore_chksig: false, debug_enabled: false };
    expect(emulator.emulate(argumentsFor({ params }))).toMatch(/^\{"fail":true/);
    const { output } = JSON.parse(emulator.emulate(argumentsFor({ libraries: sharedBoc('libraries', libraries) }))!);
    expect(output.success).toBe(true);
  });

  it('says so when it cannot read a configuration', () => {
    const text = new SharedArrayBuffer(4);
    Buffer.from(text).write('AAAA', 'latin1');
    expect(emulator.emulate(argumentsFor({ config: { key: 'broken', text } }))).toBeNull();
    expect(emulator.memoryBytes).toBeLessThan(64 * 2 ** 20);
  });
});
