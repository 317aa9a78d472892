import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account, type AccountState, StateInit, stateInitOf } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import type { AccountStateRead } from '#services/chain/accounts.js';
import type { ContractService } from '#services/emulation/contract-service.js';
import { DEV_CHAIN, type ReplayedContracts, replayedContracts } from '#test/support/replayed-contracts.js';
import { type SigningWallet, signingWallet } from '#test/support/signing-wallets.js';
import { codeOf, libraryCell } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

let tvm: TvmPool;
let contracts: ReplayedContracts;
let now: number;
beforeAll(async () => {
  tvm = await startTvm({ workers: 1 });
  contracts = replayedContracts(DEV_CHAIN, tvm);
  now = (await contracts.chain.head()).gen_utime!;
});
afterAll(() => tvm.close());

/** The chain with one account that it does not have. */
function serviceWith(
  addr: Address,
  state: AccountState | null,
  coins: bigint,
  unixTimeMs?: () => number,
): ContractService {
  const { chain } = contracts;
  return contracts.serviceOver(
    {},
    {
      async account(address, options): Promise<AccountStateRead> {
        const read = await chain.account(address, options);
        if (!address.equals(addr) || state === null) return read;
        const account: Account = {
          kind: 'account',
          addr,
          storage_stat: {
            used: { cells: 10n, bits: 1_000n },
            storage_extra: { kind: 'storage_extra_none' },
            last_paid: now - 60,
            due_payment: null,
          },
          storage: { last_trans_lt: 0n, balance: onlyGrams(coins), state },
        };
        return { ...read, cell: encodeCell(Account, account), account };
      },
    },
    unixTimeMs,
  );
}

const TON = 1_000_000_000n;
const OWN = { seqno: 5, wallet_id: 698983191 };
const REFUSED = 'cannot apply external message to current state : External message was not accepted';

function withWallet({ address, init }: SigningWallet, unixTimeMs?: () => number): ContractService {
  return serviceWith(address, { kind: 'account_active', state_init: init }, TON, unixTimeMs);
}

const V1 = ['wallet_v1r1', 'wallet_v1r2', 'wallet_v1r3'];
const V2 = ['wallet_v2r1', 'wallet_v2r2'];
const V3_ON = ['wallet_v3r1', 'wallet_v3r2', 'wallet_v4r1', 'wallet_v4r2', 'wallet_v5r1'];

