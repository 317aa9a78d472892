import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { CachedForkSource } from '#localnet/fork/chain-fork.js';
import { forkErrors } from '#localnet/fork/errors.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';

const cell = new Builder().storeUint(5, 32).endCell();
const HERE = Address.ofParts(0, new Uint8Array(32).fill(1));
const NOT_HERE = Address.ofParts(0, new Uint8Array(32).fill(2));

/** Has one account, and one library under the same bytes; records what it is asked. */
class OneAccount implements ForkSource {
  readonly asked: string[] = [];
  isUp = true;

  async account(address: Address): Promise<Cell | null> {
    return this.#answer(address.toRaw(), address.hash);
  }

  async library(hash: Uint8Array): Promise<Cell | null> {
    return this.#answer('library', hash);
  }

  async transactions(): Promise<Uint8Array> {
    return Uint8Array.of(1);
  }

  async #answer(name: string, bytes: Uint8Array): Promise<Cell | null> {
    this.asked.push(name);
    await Promise.resolve();
    if (!this.isUp) throw forkErrors.unreachable({ what: name, source: 'there', problem: 'it is down' });
    return bytes[0] === 1 ? cell : null;
  }
}

describe('cached reads of a forked network', () => {
  it('are cells, or null', async () => {
    const cached = new CachedForkSource(new OneAccount());
    expect((await cached.account(HERE))!.hash()).toEqual(cell.hash());
    expect((await cached.library(HERE.hash))!.hash()).toEqual(cell.hash());
    expect(await cached.account(NOT_HERE)).toBeNull();
    expect(await cached.library(NOT_HERE.hash)).toBeNull();
  });

  it('are coalesced', async () => {
    const source = new OneAccount();
    const cached = new CachedForkSource(source);
    const found = await Promise.all([cached.account(HERE), cached.account(HERE), cached.library(HERE.hash)]);
    expect(found).toEqual([cell, cell, cell]);
    expect(source.asked).toEqual([HERE.toRaw(), 'library']);
  });

  it('are not repeated when there is nothing', async () => {
    const source = new OneAccount();
    const cached = new CachedForkSource(source);
    for (let i = 0; i < 3; i++) expect(await cached.account(NOT_HERE)).toBeNull();
    for (let i = 0; i < 3; i++) expect(await cached.library(NOT_HERE.hash)).toBeNull();
    expect(source.asked).toHaveLength(2);
  });

  it('are repeated after a failure', async () => {
    const source = new OneAccount();
    const cached = new CachedForkSource(source);
    source.isUp = false;
    await expect(cached.account(NOT_HERE)).rejects.toMatchObject({ code: 'fork/unreachable' });
    source.isUp = true;
    expect(await cached.account(NOT_HERE)).toBeNull();
  });
});
