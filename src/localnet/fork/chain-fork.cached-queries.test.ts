import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { CachedForkQueries } from '#localnet/fork/chain-fork.js';
import { forkErrors } from '#localnet/fork/errors.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';

const cell = new Builder().storeUint(5, 32).endCell();
const HERE = { workchain: 0, hash: new Uint8Array(32).fill(1) };
const NOT_HERE = { workchain: 0, hash: new Uint8Array(32).fill(2) };

/** Has one account, and one library under the same bytes; says what it was asked. */
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

describe('answers of a forked network', () => {
  it('are bags of cells, or that there is nothing', async () => {
    const answers = new CachedForkQueries(new OneAccount());
    expect(parseBocRoot((await answers.account(HERE))!).hash()).toEqual(cell.hash());
    expect(parseBocRoot((await answers.library(HERE.hash))!).hash()).toEqual(cell.hash());
    expect(await answers.account(NOT_HERE)).toBeNull();
    expect(await answers.library(NOT_HERE.hash)).toBeNull();
  });

  it('are read once for all who ask at the same time', async () => {
    const source = new OneAccount();
    const answers = new CachedForkQueries(source);
    const found = await Promise.all([answers.account(HERE), answers.account(HERE), answers.library(HERE.hash)]);
    expect(found.map((boc) => boc?.length)).toEqual([found[0]!.length, found[0]!.length, found[0]!.length]);
    expect(source.asked).toEqual([Address.ofParts(0, HERE.hash).toRaw(), 'library']);
  });

  it('are remembered when there is nothing', async () => {
    const source = new OneAccount();
    const answers = new CachedForkQueries(source);
    for (let i = 0; i < 3; i++) expect(await answers.account(NOT_HERE)).toBeNull();
    for (let i = 0; i < 3; i++) expect(await answers.library(NOT_HERE.hash)).toBeNull();
    expect(source.asked).toHaveLength(2);
  });

  it('are asked for again after a failure', async () => {
    const source = new OneAccount();
    const answers = new CachedForkQueries(source);
    source.isUp = false;
    await expect(answers.account(NOT_HERE)).rejects.toMatchObject({ code: 'fork/unreachable' });
    source.isUp = true;
    expect(await answers.account(NOT_HERE)).toBeNull();
  });
});
