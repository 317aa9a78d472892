import * as core from '@ton/core';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { Message, MessageRelaxed, messageBody, messageInit, normalizedExternalHash } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { transactionCells } from '#test/support/block-transactions.js';
import { itRefuses, roundTrip } from '#test/support/codec-harness.js';
import { coreMessage, plainMessage } from '#test/support/core-shape.js';
import { errorCode } from '#test/support/error-code.js';
import { parseChainName, readBytes, readChain, vectorPath } from '#test/support/vector-files.js';

const account = core.Address.parseRaw(`0:${'83'.repeat(32)}`);
const other = core.Address.parseRaw(`-1:${'55'.repeat(32)}`);
const external = new core.ExternalAddress(0x1234n, 13);
const body = core.beginCell().storeUint(0xf8a7ea5, 32).storeRef(core.Cell.EMPTY).endCell();
const code = core.beginCell().storeUint(1, 8).endCell();
const libraries = core.Dictionary.empty<bigint, core.SimpleLibrary>(core.Dictionary.Keys.BigUint(256), {
  serialize: (library, builder) => void builder.storeBit(library.public).storeRef(library.root),
  parse: (slice) => ({ public: slice.loadBit(), root: slice.loadRef() }),
});
libraries.set(BigInt(`0x${code.hash().toString('hex')}`), { public: true, root: code });
const init: core.StateInit = { code, data: body, splitDepth: 5, special: { tick: true, tock: false }, libraries };
const extraCurrency = core.Dictionary.empty(core.Dictionary.Keys.Uint(32), core.Dictionary.Values.BigVarUint(5));
extraCurrency.set(7, 123456789012345678901234567890n);

const internal = {
  type: 'internal',
  ihrDisabled: true,
  bounce: true,
  bounced: false,
  src: account,
  dest: other,
  value: { coins: 10n ** 18n },
  ihrFee: 3n,
  forwardFee: 400_000n,
  createdLt: 2n ** 63n + 5n,
  createdAt: 2 ** 32 - 1,
} as const;
const manyCurrencies = { ...internal, value: { coins: 1n, other: extraCurrency } } as const;
const externalIn = { type: 'external-in', src: external, dest: account, importFee: 77n } as const;
const externalOut = { type: 'external-out', src: account, dest: external, createdLt: 9n, createdAt: 1 } as const;

const fromCore = (store: (builder: core.Builder) => void): Cell =>
  parseBocRoot(new Uint8Array(core.beginCell().store(store).endCell().toBoc()));

describe('messages in every form, as @ton/core writes them', () => {
  const infos = { internal, externalIn, externalOut, fromNowhere: { ...externalIn, src: null }, manyCurrencies };
  const rows = Object.entries(infos).flatMap(([id, info]) =>
    (info === manyCurrencies ? [null, { code }] : [null, init, { code }]).flatMap((state) =>
      [false, true].map((forceRef) => ({
        id: `${id}, init ${state === null ? 'none' : Object.keys(state).length}`,
        info,
        state,
        forceRef,
      })),
    ),
  );
  it.each(rows)('$id, body in a reference: $forceRef', ({ info, state, forceRef }) => {
    const message = { info, init: state, body } as core.Message;
    const decoded = roundTrip(Message, fromCore(core.storeMessage(message, { forceRef })));
    expect(plainMessage(decoded)).toEqual(coreMessage(message));
    expect(messageBody(decoded).loadUint(32)).toBe(0xf8a7ea5);
    expect(messageBody(decoded).remainingBits).toBe(32);
    expect(messageInit(decoded) === null).toBe(state === null);
  });

  it.each([
    { id: 'no source', info: { ...internal, src: null } },
    { id: 'with source', info: internal },
    { id: 'to outside', info: { ...externalOut, src: null, dest: null } },
  ])('relaxed, $id', ({ info }) => {
    const message = { info, init: { code, data: body }, body } as core.MessageRelaxed;
    const decoded = roundTrip(MessageRelaxed, fromCore(core.storeMessageRelaxed(message)));
    expect(plainMessage(decoded)).toEqual(coreMessage(message));
  });
});

