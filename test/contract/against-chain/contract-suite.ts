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
import { blockIdJson, friendly, transactionIdJson, withHashes } from '#test/contract/against-chain/core.js';
import { type AccountView, viewOf } from '#test/contract/against-chain/expected-account.js';
import { forwardFee, gasPrice, parameter, storageFee } from '#test/contract/against-chain/expected-fee.js';
import { TOKENS } from '#test/contract/against-chain/expected-token.js';
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
