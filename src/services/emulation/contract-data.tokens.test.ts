import { describe, expect, it } from 'vitest';
import { nativeCodeOf } from '#domain/contracts/interface-registry.js';
import { getWalletData } from '#domain/contracts/interfaces/jetton-wallet.js';
import { runNatively } from '#domain/contracts/native-code.js';
import { sha256KeyOf } from '#domain/contracts/token-content.js';
import { Address, parseAddress } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { storeSnakeText } from '#formats/cells/snake.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { VM_NULL, type VmStackValue, vmCell, vmInt, vmSlice } from '#formats/tlb/vm-stack.js';
import { toHex } from '#kernel/bytes.js';
import { readTokenData } from '#services/emulation/contract-data.js';
import { contractsErrors } from '#services/emulation/errors.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';
import { FAKE_BLOCK, type FakeContract, FakeContracts } from '#test/support/fake-contracts.js';

const addressOf = (byte: number): Address => Address.ofParts(0, new Uint8Array(32).fill(byte));
const [subject, master, owner] = [addressOf(1), addressOf(2), addressOf(3)] as const;
const asSlice = (address: Address | null): VmStackValue => vmSlice(encodeCell(MsgAddress, address));
const link = (text: string): Cell => storeSnakeText(text, new Builder().storeUint(1, 8)).endCell();
const walletCode = new Builder().storeUint(7, 8).endCell();

const jettonData: VmStack = [vmInt(5), vmInt(-1), asSlice(null), vmCell(link('https://j')), vmCell(walletCode)];
const walletData: VmStack = [vmInt(9), asSlice(owner), asSlice(master), vmCell(walletCode)];
const collectionData: VmStack = [vmInt(-1), vmCell(link('https://c')), asSlice(owner)];
const itemData: VmStack = [vmInt(-1), vmInt(4), asSlice(master), asSlice(owner), vmCell(link('https://i'))];

/** A contract of unknown code. */
const unknown = (address: Address, methods: FakeContract['methods']): FakeContract => ({
  address,
  code: EMPTY_CELL,
  data: EMPTY_CELL,
  ...(methods === undefined ? {} : { methods }),
});

async function tokenOf(contracts: readonly FakeContract[], address = subject): Promise<unknown> {
  return (await readTokenData(address, new FakeContracts(contracts), {})).token;
}