describe('a wallet that refuses', () => {
  for (const kind of [...V1, ...V2, ...V3_ON]) {
    it(`${kind} says why`, async () => {
      const wallet = signingWallet(kind, OWN);
      const service = withWallet(wallet);
      const good = { ...OWN, valid_until: now + 60 };
      const explain = (cell: Cell) => service.explainRefusal(cell, REFUSED);
      const reasonOf = async (cell: Cell) => (await explain(cell)).reason;
      expect(await explain(wallet.message(good))).toMatchObject({
        reason: 'unknown',
        explanation: expect.stringMatching(/would be accepted/),
      });
      const used = await explain(wallet.message({ ...good, seqno: 3 }));
      expect(used).toMatchObject({ reason: 'seqno', explanation: expect.stringMatching(/seqno 3.* already at 5/) });
      const early = await explain(wallet.message({ ...good, seqno: 8 }));
      expect(early).toMatchObject({ reason: 'seqno', explanation: expect.stringMatching(/seqno 8.* at 5:/) });
      expect(await reasonOf(wallet.message(good, { otherKey: true }))).toBe('signature');
      if (V1.includes(kind)) return;
      const late = await explain(wallet.message({ ...good, valid_until: now - 1 }));
      const wanted = new Date((now - 1) * 1000).toISOString().replace('.000Z', 'Z');
      expect(late).toMatchObject({ reason: 'expired', explanation: expect.stringContaining(wanted) });
      if (V2.includes(kind)) return;
      const other = await explain(wallet.message({ ...good, wallet_id: -3 }));
      expect(other).toMatchObject({
        reason: 'wallet-id',
        explanation: expect.stringMatching(/wallet id -3, but .* 698983191/),
      });
    });
  }

  it('says that the network is ahead, when the clock of the client is right', async () => {
    const wallet = signingWallet('wallet_v5r1', OWN);
    const machine = now - 30 * 86_400;
    const service = withWallet(wallet, () => machine * 1000);
    const explain = (valid_until: number) => service.explainRefusal(wallet.message({ ...OWN, valid_until }), REFUSED);
    const text = /is 30 d ahead of the clock of this computer: .* Sign with a valid_until after \S+ \(\d{10}\)/;
    const [ahead, late] = await Promise.all([explain(machine + 60), explain(machine - 60)]);
    expect(ahead).toMatchObject({ reason: 'network-ahead', explanation: expect.stringMatching(text) });
    expect(late.reason).toBe('expired');
  });

  it('is understood from the exit code of the node, too', async () => {
    const wallet = signingWallet('wallet_v5r1', OWN);
    const service = withWallet(wallet);
    const message = wallet.message({ ...OWN, valid_until: now + 60 });
    const reasonOf = async (exit_code: number) => {
      const text = `${REFUSED}: inbound external message rejected by transaction ABCD:\nexitcode=${exit_code}, steps=22, gas_used=0`;
      return (await service.explainRefusal(message, text)).reason;
    };
    const codes = [133, 134, 135, 136, 132, 137, 141];
    const reasons = await Promise.all(codes.map(reasonOf));
    expect(reasons).toEqual(['seqno', 'wallet-id', 'signature', 'expired', 'signature', 'exit-code', 'exit-code']);
    const { explanation } = await service.explainRefusal(message, 'exitcode=133, steps=3');
    expect(explanation).toMatch(/a block behind or ahead/);
  });

  it('gets a body for another version', async () => {
    const wallet = signingWallet('wallet_v5r1', OWN);
    const old = signingWallet('wallet_v4r2', OWN).message({ ...OWN, valid_until: now + 60 });
    const body = old.ref(0);
    const message = messageTo(wallet.address, body);
    expect(await withWallet(wallet).explainRefusal(message, REFUSED)).toMatchObject({
      reason: 'malformed',
      explanation: expect.stringMatching(/invalid for a wallet v5 r1/),
    });
  });
});

function messageTo(dest: Address, body: Cell): Cell {
  return encodeCell(Message, {
    info: { kind: 'ext_in_msg_info', src: null, dest, import_fee: 0n },
    init: null,
    body: { kind: 'right', value: body },
  });
}

describe('an account that cannot take a message', () => {
  const wallet = signingWallet('wallet_v4r2', OWN);
  const fields = { ...OWN, valid_until: 2_000_000_000 };
  const uninit: AccountState = { kind: 'account_uninit' };
  const explain = (state: AccountState | null, coins: bigint, message: Cell) =>
    serviceWith(wallet.address, state, coins).explainRefusal(message, REFUSED);

  it('is not there, or not deployed', async () => {
    const plain = wallet.message(fields);
    expect(await explain(null, 0n, plain)).toMatchObject({
      reason: 'not-deployed',
      explanation: expect.stringMatching(/Send coins to it first/),
    });
    const some = await explain(uninit, TON, plain);
    expect(some.reason).toBe('not-deployed');
    expect(some.explanation).not.toMatch(/Send coins/);
    const otherInit = signingWallet('wallet_v3r2', OWN).init;
    expect(await explain(uninit, TON, wallet.message(fields, { init: otherInit }))).toMatchObject({
      reason: 'not-deployed',
      explanation: expect.stringMatching(/StateInit in the message belongs to 0:/),
    });
  });

  it('would deploy the wallet, which refuses', async () => {
    const { init } = wallet;
    expect(await explain(uninit, TON, wallet.message({ ...fields, seqno: 6 }, { init }))).toMatchObject({
      reason: 'seqno',
    });
    expect((await explain(uninit, TON, wallet.message(fields, { init }))).reason).toBe('unknown');
  });

  it('has no coins', async () => {
    const { init } = wallet;
    const active: AccountState = { kind: 'account_active', state_init: init };
    expect((await explain(null, 0n, wallet.message(fields, { init }))).reason).toBe('no-funds');
    expect((await explain(active, 0n, wallet.message(fields))).reason).toBe('no-funds');
    // 250 units of gas: less than a wallet takes to look at a message.
    expect(await explain(active, 100_000n, wallet.message(fields))).toMatchObject({
      reason: 'no-funds',
      explanation: expect.stringMatching(/balance is 100000 nanotons/),
    });
  });

  it('is frozen', async () => {
    const frozen: AccountState = { kind: 'account_frozen', state_hash: new Uint8Array(32) };
    expect((await explain(frozen, 5n, wallet.message(fields))).reason).toBe('frozen');
  });

  it('is in a workchain that there is not', async () => {
    const message = messageTo(Address.ofParts(5, new Uint8Array(32).fill(0xab)), EMPTY_CELL);
    expect(await explain(null, 0n, message)).toMatchObject({
      reason: 'no-workchain',
      explanation: expect.stringMatching(/^Workchain 5 does not exist/),
    });
  });
});

