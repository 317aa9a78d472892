import { createHash } from 'node:crypto';
import {
  Address,
  beginCell,
  Cell,
  type Cell as CoreCell,
  Dictionary,
  external,
  internal,
  storeMessage,
  storeMessageRelaxed,
} from '@ton/core';
import { describe, expect, it } from 'vitest';
import { some } from '#test/contract/against-chain/chain-record.js';
import {
  blockIdJson,
  coreCell,
  friendly,
  shown,
  transactionIdJson,
  withHashes,
} from '#test/contract/against-chain/core.js';
import { type AccountView, viewOf } from '#test/contract/against-chain/expected-account.js';
import type { Subject } from '#test/contract/against-chain/subject.js';

/** Get methods, tokens, fees, sending, and what needs no chain. */
export function describeContracts(subject: () => Subject): void {
  describe('get methods', () => {
    it('runGetMethod and runGetMethodStd of elector, configuration and wallets say what their data hold', async () => {
      const { client, record } = subject();
      let runs = 0;
      for (const seqno of [...some(record.seqnos, 9), null]) {
        const at = seqno === null ? {} : { seqno };
        for (const { address, method, stack = [], value } of questionsAt(subject(), seqno ?? record.head.id.seqno)) {
          const moment = record.account(seqno ?? record.head.id.seqno, address);
          const where = `${method} of ${address} at ${seqno ?? 'the head'}`;
          const legacy = await client.ask<RunResult>('runGetMethod', {
            address,
            method,
            stack: stack.map((each) => ['num', `0x${each.toString(16)}`]),
            ...at,
          });
          expect(legacy.gas_used, where).toBeGreaterThan(0);
          expect({ ...legacy, gas_used: 0 }, where).toEqual({
            '@type': 'smc.runResult',
            gas_used: 0,
            stack: [['num', `0x${value.toString(16)}`]],
            exit_code: 0,
            block_id: blockIdJson(moment.mc.id),
            last_transaction_id: transactionIdJson(moment.last_trans_lt, moment.last_trans_hash),
          });
          const typed = await client.ask('runGetMethodStd', {
            address: friendly(address),
            method,
            stack: stack.map((each) => numberEntry(each)),
            ...at,
          });
          expect(typed, where).toEqual({
            '@type': 'smc.runResult',
            gas_used: legacy.gas_used,
            stack: [numberEntry(value)],
            exit_code: 0,
          });
          runs++;
        }
      }
      expect(runs).toBeGreaterThan(15);
    });

    it('that do not exist, or of accounts without code, are told by their exit code', async () => {
      const { client, record, named } = subject();
      const elector = parameterAddress(subject(), record.head.id.seqno, 1);
      const unknown = await client.ask<RunResult>('runGetMethod', {
        address: elector,
        method: 'no_such_method',
        stack: [],
      });
      // The first elector of mainnet drops the number of the method, so that its "11 THROWARG" finds nothing to throw.
      expect(unknown).toMatchObject({ exit_code: named.length > 0 ? 11 : expect.any(Number) });
      expect(unknown.exit_code).toBeGreaterThan(1);
      const nobody = { address: `0:${'5d'.repeat(32)}`, method: 'seqno', stack: [] };
      expect(await client.ask('runGetMethodStd', nobody)).toEqual({
        '@type': 'smc.runResult',
        gas_used: 0,
        // The number of the method, which nobody took.
        stack: [numberEntry(85_143n)],
        exit_code: -13,
      });
    });
  });

  describe('tokens', () => {
    it('getTokenData says what the data of jettons and NFTs hold', async () => {
      const { client, record, named } = subject();
      const { seqno } = record.head.id;
      let tokens = 0;
      for (const [kind, expected] of TOKENS) {
        const accounts = named.filter((one) => one.kind === kind);
        for (const { address } of some(accounts, kind === 'nft_item_v1' ? 8 : 4)) {
          const wanted = expected(subject(), address);
          if (wanted === null) continue;
          const asked = tokens % 2 === 0 ? friendly(address) : address.toUpperCase();
          const answer = await client.ask('getTokenData', { address: asked, ...(tokens % 3 === 0 ? { seqno } : {}) });
          expect(withHashes(answer), `${kind} ${address}`).toEqual({ ...wanted, address: asked });
          tokens++;
        }
      }
      if (named.length > 0) expect(tokens).toBeGreaterThan(15);
      const elector = parameterAddress(subject(), seqno, 1);
      for (let form = 0; form < 3; form++) {
        expect((await client.refused('getTokenData', { address: elector })).status).toBe(409);
      }
    });
  });

  describe('messages', () => {
    it('estimateFee prices them by the configuration', async () => {
      const { client, record } = subject();
      for (const address of estimated(subject())) {
        const moment = record.account(record.head.id.seqno, address);
        const view = viewOf(moment);
        const masterchain = address.startsWith('-1:');
        const order = walletOrder(view, masterchain);
        const body = order.body.toBoc().toString('base64');
        const answer = await client.ask<QueryFees>('estimateFee', {
          address,
          body,
          init_code: '',
          init_data: '',
          ignore_chksig: true,
        });
        const { source_fees, ...rest } = answer;
        expect(rest, address).toEqual({ '@type': 'query.fees', destination_fees: [] });
        const message = beginCell()
          .store(storeMessage(external({ to: Address.parseRaw(address), body: order.body })))
          .endCell();
        const forward = parameter(subject(), masterchain ? 24 : 25).beginParse();
        forward.skip(8);
        const price = { lump: forward.loadUintBig(64), bit: forward.loadUintBig(64), cell: forward.loadUintBig(64) };
        expect(source_fees['@type']).toBe('fees');
        // Of a body in a cell of its own, as the message that is made here has it.
        const parts = message.refs.length > 0 ? message.refs : [order.body];
        expect(BigInt(source_fees.in_fwd_fee), address).toBe(forwardFee(price, parts));
        expect(BigInt(source_fees.storage_fee), address).toBe(
          storageFee(subject(), view, moment.shard_utime, masterchain),
        );
        if (!order.isWallet) continue;
        expect(BigInt(source_fees.fwd_fee), address).toBe(price.lump);
        expect(source_fees.gas_fee, address).toBeGreaterThan(0);
        const gas = gasPrice(subject(), masterchain);
        // A transfer of a wallet takes from 2,000 to 10,000 gas.
        expect(source_fees.gas_fee / gas, address).toBeGreaterThan(1_500);
        expect(source_fees.gas_fee / gas, address).toBeLessThan(15_000);
      }
    });

    it('sendBoc and sendBocReturnHash are refused on a recording, with a reason', async () => {
      const { client } = subject();
      const [address] = estimated(subject());
      const message = external({ to: Address.parseRaw(address!), body: beginCell().storeUint(0, 600).endCell() });
      const boc = beginCell().store(storeMessage(message)).endCell().toBoc().toString('base64');
      for (const method of ['sendBoc', 'sendBocReturnHash', 'sendBoc', 'sendBocReturnHash']) {
        const { status, error } = await client.refused(method, { boc });
        expect(status, method).toBe(500);
        expect(error, method).toMatch(/^LITE_SERVER_\w+: .+/);
        expect((await client.refused(method, { boc: 'AAAA' })).status, method).toBe(422);
      }
    });
  });

  describe('forms', () => {
    it('detectAddress, packAddress, unpackAddress', async () => {
      const { client, record } = subject();
      for (const [i, raw] of some([...record.histories.keys()], 24).entries()) {
        const address = Address.parseRaw(raw);
        const bounceable = i % 2 === 0;
        const testOnly = i % 3 === 0;
        const given = i % 4 === 3 ? raw : address.toString({ bounceable, testOnly });
        const isRaw = given === raw;
        const isTest = !isRaw && testOnly;
        const variant = (isBounceable: boolean) => ({
          '@type': 'ext.utils.detectedAddressVariant',
          b64: address.toString({ bounceable: isBounceable, testOnly: isTest, urlSafe: false }),
          b64url: address.toString({ bounceable: isBounceable, testOnly: isTest, urlSafe: true }),
        });
        expect(await client.ask('detectAddress', { address: given }), given).toEqual({
          '@type': 'ext.utils.detectedAddress',
          raw_form: raw,
          bounceable: variant(true),
          non_bounceable: variant(false),
          given_type: isRaw ? 'raw_form' : bounceable ? 'friendly_bounceable' : 'friendly_non_bounceable',
          test_only: isTest,
        });
        const packed = await client.ask('packAddress', { address: given });
        expect(packed, given).toBe(isRaw ? address.toString() : given);
        const [workchain, hex] = raw.split(':') as [string, string];
        expect(await client.ask('unpackAddress', { address: given }), given).toBe(`${workchain}:${hex.toUpperCase()}`);
      }
    });

    it('detectHash', async () => {
      const { client, record } = subject();
      for (const { id } of some(record.masterchain, 12)) {
        const hash = Buffer.from(id.root_hash);
        const forms = {
          b64: hash.toString('base64'),
          b64url: hash.toString('base64url'),
          hex: hash.toString('hex'),
        };
        for (const given of Object.values(forms)) {
          expect(await client.ask('detectHash', { hash: given })).toEqual({
            '@type': 'ext.utils.detectedHash',
            ...forms,
          });
        }
      }
    });
  });
}

