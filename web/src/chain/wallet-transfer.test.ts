import { Address, Cell, loadMessage } from '@ton/core';
import { keyPairFromSeed, sign, signVerify } from '@ton/crypto';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '#formats/address/address.js';
import { readMessage } from './message-boc.js';
import { ed25519Signer, type SendingWallet, transferBoc } from './wallet-transfer.js';

const FROM = parseAddress(`0:${'11'.repeat(32)}`).address;
const TO = parseAddress(`-1:${'22'.repeat(32)}`).address;
const SEED = new Uint8Array(32).fill(7);
const pair = keyPairFromSeed(Buffer.from(SEED));

const transfer = (version: SendingWallet, value: bigint, comment: string) => ({
  ...{ version, from: FROM, walletId: 698983191, seqno: 5, validUntil: 1_800_000_000, to: TO, value, bounce: false },
  comment,
});

describe.each(['v3r2', 'v4r2', 'v5r1'] as const)('a transfer of %s', (version) => {
  it.each([
    [1_500_000_000n, 'hello'],
    [0n, ''],
    [2n ** 64n, 'ä'.repeat(300)],
  ])('of %s nanotons is what @ton/core reads', async (value, comment) => {
    const boc = await transferBoc(transfer(version, value, comment), async (hash) =>
      sign(Buffer.from(hash), pair.secretKey),
    );
    const message = loadMessage(Cell.fromBase64(boc).beginParse());
    expect(message.info.dest?.toString()).toBe(Address.parse(FROM.toRaw()).toString());
    const body = message.body.beginParse();
    let signature: Buffer;
    let signed: Cell;
    if (version === 'v5r1') {
      const part = body.clone();
      const bits = body.remainingBits - 512;
      signature = Buffer.from(body.skip(bits).loadBuffer(64));
      const cell = message.body;
      signed = new Cell({ bits: cell.bits.substring(0, bits), refs: cell.refs });
      expect(part.loadUint(32)).toBe(0x7369676e);
    } else {
      signature = body.loadBuffer(64);
      signed = body.clone().asCell();
    }
    expect(signVerify(signed.hash(), signature, pair.publicKey)).toBe(true);
    const outgoing = version === 'v5r1' ? signed.refs[0]!.refs[1]! : signed.refs[0]!;
    const slice = outgoing.beginParse();
    slice.skip(2);
    expect(slice.loadBit()).toBe(false);
    slice.skip(1 + 2);
    expect(slice.loadAddress().toRawString()).toBe(`-1:${'22'.repeat(32)}`);
    expect(slice.loadCoins()).toBe(value);
    slice.skip(1 + 4 + 4 + 64 + 32 + 1);
    const text = slice.loadBit() ? slice.loadRef().beginParse().skip(32).loadStringTail() : '';
    expect(text).toBe(comment);
  });
});

it('the keys of a local network sign as Ed25519 does', async () => {
  const hash = new Uint8Array(32).fill(9);
  const signature = await (await ed25519Signer(SEED))(hash);
  expect(Buffer.from(signature).equals(sign(Buffer.from(hash), pair.secretKey))).toBe(true);
});

describe('a pasted message', () => {
  it('is read with its destination and its normalized hash', async () => {
    const boc = await transferBoc(transfer('v4r2', 1n, 'x'), async () => new Uint8Array(64));
    const message = readMessage(` ${boc.slice(0, 20)}\n${boc.slice(20)}`);
    expect(message).toMatchObject({ boc, destination: FROM, hasInit: false });
    // It is written in its normal form already.
    expect(message).toHaveProperty('hashNorm', message?.hash);
    expect(message?.hash).toBe(Cell.fromBase64(boc).hash().toString('base64'));
  });

  it.each(['', 'hello', 'te6ccgEBAQEAAgAAAB==', 'b5ee9c72'])('"%s" is none', (text) => {
    expect(readMessage(text)).toBeNull();
  });

  it('that is another cell is said to be one', () => {
    expect(readMessage(new Cell().toBoc().toString('hex'))).toHaveProperty('problem');
  });
});
