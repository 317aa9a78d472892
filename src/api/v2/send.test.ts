import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sendEndpoints } from '#api/v2/send.js';
import { treeOfCell } from '#api/v2/stack-forms.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message, messageBodyCell, messageInit } from '#formats/tlb/message.js';
import { fromBase64, toBase64, toHex } from '#kernel/bytes.js';
import { chainErrors } from '#services/chain/errors.js';
import type { FeeRequest } from '#services/emulation/contract-reads.js';
import { callV2 } from '#test/support/v2-method.js';
import { vectorPath } from '#test/support/vector-files.js';

interface RecordedSend {
  readonly desc: string;
  readonly path: string;
  readonly body: { readonly boc: string };
  readonly status: number;
  readonly response: { readonly result?: unknown; readonly error?: string };
}
const recorded = readFileSync(vectorPath('v2/sends.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as RecordedSend);
const accepted = recorded.filter(({ status }) => status === 200);
const refused = recorded.filter(({ status }) => status === 500);
const { boc } = accepted[0]!.body;

/** A network that takes messages, or refuses them with the text of a node. */
function network(refusal: { code: number; text: string } | null = null) {
  const sent: Uint8Array[] = [];
  const asked: FeeRequest[] = [];
  const chain = {
    send: async (bytes: Uint8Array) => {
      if (refusal !== null) throw chainErrors['message-refused'](refusal);
      sent.push(bytes);
      return { hash: new Uint8Array(32) };
    },
  };
  const contracts = {
    explainRefusal: async (_message: Cell, text: string) => ({
      reason: 'seqno',
      explanation: `Explained: ${text.length} characters.`,
    }),
    estimateFee: async (question: FeeRequest) => {
      asked.push(question);
      const caveat = question.ignore_chksig ? 'the network is newer' : null;
      return { in_fwd_fee: 400_000n, storage_fee: 37n, gas_fee: 2n ** 40n, fwd_fee: 0n, caveat };
    },
  };
  return { sent, asked, network: { chain, contracts } as never };
}

describe('sending', () => {
  it.each(accepted)('$desc', async ({ path, body, response }) => {
    const { sent, network: taking } = network();
    const name = path.slice(1);
    expect(await callV2(sendEndpoints, name, { ...body }, taking)).toMatchObject({
      status: 200,
      result: response.result,
    });
    const hashes = await callV2(sendEndpoints, 'sendBocReturnHashNoError', { ...body }, taking);
    if (name === 'sendBocReturnHash') expect(hashes.result).toEqual(response.result);
    expect(sent.map(toBase64)).toEqual([body.boc, body.boc]);
  });

  it.each(refused)('$desc', async ({ path, body, response }) => {
    const text = response.error!.replace('LITE_SERVER_UNKNOWN: ', '');
    const { network: refusing } = network({ code: 0, text });
    const answer = await callV2(sendEndpoints, path.slice(1), { ...body }, refusing);
    expect(answer.status).toBe(500);
    expect(answer.error).toBe(`${response.error}\nExplained: ${text.length} characters.`);
    const asClientError = await callV2(sendEndpoints, 'sendBocReturnHashNoError', { ...body }, refusing);
    expect([asClientError.status, asClientError.error]).toEqual([400, answer.error]);
  });

  it('keeps what clients look for in the text of the node', async () => {
    const text =
      'cannot apply external message to current state : External message was not accepted: cannot run message on account: ' +
      'inbound external message rejected by transaction AB:\nexitcode=33, steps=22, gas_used=0\nVM Log (truncated):\n...';
    for (const [code, name] of [
      [0, 'UNKNOWN'],
      [651, 'NOTREADY'],
      [652, 'TIMEOUT'],
    ] as const) {
      const { error } = await callV2(sendEndpoints, 'sendBoc', { boc }, network({ code, text }).network);
      expect(error.startsWith(`LITE_SERVER_${name}: ${text}\n`)).toBe(true);
    }
  });

  it('says what the node said when nothing explains it', async () => {
    const { chain } = network({ code: 0, text: 'no' }).network as unknown as { chain: object };
    const explainRefusal = async () => {
      throw chainErrors.deadline({ ms: 5 });
    };
    const answer = await callV2(sendEndpoints, 'sendBoc', { boc }, { chain, contracts: { explainRefusal } } as never);
    expect(answer.status).toBe(500);
    expect(answer.error).toMatch(/^LITE_SERVER_UNKNOWN: no\nThe reason of the refusal could not be determined/);
  });

  const inner = toBase64(serializeBoc(new Builder().storeUint(0, 32).storeUint(0, 300).endCell()));
  const twoRoots = toBase64(serializeBoc([parseBocRoot(fromBase64(boc)!), EMPTY_CELL]));
  const rows: readonly [string, unknown, RegExp][] = [
    ['empty', '', /boc.*empty/],
    ['not base64', '*&^', /boc.*not base64.*offset 0/],
    ['base64url', boc.replace(/\+/g, '-'), /boc.*base64url/],
    ['not padded', boc.slice(0, -1), /boc.*padding/],
    ['cut', boc.slice(0, -40), /boc.*not a bag of cells/],
    ['other bytes', toBase64(Buffer.from('hello, world')), /boc.*not a bag of cells: starts with/],
    ['two roots', twoRoots, /boc.*2 roots/],
    ['an empty cell', toBase64(serializeBoc(EMPTY_CELL)), /boc.*not an external-in message/],
    ['a message between contracts', inner, /boc/],
    ['more than nodes take', toBase64(new Uint8Array(65_538)), /boc.*has 65538 bytes.*at most 65535/],
    ['a number', 5, /boc/],
    ['an object', {}, /boc/],
  ];
  it.each(rows)('refuses a boc that is %s', async (_name, value, message) => {
    for (const name of ['sendBoc', 'sendBocUnsafe', 'sendBocReturnHash', 'sendBocReturnHashNoError']) {
      const { sent, network: taking } = network();
      const answer = await callV2(sendEndpoints, name, { boc: value }, taking);
      expect(answer.status).toBe(422);
      expect(answer.error).toMatch(message);
      expect(sent).toEqual([]);
    }
  });
});

describe('messages in parts', () => {
  const address = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
  const body = new Builder().storeUint(7, 9).endCell();
  const code = new Builder().storeUint(1, 8).endCell();
  const data = new Builder().storeUint(2, 8).endCell();
  const text = (cell: Cell) => toBase64(serializeBoc(cell));

  function sentMessage(sent: readonly Uint8Array[]) {
    expect(sent.length).toBe(1);
    const message = decodeCell(Message, parseBocRoot(sent[0]!));
    const init = messageInit(message);
    return {
      kind: message.info.kind,
      dest: 'dest' in message.info ? String(message.info.dest) : null,
      body: toHex(messageBodyCell(message).hash()),
      code: init?.code ? toHex(init.code.hash()) : null,
      data: init?.data ? toHex(init.data.hash()) : null,
    };
  }
  const dest = '0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8';
  const plain = { kind: 'ext_in_msg_info', dest, body: toHex(body.hash()), code: null, data: null };
  const deploying = { ...plain, code: toHex(code.hash()), data: toHex(data.hash()) };

  it('are put together and sent', async () => {
    const rows: readonly [string, Record<string, unknown>, unknown][] = [
      ['sendQuery', { body: text(body) }, plain],
      ['sendQuery', { body: text(body), init_code: '', init_data: '' }, plain],
      ['sendQuery', { body: text(body), init_code: text(code), init_data: text(data) }, deploying],
      ['sendQuery', { body: text(body), init_data: text(data) }, { ...deploying, code: null }],
      ['sendQuerySimple', { body: treeOfCell(body), init_code: null }, plain],
      [
        'sendQuerySimple',
        { body: treeOfCell(body), init_code: treeOfCell(code), init_data: treeOfCell(data) },
        deploying,
      ],
    ];
    for (const [name, parts, expected] of rows) {
      const { sent, network: taking } = network();
      expect(await callV2(sendEndpoints, name, { address, ...parts }, taking)).toMatchObject({
        result: { '@type': 'ok' },
      });
      expect(sentMessage(sent)).toEqual(expected);
    }
  });

  it('may come as one tree', async () => {
    const { sent, network: taking } = network();
    const message = parseBocRoot(fromBase64(boc)!);
    const answer = await callV2(sendEndpoints, 'sendCellSimple', { cell: treeOfCell(message) }, taking);
    expect(answer.result).toEqual({ '@type': 'ok' });
    expect(toHex(parseBocRoot(sent[0]!).hash())).toBe(toHex(message.hash()));
    const other = await callV2(sendEndpoints, 'sendCellSimple', { cell: treeOfCell(body) }, taking);
    expect([other.status, sent.length]).toEqual([422, 1]);
  });

  it('can be asked for their fees', async () => {
    const rows: readonly [string, Record<string, unknown>][] = [
      ['estimateFee', { body: text(body), init_code: text(code), init_data: text(data), ignore_chksig: false }],
      [
        'estimateFeeSimple',
        { body: treeOfCell(body), init_code: treeOfCell(code), init_data: treeOfCell(data), ignore_chksig: false },
      ],
      ['estimateFee', { body: text(body) }],
    ];
    for (const [index, [name, parts]] of rows.entries()) {
      const { asked, network: taking } = network();
      const { result, headers } = await callV2(sendEndpoints, name, { address, ...parts }, taking);
      const caveat = { 'X-Tern-Fee-Estimate': 'approximate; reason=the network is newer' };
      expect(headers).toEqual(index === 2 ? caveat : {});
      expect(result).toEqual({
        '@type': 'query.fees',
        source_fees: { '@type': 'fees', in_fwd_fee: 400_000, storage_fee: 37, gas_fee: 2 ** 40, fwd_fee: 0 },
        destination_fees: [],
      });
      const [{ init_code, init_data, ignore_chksig, address: to }] = asked as [FeeRequest];
      expect([to.toRaw(), ignore_chksig]).toEqual([dest, index === 2]);
      expect([init_code, init_data].map((cell) => cell && toHex(cell.hash()))).toEqual(
        index === 2 ? [null, null] : [deploying.code, deploying.data],
      );
    }
  });

  it('are refused by the name of the part', async () => {
    const rows: readonly [string, Record<string, unknown>, RegExp][] = [
      ['estimateFee', { address, body: '' }, /body.*empty/],
      ['estimateFee', { address, body: 'AAAA' }, /body.*not a bag of cells/],
      ['estimateFee', { address, body: text(body), init_code: 'AAAA' }, /init_code.*bag of cells/],
      ['estimateFee', { address, body: text(body), ignore_chksig: 'maybe' }, /ignore_chksig/],
      ['estimateFee', { address: 'x', body: text(body) }, /address/],
      ['estimateFee', { address }, /body.*required/],
      ['sendQuerySimple', { address, body: { data: 5 } }, /body/],
      ['sendQuerySimple', { address, body: treeOfCell(body), init_data: 5 }, /init_data/],
    ];
    for (const [name, parts, message] of rows) {
      const { sent, asked, network: taking } = network();
      const answer = await callV2(sendEndpoints, name, parts, taking);
      expect(answer.status).toBe(422);
      expect(answer.error).toMatch(message);
      expect([...sent, ...asked]).toEqual([]);
    }
  });
});