interface RunResult {
  readonly gas_used: number;
  readonly exit_code: number;
}

interface QueryFees {
  readonly source_fees: {
    readonly '@type': string;
    readonly in_fwd_fee: number;
    readonly storage_fee: number;
    readonly gas_fee: number;
    readonly fwd_fee: number;
  };
}

function numberEntry(value: bigint): unknown {
  return { '@type': 'vm.stackEntryNumber', number: { '@type': 'vm.numberDecimal', number: value.toString() } };
}

/** A parameter of the configuration at the head. */
function parameter({ record }: Subject, number: number, seqno = record.head.id.seqno): CoreCell {
  const { config } = record.state(record.facts.masterchain[seqno]!.id).custom!.value.config;
  return coreCell(config.get(number)!);
}

/** The system contract that a parameter names: 0 the configuration, 1 the elector. */
function parameterAddress(subject: Subject, seqno: number, number: 0 | 1): string {
  return `-1:${parameter(subject, number, seqno).beginParse().loadBuffer(32).toString('hex')}`;
}

interface Question {
  readonly address: string;
  readonly method: string;
  readonly stack?: readonly bigint[];
  /** What the data say. */
  readonly value: bigint;
}

function questionsAt(subject: Subject, seqno: number): Question[] {
  const { record } = subject;
  const dataOf = (address: string) => viewOf(record.account(seqno, address)).data!.beginParse();
  const elector = parameterAddress(subject, seqno, 1);
  const configuration = parameterAddress(subject, seqno, 0);
  const elections = dataOf(elector);
  const current = elections.loadMaybeRef();
  const credits = elections.loadDict(Dictionary.Keys.BigUint(256), coins);
  const configData = dataOf(configuration);
  configData.loadRef();
  const creditor = credits.keys()[0] ?? 0x1234n;
  const questions: Question[] = [
    { address: elector, method: 'active_election_id', value: BigInt(current?.beginParse().loadUint(32) ?? 0) },
    { address: elector, method: 'compute_returned_stake', stack: [creditor], value: credits.get(creditor) ?? 0n },
  ];
  // The first configuration contract of mainnet does not tell it.
  if (record.state(record.head.id).global_id !== -239) {
    questions.push({ address: configuration, method: 'seqno', value: configData.loadUintBig(32) });
  }
  const wallets = some([...record.addressesAt(seqno)], 50).filter((address) => {
    const { wallet } = viewOf(record.account(seqno, address));
    return wallet !== null && (wallet.version > 1 || wallet.revision > 1);
  });
  for (const address of some(wallets, 4)) {
    const { wallet, data } = viewOf(record.account(seqno, address));
    const slice = data!.beginParse();
    if (wallet!.version === 5) slice.loadBit();
    questions.push({ address, method: 'seqno', value: slice.loadUintBig(32) });
    if (wallet!.version < 3) continue;
    const id = wallet!.version === 5 ? BigInt(slice.loadInt(32)) : slice.loadUintBig(32);
    if (wallet!.version > 3) questions.push({ address, method: 'get_subwallet_id', value: id });
    questions.push({ address, method: 'get_public_key', value: slice.loadUintBig(256) });
  }
  return questions.filter(
    ({ address, method }) => method !== 'get_public_key' || hasPublicKey(subject, seqno, address),
  );
}