it('any contract reports with its exit code', async () => {
  const explain = async (code: Cell, nodeText = REFUSED) => {
    const init = stateInitOf(code, EMPTY_CELL);
    const address = Address.ofParts(0, encodeCell(StateInit, init).hash());
    const service = serviceWith(address, { kind: 'account_active', state_init: init }, TON);
    const { reason, explanation } = await service.explainRefusal(messageTo(address, EMPTY_CELL), nodeText);
    expect(reason).toBe('exit-code');
    return explanation;
  };
  expect(await explain(codeOf('f2c1b8'))).toMatch(/exit code 440: a contract-specific code/);
  expect(await explain(codeOf('f2c02a'))).toMatch(/exit code 42: a contract-specific code/);
  expect(await explain(codeOf(''))).toMatch(/exit code 0: it ended without accepting/);
  expect(await explain(codeOf('90ea'))).toMatch(/exit code -14: out of gas before accepting/);
  expect(await explain(codeOf('d74c'), 'exitcode=9, steps=4')).toMatch(/exit code 9: cell underflow/);
});

describe('a contract whose library is not published', () => {
  const library = libraryCell(new Uint8Array(32).fill(7));
  const init = stateInitOf(library, EMPTY_CELL);
  const address = Address.ofParts(0, encodeCell(StateInit, init).hash());
  const explain = (nodeText: string) =>
    serviceWith(address, { kind: 'account_active', state_init: init }, TON).explainRefusal(
      messageTo(address, EMPTY_CELL),
      nodeText,
    );

  it('is recognised by a run here, and by the log of the node', async () => {
    const log =
      'exitcode=9\nVM Log (truncated):\n...failed to load library cell\nhandling exception code 9: cell underflow';
    for (const text of [REFUSED, log]) {
      expect(await explain(text)).toMatchObject({
        reason: 'missing-library',
        explanation: expect.stringMatching(/library that the masterchain does not publish/),
      });
    }
  });
});

describe('what is reported without the account', () => {
  const unread = () => contracts.serviceOver({}, { head: () => Promise.reject(new RangeError('it was read')) });
  const message = messageTo(Address.ofParts(0, new Uint8Array(32)), EMPTY_CELL);

  it('the text of the node', async () => {
    const reasonOf = async (text: string) => (await unread().explainRefusal(message, text)).reason;
    expect(await reasonOf('cannot send external message : duplicate message')).toBe('duplicate');
    expect(await reasonOf('too many external messages to address 0:ab')).toBe('busy');
    expect(await reasonOf('external message is too large')).toBe('malformed');
  });

  it('cells that are not an external-in message', async () => {
    const internal = new Builder().storeUint(0, 4).endCell();
    for (const cell of [EMPTY_CELL, internal]) {
      const { reason, explanation } = await unread().explainRefusal(cell, REFUSED);
      expect(reason).toBe('malformed');
      expect(explanation).toMatch(/^The cells are not an external-in message: /);
    }
  });

  it('that servers do not answer', async () => {
    const { chain } = contracts;
    const gone = contracts.serviceOver(
      {},
      { account: (address) => chain.account(address, { signal: AbortSignal.abort() }) },
    );
    const { reason, explanation } = await gone.explainRefusal(message, REFUSED);
    expect(reason).toBe('unknown');
    expect(explanation).toMatch(/could not be read: the read was aborted/);
  });
});
