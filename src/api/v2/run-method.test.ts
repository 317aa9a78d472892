import { describe, expect, it } from 'vitest';
import { runMethodEndpoints } from '#api/v2/run-method.js';
import type { Address } from '#formats/address/address.js';
import { cellsErrors } from '#formats/cells/errors.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { VM_NULL, vmInt, vmTuple } from '#formats/tlb/vm-stack.js';
import type { ReadAt } from '#services/chain/read-context.js';
import type { GetMethodRead } from '#services/emulation/contract-reads.js';
import { callV2 } from '#test/support/v2-method.js';

const address = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
const block = {
  workchain: -1,
  shard: 1n << 63n,
  seqno: 77,
  root_hash: new Uint8Array(32).fill(1),
  file_hash: new Uint8Array(32).fill(2),
};

/** Contracts that answer all get methods with the same. */
function network(result: Partial<GetMethodRead> = {}) {
  const asked: { readonly method: string | number; readonly stack: VmStack; readonly options: ReadAt }[] = [];
  const contracts = {
    runGetMethod: async (_address: Address, method: string | number, stack: VmStack, options: ReadAt) => {
      asked.push({ method, stack, options });
      const read = { exit_code: 0, gas_used: 549, stack: [vmInt(42), VM_NULL], block, last_transaction: null };
      return { ...read, ran_on: 'local', ran_on_reason: null, remembered_ms: null, ...result };
    },
  };
  return { asked, network: { contracts } as never };
}