/** The first revision of v3 does not tell its key. */
function hasPublicKey({ record }: Subject, seqno: number, address: string): boolean {
  return viewOf(record.account(seqno, address)).wallet!.name !== 'wallet v3 r1';
}

const coins = {
  serialize: () => {},
  parse: (slice: ReturnType<CoreCell['beginParse']>) => slice.loadCoins(),
};

type Expected = (subject: Subject, address: string) => Record<string, unknown> | null;

const jettonMaster: Expected = (subject, address) => {
  const { data } = head(subject, address);
  const slice = data!.beginParse();
  const total_supply = slice.loadCoins();
  const admin = slice.loadMaybeAddress();
  const content = slice.loadRef();
  return {
    '@type': 'ext.tokens.jettonMasterData',
    contract_type: 'jetton_master',
    total_supply: total_supply.toString(),
    mintable: true,
    ...(admin === null ? {} : { admin_address: admin.toString() }),
    jetton_content: contentOf(content),
    jetton_wallet_code: shown(slice.loadRef()),
  };
};

const jettonWallet: Expected = (subject, address) => {
  const { data } = head(subject, address);
  const slice = data!.beginParse();
  return {
    '@type': 'ext.tokens.jettonWalletData',
    contract_type: 'jetton_wallet',
    balance: slice.loadCoins().toString(),
    owner: slice.loadAddress().toString(),
    jetton: slice.loadAddress().toString(),
    jetton_wallet_code: shown(slice.loadRef()),
  };
};