describe('refused messages', () => {
  const cell = (write: (builder: Builder) => Builder) => write(new Builder()).endCell();
  itRefuses(Message, [
    {
      id: 'an internal one from nowhere',
      cell: cell((b) => b.storeUint(0, 6)),
      code: 'tlb/constructor-tag',
      path: 'info.src',
    },
    { id: 'nothing', cell: cell((b) => b), code: 'cells/slice-underflow', path: 'info' },
    {
      id: 'one that is too short',
      cell: cell((b) => b.storeUint(0b1000, 4)),
      code: 'cells/slice-underflow',
      path: 'info.dest',
    },
    {
      id: 'a body in a reference that is not there',
      cell: cell((b) =>
        b.storeUint(0b1000, 4).storeUint(0b100, 3).storeUint(0, 264).storeUint(0, 4).storeUint(0b01, 2),
      ),
      code: 'cells/slice-no-reference',
      path: 'body',
    },
    {
      id: 'a fee with a leading zero',
      cell: cell((b) => b.storeUint(0b1000, 4).storeUint(0b100, 3).storeUint(0, 264).storeUint(1, 4).storeUint(0, 8)),
      code: 'tlb/constraint',
      path: 'info.import_fee',
    },
  ]);
});

describe('normalizedExternalHash', () => {
  it('is the hash of the message without source, fee and init, its body in a reference', () => {
    const normal = fromCore(
      core.storeMessage({ info: { ...externalIn, src: null, importFee: 0n }, body } as core.Message, {
        forceRef: true,
      }),
    );
    for (const forceRef of [false, true]) {
      for (const state of [null, init]) {
        const message = { info: externalIn, init: state, body } as core.Message;
        const decoded = decodeCell(Message, fromCore(core.storeMessage(message, { forceRef })));
        expect(toHex(normalizedExternalHash(decoded))).toBe(toHex(normal.hash()));
      }
    }
  });

  it('has no meaning for other messages', () => {
    const decoded = decodeCell(Message, fromCore(core.storeMessage({ info: internal, body } as core.Message)));
    expect(errorCode(() => normalizedExternalHash(decoded))).toBe('tlb/unknown-variant');
  });

  const folder = vectorPath('collection/recorded-net');
  it('is what the reference index has for the messages of a network', () => {
    const expected = new Map<string, string>();
    for (const line of Buffer.from(readBytes(`${folder}/truth.jsonl.br`))
      .toString()
      .trim()
      .split('\n')) {
      const { external: pair } = JSON.parse(line) as { external?: { hash: string; hash_norm: string } };
      if (pair?.hash !== undefined) expected.set(pair.hash, pair.hash_norm);
    }
    let found = 0;
    for (const { name, data } of readChain(`${folder}/chain`)) {
      if (parseChainName(name)?.kind !== 'block') continue;
      for (const cell of transactionCells(data)) {
        const { in_msg } = decodeCell(Transaction, cell);
        if (in_msg?.value.info.kind !== 'ext_in_msg_info') continue;
        const wanted = expected.get(toHex(in_msg.cell.hash()));
        if (wanted === undefined) continue;
        expect(toHex(normalizedExternalHash(in_msg.value))).toBe(wanted);
        found++;
      }
    }
    expect(found).toBeGreaterThan(300);
  });
});

describe('real message bodies', () => {
  const file = vectorPath('collection/messages/decode-pairs.json');
  it('keep their hash inline and in a reference', () => {
    const pairs = JSON.parse(Buffer.from(readBytes(file)).toString()) as { body: string; hash: string }[];
    expect(pairs.length).toBeGreaterThan(200);
    for (const { body: boc } of pairs) {
      const bodyCell = core.Cell.fromBase64(boc);
      const message = { info: { ...internal, src: null }, body: bodyCell } as core.MessageRelaxed;
      for (const forceRef of [false, true]) {
        if (!forceRef && (bodyCell.bits.length > 300 || bodyCell.refs.length > 2 || bodyCell.isExotic)) continue;
        const decoded = roundTrip(MessageRelaxed, fromCore(core.storeMessageRelaxed(message, { forceRef })));
        expect(plainMessage(decoded)).toEqual(coreMessage(message));
      }
    }
  });
});

it('writes a message that @ton/core reads', () => {
  const block = readBytes(vectorPath('examples/basechain-block.boc'));
  for (const cell of transactionCells(block)) {
    const { in_msg } = decodeCell(Transaction, cell);
    const message = in_msg!.value;
    const inline = encodeCell(Message, {
      ...message,
      init: null,
      body: { kind: 'right', value: new Builder().storeUint(5, 32).endCell() },
    });
    const read = core.loadMessage(core.Cell.fromBoc(Buffer.from(serializeBoc(inline)))[0]!.beginParse());
    expect(read.body.beginParse().loadUint(32)).toBe(5);
    expect(coreMessage(read)).toEqual(plainMessage(decodeCell(Message, inline)));
  }
});