describe('runGetMethod', () => {
  it('answers results, block and last transaction', async () => {
    const { asked, network: contracts } = network();
    const body = { address, method: 'seqno', stack: [['num', '0x5']], seqno: 77 };
    const answer = await callV2(runMethodEndpoints, 'runGetMethod', body, contracts);
    expect(answer).toEqual({
      status: 200,
      result: {
        '@type': 'smc.runResult',
        gas_used: 549,
        stack: [
          ['num', '0x2a'],
          ['list', { '@type': 'vm.list', elements: [] }],
        ],
        exit_code: 0,
        block_id: {
          '@type': 'chain.blockIdExt',
          workchain: -1,
          shard: '-9223372036854775808',
          seqno: 77,
          root_hash: 'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=',
          file_hash: 'AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=',
        },
        last_transaction_id: {
          '@type': 'internal.transactionId',
          lt: '0',
          hash: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
        },
      },
      error: '',
      headers: {},
    });
    expect(asked).toEqual([{ method: 'seqno', stack: [vmInt(5)], options: { deadlineMs: 1_000, at: 77 } }]);
  });

  it('says in a header when a node ran it, and why', async () => {
    const reason = 'the network has global version 99,\nthe emulator knows 13 — так';
    const { network: contracts } = network({ ran_on: 'node', ran_on_reason: reason });
    for (const name of ['runGetMethod', 'runGetMethodStd']) {
      const { headers } = await callV2(runMethodEndpoints, name, { address, method: 1, stack: [] }, contracts);
      expect(headers).toEqual({
        'X-Tern-Get-Method': 'node; reason=the network has global version 99, the emulator knows 13',
      });
    }
  });

  it('says in a header when the result is that of an earlier run', async () => {
    const { network: contracts } = network({ exit_code: -14, remembered_ms: 12_345 });
    const { headers } = await callV2(runMethodEndpoints, 'runGetMethod', { address, method: 1, stack: [] }, contracts);
    expect(headers).toEqual({ 'X-Tern-Get-Method': 'memory; age=12' });
  });

  const methods: readonly [unknown, string | number][] = [
    ['seqno', 'seqno'],
    [85143, 85143],
    ['85143', 85143],
    ['-1', -1],
    ['0x14c97', 85143],
    ['-0x1', -1],
    ['0X14C97', 85143],
    ['get_0x1', 'get_0x1'],
    ['1e3', '1e3'],
    ['имя', 'имя'],
  ];
  it.each(methods)('takes the method %j', async (method, expected) => {
    const { asked, network: contracts } = network();
    await callV2(runMethodEndpoints, 'runGetMethod', { address, method, stack: [] }, contracts);
    expect(asked.map((question) => question.method)).toEqual([expected]);
  });

  const refused: readonly [Record<string, unknown>, RegExp][] = [
    [{ method: '' }, /method.*empty/],
    [{ method: 1.5 }, /method/],
    [{ method: null }, /method/],
    [{ method: 2 ** 31 }, /method.*2147483648/],
    [{ method: '0x80000000' }, /method.*0x80000000/],
    [{ method: '9'.repeat(400) }, /method/],
    [{ method: {} }, /method/],
    [{ stack: undefined }, /stack.*required/],
    [{ stack: {} }, /stack is an object/],
    [{ stack: 'x' }, /stack is a string/],
    [
      {
        stack: [
          ['num', 1],
          ['num', 2],
          ['num', 3],
          ['foo', 1],
        ],
      },
      /Unsupported stack entry type: "foo".*stack\[3\]/,
    ],
    [{ stack: [['cell', 'AAAA']] }, /stack\[0\]/],
    [{ seqno: 0 }, /seqno/],
    [{ seqno: 2 ** 31 }, /seqno/],
    [{ address: '' }, /address/],
    [{ address: '83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8' }, /address/],
    [{ more: 1 }, /more/],
  ];
  it.each(refused)('refuses %j', async (change, message) => {
    const { asked, network: contracts } = network();
    const body = { address, method: 'seqno', stack: [], ...change };
    const answer = await callV2(runMethodEndpoints, 'runGetMethod', body, contracts);
    expect([answer.status, asked.length]).toEqual([422, 0]);
    expect(answer.error).toMatch(message);
  });

  it('says what is wrong with arguments or results that are nested too deep', async () => {
    let deep = vmTuple([]);
    for (let level = 0; level < 300; level++) deep = vmTuple([deep, deep, vmInt(level)].slice(1));
    const { network: contracts } = network({ stack: [deep] });
    const answer = await callV2(runMethodEndpoints, 'runGetMethod', { address, method: 'x', stack: [] }, contracts);
    expect([answer.status, answer.error]).toEqual([533, expect.stringContaining('Result stack depth >= 256')]);

    const failing = {
      contracts: {
        runGetMethod: async () => {
          throw cellsErrors['cell-depth']({ depth: 1025 });
        },
      },
    } as never;
    const tooDeep = await callV2(runMethodEndpoints, 'runGetMethod', { address, method: 'x', stack: [] }, failing);
    expect([tooDeep.status, tooDeep.error]).toEqual([422, expect.stringMatching(/arguments.*1025/)]);
  });
});

describe('runGetMethodStd', () => {
  it('takes and answers typed stacks', async () => {
    const { asked, network: contracts } = network({ exit_code: 11 });
    const stack = [{ '@type': 'tvm.stackEntryNumber', number: { '@type': 'tvm.numberDecimal', number: '-7' } }];
    const answer = await callV2(runMethodEndpoints, 'runGetMethodStd', { address, method: 'f', stack }, contracts);
    expect(answer.result).toEqual({
      '@type': 'smc.runResult',
      gas_used: 549,
      stack: [
        { '@type': 'vm.stackEntryNumber', number: { '@type': 'vm.numberDecimal', number: '42' } },
        { '@type': 'vm.stackEntryList', list: { '@type': 'vm.list', elements: [] } },
      ],
      exit_code: 11,
    });
    expect(asked).toEqual([{ method: 'f', stack: [vmInt(-7)], options: { deadlineMs: 1_000, at: 'head' } }]);
    const legacy = await callV2(
      runMethodEndpoints,
      'runGetMethodStd',
      { address, method: 'f', stack: [['num', 1]] },
      contracts,
    );
    expect([legacy.status, legacy.error]).toEqual([422, expect.stringContaining('stack[0]')]);
  });
});