const nftCollection: Expected = (subject, address) => {
  const { data } = head(subject, address);
  const slice = data!.beginParse();
  const owner = slice.loadMaybeAddress();
  const next_item_index = slice.loadUintBig(64);
  return {
    '@type': 'ext.tokens.nftCollectionData',
    contract_type: 'nft_collection',
    next_item_index: next_item_index.toString(),
    ...(owner === null ? {} : { owner_address: owner.toString() }),
    collection_content: contentOf(slice.loadRef().refs[0]!),
  };
};

/** Its content is what the collection puts before the own one. */
const nftItem: Expected = (subject, address) => {
  const { data } = head(subject, address);
  const slice = data!.beginParse();
  const index = slice.loadUintBig(64);
  const collection = slice.loadMaybeAddress();
  if (collection === null || slice.remainingRefs === 0) return null;
  const owner = slice.loadAddress();
  const own = slice.loadRef();
  const held = head(subject, collection.toRawString()).data?.beginParse();
  if (held === undefined) return null;
  held.loadMaybeAddress();
  held.loadUintBig(64);
  const common = held.loadRef().refs[1]!;
  return {
    '@type': 'ext.tokens.nftItemData',
    contract_type: 'nft_item',
    init: true,
    index: index.toString(),
    collection_address: collection.toString(),
    owner_address: owner.toString(),
    content: { type: 'offchain', data: snake(common) + snake(own) },
  };
};

/** By what the accounts of the recording are called: layouts of their data, which are those of the standard contracts. */
const TOKENS: readonly (readonly [kind: string, expected: Expected])[] = [
  ['jetton_master_v1', jettonMaster],
  ['jetton_master_discoverable', jettonMaster],
  ['jetton_wallet_v1', jettonWallet],
  ['jetton_wallet_discoverable', jettonWallet],
  ['nft_collection_v1', nftCollection],
  ['nft_item_v1', nftItem],
];

function head({ record }: Subject, address: string): AccountView {
  return viewOf(record.account(record.head.id.seqno, address));
}

const FIELDS = [
  'uri',
  'name',
  'description',
  'image',
  'image_data',
  'symbol',
  'decimals',
  'amount_style',
  'render_type',
];

/** TEP-64. */
function contentOf(cell: CoreCell): unknown {
  const slice = cell.beginParse();
  if (slice.loadUint(8) === 1) return { type: 'offchain', data: snake(cell, 8) };
  const dictionary = slice.loadDict(Dictionary.Keys.Buffer(32), Dictionary.Values.Cell());
  const data: Record<string, string> = {};
  let known = 0;
  for (const field of FIELDS) {
    const value = dictionary.get(createHash('sha256').update(field).digest());
    if (value === undefined) continue;
    known++;
    data[field] = snake(value, 8);
  }
  if (known !== dictionary.size) throw new RangeError('content with fields of other names');
  return { type: 'onchain', data };
}

