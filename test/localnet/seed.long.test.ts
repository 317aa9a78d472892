import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Address, beginCell, Dictionary, type TupleReader } from '@ton/core';
import { TonClient } from '@ton/ton';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkChain } from '#app/cli/localnet-check.js';
import { createNetwork, type TestNetwork } from '#app/testing/create-network.js';

const away = mkdtempSync(join(tmpdir(), 'tern-seeded-'));
let network: TestNetwork;
/** Answers have any form. */
type Answer = any;
let seeded: Answer;

beforeAll(async () => {
  network = await createNetwork({ index: true });
  seeded = await network.control('seed', {});
});
afterAll(async () => {
  await network?.stop();
  rmSync(away, { recursive: true });
});

const item = (kind: string): Answer => seeded.items.find((one: Answer) => one.kind === kind);

async function v3(path: string): Promise<Answer> {
  return (await fetch(`${network.url}/api/v3/${path}`)).json();
}

describe('a seeded network', () => {
  it('has what was made, and a second call changes nothing', async () => {
    expect(seeded.items.map(({ kind, created }: Answer) => [kind, created])).toEqual(
      ['dns_root', 'dns_collection', 'dns_domain', 'library', 'multisig', 'multisig_order', 'extra_currency'].map(
        (kind) => [kind, true],
      ),
    );
    const again = (await network.control('seed', {})) as Answer;
    expect(again.items).toEqual(seeded.items.map((one: Answer) => ({ ...one, created: false })));
  });

  it('resolves its domain from the configuration on, by get-methods of API v2', async () => {
    const client = new TonClient({ endpoint: network.endpoint });
    const { result } = (await (await fetch(`${network.url}/api/v2/getConfigParam?config_id=4`)).json()) as Answer;
    expect(Buffer.from(result.config.bytes, 'base64').toString('hex')).toContain(
      Address.parse(item('dns_root').address).hash.toString('hex'),
    );
    let resolver = Address.parse(item('dns_root').address);
    let name = Buffer.from('ton\0example\0');
    let record: TupleReader;
    for (;;) {
      const subdomain = beginCell().storeBuffer(name).endCell();
      const call = [
        { type: 'slice', cell: subdomain },
        { type: 'int', value: 0n },
      ] as const;
      record = (await client.runMethod(resolver, 'dnsresolve', [...call])).stack;
      const taken = record.readNumber() / 8;
      if (taken === name.length) break;
      name = name.subarray(taken);
      const next = record.readCell().beginParse();
      expect(next.loadUint(16)).toBe(0xba93);
      resolver = next.loadAddress();
    }
    expect(resolver.equals(Address.parse(item('dns_domain').address))).toBe(true);
    const records = record.readCell().beginParse();
    const values = Dictionary.loadDirect(Dictionary.Keys.BigUint(256), Dictionary.Values.Cell(), records);
    const [wallet] = values.values();
    const slice = wallet!.beginParse();
    expect(slice.loadUint(16)).toBe(0x9fd3);
    expect(slice.loadAddress().toRawString().toUpperCase()).toBe(item('extra_currency').address);
  });

  it('shows domain, multisig and extra currency in API v3', async () => {
    const owner = item('extra_currency').address;
    await expect
      .poll(async () => (await v3('dns/records?domain=example.ton')).records)
      .toEqual([
        expect.objectContaining({
          nft_item_address: item('dns_domain').address,
          nft_item_owner: owner,
          dns_wallet: owner,
        }),
      ]);
    const wallets = () => v3(`multisig/wallets?address=${item('multisig').address}&include_orders=true`);
    await expect.poll(async () => (await wallets()).multisigs?.[0]?.orders?.length).toBe(1);
    const [multisig] = (await wallets()).multisigs;
    expect(multisig).toMatchObject({ threshold: 2, next_order_seqno: '1' });
    expect(multisig.orders[0]).toMatchObject({ address: item('multisig_order').address, approvals_num: 0 });
    const [account] = (await v3(`accountStates?address=${owner}`)).accounts;
    expect(account.extra_currencies).toEqual({ 239: '1000000000' });
  });

  it('shows library and extra currency in API v2', async () => {
    const { hash } = item('library');
    const libraries = (await (await fetch(`${network.url}/api/v2/getLibraries?libraries=${hash}`)).json()) as Answer;
    expect(libraries.result.result).toHaveLength(1);
    const owner = item('extra_currency').address;
    const account = (await (
      await fetch(`${network.url}/api/v2/getAddressInformation?address=${owner}`)
    ).json()) as Answer;
    expect(account.result.extra_currencies).toEqual([{ '@type': 'extraCurrency', id: 239, amount: '1000000000' }]);
  });

  it('is a chain by the rules of validators, apart from the auction that was ended and the parameter', async () => {
    const { folder } = (await network.control('export', { folder: join(away, 'chain') })) as Answer;
    const { changed_by_hand } = checkChain(folder);
    expect(changed_by_hand.map(({ kind }) => kind)).toEqual(['account-set', 'account-set']);
  });
});
