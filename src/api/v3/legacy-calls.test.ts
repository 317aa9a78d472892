import { describe, expect, it } from 'vitest';
import type { V3ChainNetwork } from '#api/v3/context.js';
import { decodeAccount } from '#api/v3/parameters.js';
import type { IndexedAccount } from '#drivers/store/read/index-types.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { Message, normalizedExternalHash } from '#formats/tlb/message.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { VM_NULL, vmCell, vmInt, vmSlice, vmTuple } from '#formats/tlb/vm-stack.js';
import { toBase64 } from '#kernel/bytes.js';
import { chainErrors } from '#services/chain/errors.js';
import type { FeeRequest } from '#services/emulation/contract-reads.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';
import { type FakeAnswer, FakeContracts } from '#test/support/fake-contracts.js';
import { FakeIndex } from '#test/support/fake-index.js';
import { callV3 } from '#test/support/v3-method.js';

const A = `0:${'a'.repeat(64)}`;
const address = decodeAccount(A);
const CELL = new Builder().storeUint(7, 8).endCell();
const base64 = (cell: Cell) => toBase64(serializeBoc(cell));
const withCrc = (cell: Cell) => toBase64(serializeBoc(cell, { crc32c: true }));

const info = { kind: 'ext_in_msg_info', src: null, dest: address, import_fee: 5n } as const;
const external: Message = { info, init: null, body: { kind: 'right', value: CELL } };
const externalCell = encodeCell(Message, external);

const contractsWith = (run: FakeAnswer) =>
  new FakeContracts([{ address, methods: { run } }]) as unknown as V3ChainNetwork['contracts'];

describe('runGetMethod', () => {
  const run = async (answer: FakeAnswer, stack: unknown[] = []) => {
    const given = { address: A, method: 'run', stack };
    return callV3('runGetMethod', given, { network: { contracts: contractsWith(answer) } });
  };

  it('gives results by type', async () => {
    const results: VmStack = [
      vmInt(42),
      vmInt(-1n),
      vmCell(CELL),
      vmSlice(CELL),
      VM_NULL,
      vmTuple([vmInt(1), vmTuple([vmInt(2), VM_NULL])]),
      vmTuple([vmInt(1), vmInt(2), vmSlice(CELL)]),
      { kind: 'vm_stk_nan' },
    ];
    const { body } = await run(results);
    const number = (value: string) => ({ type: 'num', value });
    expect(body).toEqual({
      gas_used: 1_000,
      exit_code: 0,
      stack: [
        number('0x2a'),
        number('-0x1'),
        { type: 'cell', value: withCrc(CELL) },
        { type: 'cell', value: withCrc(CELL) },
        { type: 'list', value: [] },
        { type: 'list', value: [number('0x1'), number('0x2')] },
        { type: 'tuple', value: [number('0x1'), number('0x2'), { type: 'slice', value: withCrc(CELL) }] },
        { type: 'unsupported', value: '' },
      ],
    });
  });

  it('takes numbers, cells and slices', async () => {
    const seen: VmStack[] = [];
    const echo: FakeAnswer = (stack) => {
      seen.push(stack);
      return 3;
    };
    const entries = [
      { type: 'num', value: '0x1f' },
      { type: 'num', value: '-5' },
      { type: 'cell', value: base64(CELL) },
      { type: 'slice', value: base64(CELL) },
    ];
    const { body } = await run(echo, entries);
    expect(body.exit_code).toBe(3);
    expect(seen[0]?.map(({ kind }) => kind)).toEqual([
      'vm_stk_tinyint',
      'vm_stk_tinyint',
      'vm_stk_cell',
      'vm_stk_slice',
    ]);
    expect(seen[0]?.slice(0, 2)).toEqual([vmInt(31), vmInt(-5)]);
  });

  it.each([
    [{ type: 'tuple', value: [] }],
    [{ type: 'num', value: 5 }],
    [{ type: 'num', value: '1e5' }],
    [{ type: 'num', value: `0x${'f'.repeat(65)}` }],
    [{ type: 'cell', value: 'x' }],
    [{ type: 'slice', value: '' }],
    [['num', '1']],
    ['num'],
  ])('refuses the argument %j', async (entry) => {
    const { status, error } = await run(0, [entry]);
    expect(status).toBe(422);
    expect(error).toContain('parameter stack');
  });

  it('refuses a stack that is larger than nodes take, before it is parsed', async () => {
    const entry = { type: 'cell', value: 'AAAA'.repeat(11_000) };
    expect((await run(0, [entry])).error).not.toContain('which nodes do not take');
    expect((await run(0, [entry, entry])).error).toContain('more than 65535 bytes, which nodes do not take');
  });

  it('refuses a number for the name of the method, and results that are nested without end', async () => {
    expect((await callV3('runGetMethod', { address: A, method: 85143 })).status).toBe(422);
    let deep = vmTuple([vmInt(1)]);
    for (let i = 0; i < 300; i++) deep = vmTuple([deep]);
    expect((await run([deep])).code).toBe('v3/result-depth');
  });

  it('refuses results in which a cell is repeated without end', async () => {
    let large = CELL;
    for (let i = 0; i < 500; i++) large = new Builder().storeUint(i, 1_000).storeRef(large).endCell();
    const many = vmTuple(Array.from({ length: 255 }, () => vmCell(large)));
    expect((await run([many])).code).toBe('v3/result-size');
  });
});

