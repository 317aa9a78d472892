import {
  beginCell,
  Address as CoreAddress,
  comment,
  external,
  internal,
  type MessageRelaxed,
  SendMode,
  storeMessage,
  storeMessageRelaxed,
} from '@ton/core';
import { keyPairFromSeed } from '@ton/crypto';
import { WalletContractV3R2, WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { toHex } from '#kernel/bytes.js';
import {
  buildInternalMessage,
  commentBody,
  createTransfer,
  MAX_QUERY,
  queryId,
  type WalletOwner,
} from '#localnet/wallets/create-transfer.js';
import { signingKey, type WalletVersion, walletContract } from '#localnet/wallets/wallet-contract.js';

const seed = new Uint8Array(32).fill(9);
const { publicKey, secretKey } = keyPairFromSeed(Buffer.from(seed));
const validUntil = 1_800_000_060;
const to = Address.ofParts(0, new Uint8Array(32).fill(0xab));
const coreTo = CoreAddress.parse(to.toRaw());

function owner(version: WalletVersion): WalletOwner & ReturnType<typeof walletContract> {
  return { ...walletContract({ version, publicKey: signingKey(seed).publicKey }), seed };
}

/** What @ton/ton makes of the same wishes: hash of the whole message. */
async function coreTransfer(
  version: string,
  seqno: number,
  messages: MessageRelaxed[],
  sendMode: SendMode,
  deploys: boolean,
): Promise<string> {
  const args = { seqno, secretKey, sendMode, messages, timeout: validUntil };
  const create = { workchain: 0, publicKey };
  const v3 = WalletContractV3R2.create(create);
  const v4 = WalletContractV4.create(create);
  const v5 = WalletContractV5R1.create(create);
  const { address, init } = version === 'v3r2' ? v3 : version === 'v4r2' ? v4 : v5;
  const transfer =
    version === 'v3r2'
      ? v3.createTransfer(args)
      : version === 'v4r2'
        ? v4.createTransfer(args)
        : v5.createTransfer(args);
  const message = external({ to: address, body: await transfer, init: deploys ? init : null });
  return beginCell().store(storeMessage(message)).endCell().hash().toString('hex');
}

/** Pay fees separately, go on after errors. */
const USUAL = SendMode.PAY_GAS_SEPARATELY + SendMode.IGNORE_ERRORS;
const WHOLE_BALANCE = SendMode.CARRY_ALL_REMAINING_BALANCE + SendMode.IGNORE_ERRORS;

describe.each(['v3r2', 'v4r2', 'v5r1'] as const)('a transfer of a wallet %s', (version) => {
  const wallet = owner(version);

  it.each([
    [1, 0, false],
    [1, 0, true],
    [4, 7, false],
    [4, 7, true],
  ])('of %i messages is what @ton/ton makes (seqno %i, deploys: %s)', async (count, seqno, deploy) => {
    const numbers = Array.from({ length: count }, (_, i) => i);
    const messages = numbers.map((i) => ({
      message: buildInternalMessage({
        to,
        value: BigInt(i + 1),
        bounce: i % 2 === 0,
        body: commentBody(`message ${i}`),
      }),
      mode: 3,
    }));
    const theirs = numbers.map((i) =>
      internal({ to: coreTo, value: BigInt(i + 1), bounce: i % 2 === 0, body: comment(`message ${i}`) }),
    );
    const made = createTransfer(wallet, { seqno, validUntil, messages, init: deploy ? wallet.init : null });
    expect(toHex(made.hash())).toBe(await coreTransfer(version, seqno, theirs, USUAL, deploy));
  });

  it('sends with mode 3 unless another is given', async () => {
    const message = buildInternalMessage({ to, value: 5n });
    const transfer = (mode?: number) =>
      toHex(
        createTransfer(wallet, {
          seqno: 1,
          validUntil,
          messages: [mode === undefined ? { message } : { message, mode }],
        }).hash(),
      );
    expect(transfer()).toBe(transfer(3));
    expect(transfer()).not.toBe(transfer(130));
    const theirs = [internal({ to: coreTo, value: 5n })];
    expect(transfer(130)).toBe(await coreTransfer(version, 1, theirs, WHOLE_BALANCE, false));
  });

  it('has no more messages than the wallet sends, and not none', () => {
    const message = buildInternalMessage({ to, value: 1n });
    const limit = version === 'v5r1' ? 255 : 4;
    const transfer = (count: number) => () =>
      createTransfer(wallet, { seqno: 0, validUntil, messages: Array(count).fill({ message }) });
    expect(transfer(limit)).not.toThrow();
    expect(transfer(limit + 1)).toThrowError(`a wallet ${version} sends 1 to ${limit} messages at once`);
    expect(transfer(0)).toThrowError(/not 0/);
  });
});

describe('an internal message', () => {
  const init = owner('v4r2').init;
  const coreInit = WalletContractV4.create({ workchain: 0, publicKey }).init;

  it('is laid out as @ton/core does, however long its body', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300 }),
        fc.bigInt({ min: 0n, max: 10n ** 18n }),
        fc.boolean(),
        fc.boolean(),
        (text, value, bounce, deploys) => {
          const made = buildInternalMessage({
            to,
            value,
            bounce,
            body: commentBody(text),
            init: deploys ? init : null,
          });
          const theirs = internal({ to: coreTo, value, bounce, body: text, init: deploys ? coreInit : null });
          expect(toHex(made.hash())).toBe(
            beginCell().store(storeMessageRelaxed(theirs)).endCell().hash().toString('hex'),
          );
        },
      ),
    );
  });

  it('carries other currencies', () => {
    const other = ExtraCurrencyCollection.of([[239, 400_000n]]);
    const made = buildInternalMessage({ to, value: { grams: 7n, other } });
    const theirs = internal({ to: coreTo, value: 7n, extracurrency: { 239: 400_000n } });
    expect(toHex(made.hash())).toBe(beginCell().store(storeMessageRelaxed(theirs)).endCell().hash().toString('hex'));
  });

  it('takes references of the body into the root as long as there is room', () => {
    const body = new Builder();
    for (let i = 0; i < 4; i++) body.storeRef(new Builder().storeUint(i, 8).endCell());
    expect(buildInternalMessage({ to, value: 1n, body: body.endCell() }).refCount).toBe(4);
    expect(buildInternalMessage({ to, value: 1n, body: body.endCell(), init }).refCount).toBe(3);
  });
});

describe('a query of a highload wallet', () => {
  it('has 13 bits of a cell and 10 of a bit in it, which is never the last one', () => {
    expect([0, 1, 1022, 1023, 1024].map(queryId)).toEqual([0, 1, 1022, 1024, 1025]);
    expect(queryId(MAX_QUERY)).toBe(8191 * 1024 + 1022);
  });

  it.each([-1, 0.5, MAX_QUERY + 1])('has no number %d', (number) => {
    expect(() => queryId(number)).toThrowError(/from 0 to 8380415/);
  });
});
