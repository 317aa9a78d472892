import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeMethods } from '#domain/contracts/code-methods.js';
import { CandidateInterfaces, CONTRACT_INTERFACES } from '#domain/contracts/interface-registry.js';
import { libraryHashOf } from '#domain/contracts/native-code.js';
import type { GetMethodResult } from '#drivers/tvm/get-method.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address, parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { fromBase64, fromHex, toHex } from '#kernel/bytes.js';
import { Random } from '#test/fuzz/random.js';
import { damageBelow } from '#test/fuzz/seeds.js';
import { FULL } from '#test/support/full-depth.js';
import { nativeMethods, nativeShape, runShape } from '#test/support/native-comparison.js';
import { mainnetConfig } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { vectorPath } from '#test/support/vector-files.js';

const candidates = new CandidateInterfaces(CONTRACT_INTERFACES);

const contracts = vectorPath('collection/contracts');
const accounts = vectorPath('collection/accounts');

interface State {
  readonly name: string;
  readonly address: Address;
  readonly code: Cell;
  readonly data: Cell;
}

interface Inspected {
  readonly name: string;
  readonly account: string;
  readonly code: string;
  readonly data: string;
  readonly want_interfaces: readonly string[];
}

function json<T>(file: string): T {
  return JSON.parse(readFileSync(`${accounts}/${file}`, 'utf8')) as T;
}

const cellOf = (hex: string): Cell => parseBocRoot(fromHex(hex) as Uint8Array);

/** Codes of the folder with data of theirs beside them. */
function* statesOfFolder(): Generator<State> {
  for (const file of readdirSync(contracts, { recursive: true }) as string[]) {
    if (!file.endsWith('.data.boc')) continue;
    const path = join(contracts, file.replace('.data.boc', ''));
    const code = ['.boc', '.library.boc']
      .map((end) => `${path}${end}`)
      .map(readIfThere)
      .find((found) => found !== null);
    const data = parseBocRoot(readFileSync(join(contracts, file)));
    if (code != null) yield { name: file, address: Address.ofParts(0, new Uint8Array(32).fill(9)), code, data };
  }
}

function readIfThere(path: string): Cell | null {
  try {
    return parseBocRoot(readFileSync(path));
  } catch {
    return null;
  }
}

/** Accounts of mainnet. */
function* statesOfAccounts(): Generator<State> {
  for (const file of ['inspect_contracts.json', 'get_methods.json']) {
    for (const { name, account, code, data } of json<Inspected[]>(file)) {
      yield { name, address: parseAddress(account).address, code: cellOf(code), data: cellOf(data) };
    }
  }
}

/** Libraries of the folder, of mainnet and of the accounts, by hash. */
function libraries(): ReadonlyMap<string, Cell> {
  const cells: Cell[] = [];
  for (const file of readdirSync(contracts, { recursive: true }) as string[]) {
    if (file.endsWith('.boc') && !file.endsWith('.data.boc')) {
      const cell = readIfThere(join(contracts, file));
      if (cell !== null) cells.push(cell);
    }
  }
  for (const text of json<string[]>('inspect_libraries.json')) cells.push(parseBocRoot(fromBase64(text) as Uint8Array));
  return new Map(cells.map((cell) => [toHex(cell.hash()), cell]));
}

/** Kinds by the interfaces that are expected of an account. */
const KINDS: Readonly<Record<string, string>> = {
  JettonMaster: 'jetton_master',
  JettonWallet: 'jetton_wallet',
  NftCollection: 'nft_collection',
  NftItem: 'nft_item',
  NftSaleGetgemsV4: 'nft_sale',
};

describe('codes of mainnet', () => {
  let tvm: TvmPool;
  let known: ReadonlyMap<string, Cell>;
  beforeAll(async () => {
    tvm = await startTvm();
    known = libraries();
  });
  afterAll(() => tvm?.close());

  const run = ({ code, data, address }: State, method: string, stack: VmStack): Promise<GetMethodResult> =>
    tvm.runGetMethod({
      code,
      data,
      address,
      method,
      stack,
      now: 1_750_000_000,
      balance: 1_000_000_000n,
      config: mainnetConfig,
      resolveLibrary: async (hashes) => hashes.map((hash) => known.get(toHex(hash)) ?? null),
    });

  it('are read natively as by running them, with their data and with damaged data', async () => {
    const random = new Random('codes of mainnet');
    const names = new Set<string>();
    let left = 0;
    for (const state of [...statesOfFolder(), ...statesOfAccounts()]) {
      // Without its library it cannot run.
      const library = libraryHashOf(state.code);
      if (library !== null && !known.has(toHex(library))) continue;
      for (let i = 0; i < (FULL ? 15 : 4); i++) {
        const changed = i === 0 ? state : { ...state, data: damageBelow(state.data, random) };
        for (const method of nativeMethods(changed)) {
          const native = nativeShape(method);
          const name = `${state.name} ${method.method}`;
          if (native === null) {
            left++;
            continue;
          }
          const answer = runShape(method, await run(changed, method.method, method.stack));
          expect({ [name]: native }).toEqual({ [name]: answer });
          if (i === 0) names.add(name);
        }
      }
    }
    expect(names.size).toBeGreaterThan(40);
    expect(left).toBeGreaterThan(FULL ? 20 : 4);
  });

  it('can be of the kinds that accounts are expected to be of', () => {
    const seen = new Set<string>();
    for (const { name, code: text, want_interfaces } of json<Inspected[]>('inspect_contracts.json')) {
      const code = cellOf(text);
      const library = libraryHashOf(code);
      const whole = library === null ? code : (known.get(toHex(library)) ?? null);
      const found = candidates
        .of(toHex(code.hash()), whole === null ? null : codeMethods(whole))
        .map(({ name: kind }) => kind);
      const wanted = want_interfaces.map((one) => KINDS[one]).filter((kind) => kind !== undefined);
      expect({ name, found }).toEqual({ name, found: expect.arrayContaining(wanted) });
      for (const kind of wanted) seen.add(kind);
    }
    expect([...seen].sort()).toEqual(Object.values(KINDS).sort());
  });
});