describe('what a contract of unknown code is', () => {
  it('is recognised by what it answers, the first kind that holds', async () => {
    const all = { get_jetton_data: jettonData, get_wallet_data: walletData, get_collection_data: collectionData };
    expect(await tokenOf([unknown(subject, all)])).toEqual({
      contract_type: 'jetton_master',
      address: subject,
      total_supply: 5n,
      mintable: true,
      admin_address: null,
      jetton_content: { type: 'offchain', data: 'https://j' },
      jetton_wallet_code: walletCode,
    });
    // The master does not say so: no wallet.
    const { get_jetton_data, ...rest } = all;
    expect(get_jetton_data).toBeDefined();
    expect(await tokenOf([unknown(subject, rest)])).toEqual({
      contract_type: 'nft_collection',
      address: subject,
      next_item_index: -1n,
      owner_address: owner,
      collection_content: { type: 'offchain', data: 'https://c' },
    });
    expect(await tokenOf([unknown(subject, {})])).toBeNull();
  });

  it('is a jetton wallet when the master says so', async () => {
    const wallet = unknown(subject, { get_wallet_data: walletData });
    const says = (address: Address | null) => unknown(master, { get_wallet_address: [asSlice(address)] });
    const token = {
      contract_type: 'jetton_wallet',
      address: subject,
      balance: 9n,
      owner,
      jetton: master,
      jetton_wallet_code: walletCode,
      mintless_is_claimed: null,
    };
    expect(await tokenOf([wallet, says(subject)])).toEqual(token);
    expect(await tokenOf([wallet, says(owner)])).toBeNull();
    expect(await tokenOf([wallet, says(null)])).toBeNull();
    expect(await tokenOf([wallet])).toBeNull();
    const claimed = unknown(subject, { get_wallet_data: walletData, is_claimed: [vmInt(-1)] });
    expect(await tokenOf([claimed, says(subject)])).toEqual({ ...token, mintless_is_claimed: true });
    const odd = unknown(subject, { get_wallet_data: walletData, is_claimed: [vmInt(-1), vmInt(0)] });
    expect(await tokenOf([odd, says(subject)])).toEqual(token);
  });

  it('is an NFT when its collection says so, which also completes its content', async () => {
    const item = unknown(subject, { get_nft_data: itemData });
    const collection = (address: Address) =>
      unknown(master, {
        get_nft_address_by_index: [asSlice(address)],
        get_nft_content: [vmCell(link('https://c/i'))],
      });
    expect(await tokenOf([item, collection(subject)])).toEqual({
      contract_type: 'nft_item',
      address: subject,
      init: true,
      index: 4n,
      collection_address: master,
      owner_address: owner,
      content: { type: 'offchain', data: 'https://c/i' },
    });
    expect(await tokenOf([item, collection(owner)])).toBeNull();
    const alone = unknown(subject, { get_nft_data: [...itemData.slice(0, 2), asSlice(null), ...itemData.slice(3)] });
    expect(await tokenOf([alone])).toMatchObject({
      collection_address: null,
      content: { type: 'offchain', data: 'https://i' },
    });
    const fresh = unknown(subject, { get_nft_data: [vmInt(0), vmInt(4), asSlice(master), VM_NULL, VM_NULL] });
    expect(await tokenOf([fresh, collection(subject)])).toMatchObject({
      init: false,
      owner_address: null,
      content: { type: 'onchain', data: {} },
    });
  });

  it('is nothing when its results have another form', async () => {
    const forms: VmStack[] = [
      [],
      jettonData.slice(0, 4),
      [vmInt(5), vmInt(-1), vmInt(0), ...jettonData.slice(3)],
      [vmInt(5), vmInt(-1), asSlice(null), vmCell(EMPTY_CELL), vmCell(walletCode)],
      [vmInt(5), vmInt(-1), asSlice(null), VM_NULL, vmCell(walletCode)],
      [vmInt(5), vmInt(-1), vmSlice(EMPTY_CELL), ...jettonData.slice(3)],
    ];
    for (const get_jetton_data of forms) expect(await tokenOf([unknown(subject, { get_jetton_data })])).toBeNull();
    const null_admin = [vmInt(5), vmInt(-1), VM_NULL, ...jettonData.slice(3)];
    expect(await tokenOf([unknown(subject, { get_jetton_data: null_admin })])).toMatchObject({ admin_address: null });
  });

  it('is not reported when it could not be read', async () => {
    class Broken extends FakeContracts {
      override async runGetMethod(): Promise<never> {
        throw contractsErrors['emulator-too-old']({ network: 20, emulator: 13 });
      }
    }
    await expect(readTokenData(subject, new Broken([unknown(subject, {})]), {})).rejects.toMatchObject({
      code: 'contracts/emulator-too-old',
    });
  });
});

describe('an NFT that is a domain', () => {
  const dotTon = parseAddress('EQC3dNlesgVD8YbAazcauIrXBPfiVhMMr5YYk2in0Mtsz0Bz').address;
  const record = new Builder().storeUint(0x7473, 16).storeBytes(new Uint8Array(32).fill(5)).endCell();
  const dictionary = buildDictionary(256, [[sha256KeyOf('storage'), new Builder().storeRef(record)]]) as Cell;
  const text = (name: string): VmStackValue => vmSlice(new Builder().storeBytes(Buffer.from(name)).endCell());

  function domainOf(collection: Address, methods: Record<string, VmStack>): Promise<unknown> {
    const get_nft_data = [vmInt(-1), vmInt(4), asSlice(collection), asSlice(owner), vmCell(link('https://i'))];
    const item = unknown(subject, { get_nft_data, ...methods });
    const of = unknown(collection, {
      get_nft_address_by_index: [asSlice(subject)],
      get_nft_content: [vmCell(link('https://i'))],
    });
    return tokenOf([item, of]).then((token) => (token as { content: unknown }).content);
  }

  const records = { resolver: subject, name: '.', entries: [] };
  const entries = [
    { category: sha256KeyOf('storage'), record: { kind: 'dns_storage_address', bag_id: new Uint8Array(32).fill(5) } },
  ];

  it('of .ton is one with and without records', async () => {
    const get_domain = [text('alice')];
    const empty = { dnsresolve: [vmInt(8), VM_NULL], get_domain };
    expect(await domainOf(dotTon, empty)).toEqual({ type: 'domain', domain: 'alice.ton', records });
    const full = { dnsresolve: [vmInt(8), vmCell(dictionary)], get_domain };
    expect(await domainOf(dotTon, full)).toEqual({
      type: 'domain',
      domain: 'alice.ton',
      records: { ...records, entries },
    });
    expect(await domainOf(dotTon, { dnsresolve: full.dnsresolve })).toMatchObject({ domain: '' });
  });

  it('of others is one when it has records, and cannot claim a name in .ton', async () => {
    expect(await domainOf(master, { dnsresolve: [vmInt(8), VM_NULL], get_domain: [text('a')] })).toEqual({
      type: 'offchain',
      data: 'https://i',
    });
    const dnsresolve = [vmInt(8), vmCell(dictionary)];
    const name = (methods: Record<string, VmStack>) => domainOf(master, { dnsresolve, ...methods });
    expect(await name({ get_full_domain: [text('me\0t\0alice\0')] })).toMatchObject({ domain: 'alice.t.me' });
    expect(await name({ get_full_domain: [text('ton\0alice\0')] })).toMatchObject({ domain: '' });
    expect(await name({ get_domain: [text('alice')] })).toMatchObject({ domain: 'alice' });
    expect(await name({ get_domain: [text('alice.TON')] })).toMatchObject({ domain: '' });
    expect(await name({})).toMatchObject({ domain: '', records: { entries } });
  });
});

