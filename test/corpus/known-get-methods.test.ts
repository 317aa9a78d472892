import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GetMethodRequest } from '#drivers/tvm/get-method.js';
import { findLibraries, type ResolveLibrary } from '#drivers/tvm/request-fields.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openVmCellSlice, type VmStackValue } from '#formats/tlb/vm-stack.js';
import { fromBase64, fromHex, toHex } from '#kernel/bytes.js';
import { getMethodRequest } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { vectorPath } from '#test/support/vector-files.js';

interface KnownContract {
  readonly name: string;
  readonly account: string;
  readonly code: string;
  readonly data: string;
  readonly hasLibrary: boolean;
  readonly want_interfaces: string[];
}

interface KnownRun {
  readonly name: string;
  readonly account: string;
  readonly code: string;
  readonly data: string;
  readonly method_go: string;
  readonly want_go: string;
}

const accounts = vectorPath('collection/accounts');

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(`${accounts}/${name}.json`, 'utf8')) as T;
}

const cellOf = (hex: string): Cell => parseBocRoot(fromHex(hex)!);

/** `GetPluginList` → `get_plugin_list` */
function methodOf(goName: string): string {
  return goName.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** Numbers, and hashes as bits, that an expected value (a Go literal) names. */
function factsOf(go: string): string[] {
  const numbers = [...go.matchAll(/(?::\s*|FromInt64\()(\d[\d_]*)[,)]/g)].map(([, digits]) =>
    digits!.replaceAll('_', ''),
  );
  const hashes = [...go.matchAll(/(?:Address\("-?\d+:|mustToBits256\("|MustParseHash\(")([0-9a-f]{64})"/gi)];
  return [
    ...numbers.filter((digits) => digits.length > 1),
    ...hashes.map(([, hash]) => bitsOf(fromHex(hash!.toLowerCase())!)),
  ];
}

function bitsOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
}

/** All numbers in decimal and in bits, and all bits of cells. */
function contentOf(value: VmStackValue): string {
  switch (value.kind) {
    case 'vm_stk_tinyint':
    case 'vm_stk_int':
      return ` ${value.value} ${value.value.toString(2).padStart(256, '0')} `;
    case 'vm_stk_cell':
    case 'vm_stk_builder':
      return bitsOfTree(value.cell);
    case 'vm_stk_slice':
      return bitsOfTree(new Builder().storeSlice(openVmCellSlice(value.slice)).endCell());
    case 'vm_stk_tuple':
      return value.data.map(contentOf).join(' ');
    default:
      return '';
  }
}

function bitsOfTree(cell: Cell): string {
  const own = bitsOf(cell.bytes.subarray(cell.dataOffset, cell.dataOffset + ((cell.bits + 7) >> 3)));
  return [own, ...Array.from({ length: cell.refCount }, (_, i) => bitsOfTree(cell.ref(i)))].join(' ');
}

/** The expected values are those of an unknown time (of a lockup), or cut to 32 bits (10^10). */
const EXEMPT = new Set(['GetBalances', 'Storm get_exchange_settings']);

describe('contracts of mainnet', () => {
  let pool: TvmPool;
  let config: Cell;
  beforeAll(async () => {
    pool = await startTvm();
    const { mainnetConfig } = readJson<{ mainnetConfig: string }>('configs');
    config = parseBocRoot(fromBase64(mainnetConfig)!);
  });
  afterAll(() => pool.close());

  const request = ({ account, code, data }: { account: string; code: string; data: string }): GetMethodRequest =>
    getMethodRequest(cellOf(code), { data: cellOf(data), address: parseAddress(account).address, config, balance: 0n });

  it('give what they are known to give', async () => {
    let facts = 0;
    let succeeded = 0;
    const missed: string[] = [];
    for (const run of readJson<KnownRun[]>('get_methods')) {
      const { exit_code, stack } = await pool.runGetMethod({ ...request(run), method: methodOf(run.method_go) });
      if (EXEMPT.has(run.name)) continue;
      if (exit_code > 1 && run.want_go !== '') missed.push(`${run.name}: exit code ${exit_code}`);
      if (exit_code <= 1) succeeded++;
      const content = stack.map(contentOf).join(' ');
      for (const fact of factsOf(run.want_go)) {
        facts++;
        if (!content.includes(fact)) missed.push(`${run.name}: ${fact}`);
      }
    }
    expect(missed).toEqual([]);
    console.info({ succeeded, facts });
    expect(succeeded).toBeGreaterThan(20);
    expect(facts).toBeGreaterThan(20);
  });

  it('run with the libraries that their code is', async () => {
    const libraries = new Map<string, Cell>();
    for (const text of readJson<string[]>('inspect_libraries')) {
      const library = parseBocRoot(fromBase64(text)!);
      libraries.set(toHex(library.hash()), library);
    }
    const resolveLibrary: ResolveLibrary = async (hashes) => hashes.map((hash) => libraries.get(toHex(hash)) ?? null);
    const methods: Readonly<Record<string, readonly [method: string, exitCode?: number]>> = {
      JettonWallet: ['get_wallet_data'],
      JettonMaster: ['get_jetton_data'],
      NftItem: ['get_nft_data'],
      NftCollection: ['get_collection_data'],
      WalletV4R2: ['seqno'],
      WalletV5R1: ['seqno'],
      // It has other methods; that this is none of them, only its library can say.
      Mytonwallet2Fa: ['no_such_method', 11],
    };
    let ran = 0;
    let withLibrary = 0;
    for (const contract of readJson<KnownContract[]>('inspect_contracts')) {
      for (const known of contract.want_interfaces) {
        const [method, exit = 0] = methods[known] ?? [];
        if (method === undefined) continue;
        const run = { ...request(contract), method };
        const { exit_code, missing_library } = await pool.runGetMethod({ ...run, resolveLibrary });
        const missing = missing_library === null ? null : toHex(missing_library);
        if (missing === null) expect(exit_code, `${contract.name}: ${method}`).toBe(exit);
        else expect(findLibraries(run.code as Cell).map(toHex), contract.name).toContain(missing);
        ran++;
        if (!contract.hasLibrary || missing !== null) continue;
        withLibrary++;
        expect((await pool.runGetMethod(run)).missing_library, contract.name).not.toBeNull();
      }
    }
    expect([ran, withLibrary]).toEqual([19, 1]);
  });
});