describe('message', () => {
  const send = (boc: string, chain: object = {}, contracts: object = {}) =>
    callV3('message', { boc }, { network: { chain, contracts } as Partial<V3ChainNetwork> });

  it('sends what it is given, and reports both hashes', async () => {
    const sent: Uint8Array[] = [];
    const chain = { send: async (boc: Uint8Array) => void sent.push(boc) };
    const { body } = await send(base64(externalCell), chain);
    expect(sent).toEqual([serializeBoc(externalCell)]);
    expect(body).toEqual({
      message_hash: toBase64(externalCell.hash()),
      message_hash_norm: toBase64(normalizedExternalHash(external)),
    });
  });

  it('says what nodes have against it', async () => {
    const refuse = async () => {
      throw chainErrors['message-refused']({ code: 0, text: 'cannot apply' });
    };
    const explainRefusal = async () => ({ reason: 'seqno', explanation: 'The seqno was used.' });
    const reported = await send(base64(externalCell), { send: refuse }, { explainRefusal });
    expect([reported.status, reported.error]).toEqual([500, 'cannot apply\nThe seqno was used.']);
    const silent = async () => refuse();
    const untold = await send(base64(externalCell), { send: refuse }, { explainRefusal: silent });
    expect(untold.error).toMatch(/^cannot apply\nWhat is wrong .* could not be looked up/);
  });

  it.each(['', 'x', 'AAAA', base64(CELL)])('refuses %j', async (boc) => {
    const { status, error } = await send(boc);
    expect(status).toBe(422);
    expect(error).toContain('parameter boc');
  });

  it('refuses what is larger than nodes take, before it is parsed', async () => {
    const { status, error } = await send('AAAA'.repeat(21_846));
    expect(status).toBe(422);
    expect(error).toMatch(/boc.*has 65538 bytes.*at most 65535/);
  });
});

describe('estimateFee', () => {
  const asked: FeeRequest[] = [];
  const contracts = {
    estimateFee: async (question: FeeRequest) => {
      asked.push(question);
      return { in_fwd_fee: 1n, storage_fee: 2n, gas_fee: 3n, fwd_fee: 4n, caveat: 'new — rules' };
    },
  } as unknown as V3ChainNetwork['contracts'];

  it('asks with what it is given', async () => {
    const network = { contracts };
    const given = { address: A, body: base64(CELL), init_code: base64(CELL), init_data: '', ignore_chksig: true };
    const { body, headers } = await callV3('estimateFee', given, { network });
    expect(body).toEqual({
      source_fees: { in_fwd_fee: 1, storage_fee: 2, gas_fee: 3, fwd_fee: 4 },
      destination_fees: [],
    });
    expect(headers).toEqual({ 'X-Tern-Fee-Estimate': 'approximate; reason=new rules' });
    await callV3('estimateFee', { address: A }, { network });
    const [full, bare] = asked.map(({ body: cell, init_code, init_data, ...rest }) => ({
      ...rest,
      cells: [cell, init_code, init_data].map((one) => (one === null ? null : toBase64(one.hash()))),
    }));
    const [cell, empty] = [CELL, EMPTY_CELL].map((one) => toBase64(one.hash()));
    expect(full).toEqual({ address, ignore_chksig: true, cells: [cell, cell, null] });
    expect(bare).toEqual({ address, ignore_chksig: false, cells: [empty, null, null] });
  });
});

describe('accounts read from the chain', () => {
  const wallet = recordedAccounts.find(({ wallet: reported }) => reported?.wallet_type === 'wallet v3 r2');
  const { code, data } = wallet as { code: Cell; data: Cell };
  const contracts = new FakeContracts([{ address, code, data }]);
  const chain = contracts as unknown as V3ChainNetwork['chain'];
  const incomplete = { mc_seqno: 77, incomplete: true, address } as unknown as IndexedAccount;
  const ask = (method: string, query: string) => callV3(method, query, { network: { chain } });

  it('are so by default in the spec profile', async () => {
    const { body } = await ask('addressInformation', `address=${A}`);
    expect(body).toMatchObject({ balance: '1', code: withCrc(code), data: withCrc(data), status: 'active' });
    const { body: reported } = await ask('walletInformation', `address=${A}&use_v2=true`);
    expect(reported).toMatchObject({ wallet_type: 'wallet v3 r2', seqno: wallet?.wallet?.seqno, status: 'active' });
  });

  it('are so as well where the index does not know all of them', async () => {
    const index = new FakeIndex({ accounts: [incomplete] });
    const network = { index, chain };
    const { body } = await callV3('walletInformation', `address=${A}&use_v2=false`, { network });
    expect(body).toMatchObject({ wallet_type: 'wallet v3 r2', status: 'active' });
    expect(contracts.blocks.at(-1)).toBe(incomplete.mc_seqno);
  });

  it('need not exist, but their workchain', async () => {
    const { body } = await ask('addressInformation', `address=0:${'b'.repeat(64)}`);
    expect(body).toEqual({
      balance: '0',
      last_transaction_lt: '0',
      last_transaction_hash: `${'A'.repeat(43)}=`,
      status: 'uninitialized',
    });
    expect((await ask('addressInformation', `address=5:${'b'.repeat(64)}`)).code).toBe('v3/no-workchain');
  });
});