describe('a contract of known code', () => {
  it('is read without running it, all at the block of the first read', async () => {
    const wallet = recordedAccounts.find(({ kind }) => kind === 'jetton_wallet_v100')!;
    const { jetton } = runNatively(nativeCodeOf(wallet.code), wallet, getWalletData, [])!.result;
    const reads = new FakeContracts(recordedAccounts);
    const { block, token } = await readTokenData(wallet.address, reads, { at: 42 });
    expect(token).toMatchObject({ contract_type: 'jetton_wallet', address: wallet.address, jetton });
    expect(block).toBe(FAKE_BLOCK);
    expect(reads.runs).toEqual([]);
    expect(reads.blocks).toEqual([42, FAKE_BLOCK]);
  });

  it('is run when its library is not published', async () => {
    const wallet = recordedAccounts.find(({ kind }) => kind === 'jetton_wallet_notcoin-lib')!;
    const missing = new FakeContracts(recordedAccounts);
    expect((await readTokenData(wallet.address, missing, {})).token).toBeNull();
    expect(missing.runs).toContain(`${wallet.address} get_wallet_data`);
    const library = recordedAccounts.find(({ kind }) => kind === 'jetton_wallet_notcoin')!.code;
    const reads = new FakeContracts(recordedAccounts, new Map([[toHex(library.hash()), library]]));
    expect((await readTokenData(wallet.address, reads, {})).token).toMatchObject({ contract_type: 'jetton_wallet' });
    expect(reads.runs).toEqual([]);
  });

  it('is run when its data is of another form', async () => {
    const wallet = recordedAccounts.find(({ kind }) => kind === 'jetton_wallet_v100')!;
    const methods = { get_wallet_data: walletData };
    const odd: FakeContract = { address: subject, code: wallet.code, data: EMPTY_CELL, methods };
    const reads = new FakeContracts([odd, unknown(master, { get_wallet_address: [asSlice(subject)] })]);
    expect((await readTokenData(subject, reads, {})).token).toMatchObject({ ...getWalletData.parse(walletData) });
    expect(reads.runs).toEqual([`${subject} get_wallet_data`, `${master} get_wallet_address`]);
  });

  it('of wallets is no token, and neither is an account without code', async () => {
    const { code, data } = recordedAccounts.find(({ kind }) => kind === 'wallet_v4r2')!;
    const reads = new FakeContracts([{ address: subject, code, data }]);
    expect(await readTokenData(subject, reads, {})).toEqual({ block: FAKE_BLOCK, token: null });
    expect(await readTokenData(owner, reads, {})).toEqual({ block: FAKE_BLOCK, token: null });
    expect(reads.runs).toEqual([]);
  });

  it('cannot be where there is no workchain', async () => {
    const nowhere = Address.ofParts(5, owner.hash);
    await expect(readTokenData(nowhere, new FakeContracts([]), {})).rejects.toMatchObject({
      code: 'contracts/no-workchain',
    });
  });
});
