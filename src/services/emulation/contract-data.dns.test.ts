import { describe, expect, it } from 'vitest';
import { NEXT_RESOLVER_CATEGORY } from '#domain/contracts/dns-records.js';
import { sha256KeyOf } from '#domain/contracts/token-content.js';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { openVmCellSlice, VM_NULL, vmCell, vmInt, vmTuple } from '#formats/tlb/vm-stack.js';
import { resolveDns } from '#services/emulation/contract-data.js';
import { FAKE_BLOCK, type FakeAnswer, FakeContracts } from '#test/support/fake-contracts.js';

const root = Address.ofParts(-1, new Uint8Array(32).fill(1));
const collection = Address.ofParts(0, new Uint8Array(32).fill(2));
const item = Address.ofParts(0, new Uint8Array(32).fill(3));
const wallet = Address.ofParts(0, new Uint8Array(32).fill(4));

function withAddress(tag: number, { hash }: Address): Cell {
  return new Builder().storeUint(tag, 16).storeUint(0b100, 3).storeInt(0, 8).storeBytes(hash).endCell();
}

const records = buildDictionary(256, [
  [sha256KeyOf('wallet'), new Builder().storeRef(withAddress(0x9fd3, wallet))],
]) as Cell;

/** Answers with the next resolver for names that begin so, whatever comes after. */
function passes(begin: string, to: Address): FakeAnswer {
  return (stack) => {
    const name = nameOf(stack);
    if (!name.startsWith(begin)) return [vmInt(0), VM_NULL];
    return [vmInt(begin.length * 8), vmCell(withAddress(0xba93, to))];
  };
}

function nameOf([name]: VmStack): string {
  if (name?.kind !== 'vm_stk_slice') throw new TypeError('the name is no slice');
  const slice = openVmCellSlice(name.slice);
  return Buffer.from(slice.loadBytes(slice.remainingBits / 8)).toString();
}

const asked: string[] = [];
const holds: FakeAnswer = (stack) => {
  asked.push(nameOf(stack));
  return [vmInt(nameOf(stack).length * 8), vmCell(records)];
};

function resolvers(first: FakeAnswer, second: FakeAnswer): FakeContracts {
  return new FakeContracts([
    { address: root, methods: { dnsresolve: first } },
    { address: collection, methods: { dnsresolve: second } },
    { address: item, methods: { dnsresolve: holds } },
  ]);
}

const found = {
  resolver: item,
  name: '.',
  entries: [{ category: sha256KeyOf('wallet'), record: { kind: 'dns_smc_address', smc_addr: wallet } }],
};

describe('resolveDns', () => {
  it('goes from resolver to resolver, all at the block of the first', async () => {
    const reads = resolvers(passes('\0ton', collection), passes('\0alice', item));
    expect(await resolveDns(root, 'alice.ton', 5, reads, {})).toEqual(found);
    expect(asked.at(-1)).toBe('\0');
    expect(reads.runs).toEqual([root, collection, item].map((address) => `${address} dnsresolve`));
    expect(reads.blocks).toEqual([undefined, FAKE_BLOCK, FAKE_BLOCK]);
    const at = resolvers(passes('\0ton', collection), passes('\0alice', item));
    await resolveDns(root, 'alice.ton', 5, at, { at: 7 });
    expect(at.blocks).toEqual([7, FAKE_BLOCK, FAKE_BLOCK]);
  });

  it('takes resolvers that count the zero byte after a label', async () => {
    const reads = resolvers(passes('\0ton\0', collection), passes('\0alice\0', item));
    const name = { ...found, name: 'bob.' };
    expect(await resolveDns(root, 'bob.alice.ton', 5, reads, {})).toEqual(name);
    expect(asked.at(-1)).toBe('\0bob\0');
  });

  it('ends where no more resolvers may be asked', async () => {
    const reads = resolvers(passes('\0ton', collection), passes('\0alice', item));
    const next = (resolver: Address, name: string, to: Address) => ({
      resolver,
      name,
      entries: [{ category: NEXT_RESOLVER_CATEGORY, record: { kind: 'dns_next_resolver', resolver: to } }],
    });
    expect(await resolveDns(root, 'alice.ton', 0, reads, {})).toEqual(next(root, 'ton.', collection));
    expect(await resolveDns(root, 'alice.ton', 1, reads, {})).toEqual(next(collection, 'alice.', item));
    expect(await resolveDns(root, 'alice.ton', 2, reads, {})).toEqual(found);
  });

  it('has nothing for a name that a resolver does not know', async () => {
    const reads = resolvers(passes('\0ton', collection), passes('\0alice', item));
    expect(await resolveDns(root, 'alice.com', 5, reads, {})).toEqual({
      resolver: root,
      name: 'alice.com.',
      entries: [],
    });
    expect(await resolveDns(item, '', 5, reads, {})).toEqual(found);
  });

  it('says which resolver failed', async () => {
    const reads = resolvers(passes('\0ton', wallet), 70);
    await expect(resolveDns(root, 'alice.ton', 5, reads, {})).rejects.toMatchObject({
      code: 'contract-data/method-failed',
      data: { address: wallet.toRaw(), exit_code: -13 },
    });
    await expect(resolveDns(collection, 'alice.ton', 5, reads, {})).rejects.toMatchObject({
      code: 'contract-data/method-failed',
      data: { exit_code: 70 },
    });
    await expect(resolveDns(root, 'a..b', 5, reads, {})).rejects.toMatchObject({ code: 'contract-data/domain-name' });
  });

  it('is not led round in circles, nor by nonsense', async () => {
    const answers = (value: VmStack) => resolveDns(root, 'alice.ton', 1e9, resolvers(value, holds), {});
    const back = vmCell(withAddress(0xba93, root));
    const nonsense = { code: 'contract-data/method-result' };
    // Only the leading zero byte is taken, and there is one again.
    const zero = resolvers(passes('\0', collection), passes('\0', root));
    const looping = new FakeContracts([{ address: collection, methods: { dnsresolve: passes('\0', collection) } }]);
    await expect(resolveDns(root, 'alice.ton', 1e9, zero, {})).rejects.toMatchObject(nonsense);
    await expect(resolveDns(collection, 'alice.ton', 1e9, looping, {})).rejects.toMatchObject(nonsense);
    await expect(answers([vmInt(12), back])).rejects.toMatchObject(nonsense);
    await expect(answers([vmInt(-8), back])).rejects.toMatchObject(nonsense);
    await expect(answers([vmInt(800), back])).rejects.toMatchObject(nonsense);
    await expect(answers([back])).rejects.toMatchObject(nonsense);
    await expect(answers([vmInt(8), vmTuple([])])).rejects.toMatchObject(nonsense);
    expect(await answers([vmInt(32), vmCell(EMPTY_CELL)])).toMatchObject({
      entries: [{ record: { kind: 'unknown' } }],
    });
  });
});