/** Bytes through the first references as text. */
function snake(cell: CoreCell, skipped = 0): string {
  const parts: Buffer[] = [];
  for (let at: CoreCell | undefined = cell; at !== undefined; at = at.refs[0]) {
    const slice = at.beginParse();
    if (at === cell) slice.skip(skipped);
    parts.push(slice.loadBuffer(slice.remainingBits / 8));
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Accounts to which an order is priced: wallets where there are some. */
function estimated(subject: Subject): string[] {
  const { record } = subject;
  const { seqno } = record.head.id;
  const wallets = some([...record.addressesAt(seqno)], 300).filter((address) => {
    const { wallet, account } = viewOf(record.account(seqno, address));
    return wallet?.version === 3 && wallet.revision === 2 && account!.storage.balance.coins > 1_000_000_000n;
  });
  return wallets.length > 0
    ? some(wallets, 6)
    : [parameterAddress(subject, seqno, 0), parameterAddress(subject, seqno, 1)];
}

/** For a wallet, an order to send a coin to somebody without a comment. */
function walletOrder(view: AccountView, masterchain: boolean): { readonly body: CoreCell; readonly isWallet: boolean } {
  if (view.wallet === null)
    return { body: beginCell().storeUint(7, 256).storeRef(Cell.EMPTY).endCell(), isWallet: false };
  const data = view.data!.beginParse();
  const seqno = data.loadUint(32);
  const to = new Address(masterchain ? -1 : 0, Buffer.alloc(32, 0x31));
  const sent = beginCell().store(storeMessageRelaxed(internal({ to, value: 1_000_000n, bounce: false })));
  const body = beginCell()
    .storeBuffer(Buffer.alloc(64))
    .storeUint(data.loadUint(32), 32)
    .storeUint(0xffffffff, 32)
    .storeUint(seqno, 32)
    .storeUint(3, 8)
    .storeRef(sent.endCell())
    .endCell();
  return { body, isWallet: true };
}

interface ForwardPrice {
  readonly lump: bigint;
  readonly bit: bigint;
  readonly cell: bigint;
}

/** Of the different cells below the root of a message. */
function forwardFee({ lump, bit, cell }: ForwardPrice, roots: readonly CoreCell[]): bigint {
  const seen = new Map<string, number>();
  const visit = (one: CoreCell): void => {
    const hash = one.hash().toString('hex');
    if (seen.has(hash)) return;
    seen.set(hash, one.bits.length);
    for (const ref of one.refs) visit(ref);
  };
  for (const root of roots) visit(root);
  const bits = [...seen.values()].reduce((sum, each) => sum + each, 0);
  return lump + roundedUp(bit * BigInt(bits) + cell * BigInt(seen.size));
}

const roundedUp = (value: bigint): bigint => (value + 0xffffn) >> 16n;

/** What an account owes at a time; parameter 18 of all these chains has one set of prices. */
function storageFee(subject: Subject, { account }: AccountView, now: number, masterchain: boolean): bigint {
  if (account === null || account.storageStats.lastPaid === 0) return 0n;
  const prices = parameter(subject, 18)
    .beginParse()
    .loadDictDirect(Dictionary.Keys.Uint(32), Dictionary.Values.BitString(296));
  if (prices.size !== 1) throw new RangeError('storage had several prices');
  const slice = beginCell().storeBits(prices.values()[0]!).endCell().beginParse();
  slice.skip(8 + 32);
  const [bit, cell, mcBit, mcCell] = [0, 1, 2, 3].map(() => slice.loadUintBig(64)) as [bigint, bigint, bigint, bigint];
  const { used, lastPaid } = account.storageStats;
  const each = masterchain ? used.bits * mcBit + used.cells * mcCell : used.bits * bit + used.cells * cell;
  return roundedUp(each * BigInt(Math.max(0, now - lastPaid)));
}

/** Nanotons for a unit of gas, parameter 20 or 21. */
function gasPrice(subject: Subject, masterchain: boolean): number {
  const slice = parameter(subject, masterchain ? 20 : 21).beginParse();
  if (slice.preloadUint(8) === 0xd1) slice.skip(8 + 128);
  slice.skip(8);
  return Number(slice.loadUintBig(64)) / 65536;
}
