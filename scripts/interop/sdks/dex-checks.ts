import { readFileSync } from 'node:fs';
import { vectorPath } from '#test/support/vector-files.js';
import type { CheckReport } from '../check-report.js';
import { expectSame } from '../same-answer.js';
import type { SdkStage } from './sdk-stage.js';

/** The vault of TON of DeDust on mainnet: its address follows from that of the factory. */
const NATIVE_VAULT = 'EQDa4VOnTYlLvDJ0gZjNYm5PXfSmmtL6Vs6A_CZEtXCNICq_';

/** @dedust/sdk and @ston-fi/sdk read contracts with the code of mainnet. */
export async function checkDexSdks(stage: SdkStage, report: CheckReport): Promise<void> {
  const { client, load, network } = stage;
  const { Address, beginCell, Cell } = load('@ton/core');
  const bocOf = (path: string) => readFileSync(vectorPath(`collection/contracts/${path}.boc`));
  const put = (address: { toRawString(): string }, code: Buffer, data: Buffer) =>
    network.control('account', {
      ...{ address: address.toRawString(), balance: '1000000000' },
      ...{ code: code.toString('base64'), data: data.toString('base64') },
    });

  await report.check('@dedust/sdk: the factory names vaults and pools', async () => {
    const { Asset, Factory, MAINNET_FACTORY_ADDR, PoolType } = load('@dedust/sdk');
    const path = 'dedust/v1/factory/testdata/DedustFactoryV1';
    await put(MAINNET_FACTORY_ADDR, bocOf(path), bocOf(`${path}.data`));
    const factory = client.open(Factory.createFromAddress(MAINNET_FACTORY_ADDR));
    const vault = await factory.getVaultAddress(Asset.native());
    expectSame(Address.parse(NATIVE_VAULT).toRawString(), vault.toRawString(), 'vault of TON');
    const jetton = Asset.jetton(new Address(0, Buffer.alloc(32, 0x11)));
    const pools = [
      [Asset.native(), jetton],
      [jetton, Asset.native()],
    ].map(async (assets) => (await factory.getPoolAddress({ poolType: PoolType.VOLATILE, assets })).toRawString());
    const [pool, same] = await Promise.all(pools);
    expectSame(pool as string, same as string, 'the pool of two assets, in any order');
    const stable = await factory.getPoolAddress({ poolType: PoolType.STABLE, assets: [Asset.native(), jetton] });
    expectSame(false, stable.toRawString() === pool, 'whether the stable pool is the same one');
    return vault.toString();
  });

  await report.check('@ston-fi/sdk: a router of version 1', async () => {
    const { DEX } = load('@ston-fi/sdk');
    const codes = [
      'lp_wallet/testdata/StonfiLpWalletV1',
      'pool/testdata/StonfiPoolV1',
      'lp_account/testdata/StonfiLpAccountV1',
    ];
    const [wallet, pool, account] = codes.map((path) => Cell.fromBoc(bocOf(`stonfi/v1/${path}`))[0]);
    const admin = new Address(0, Buffer.alloc(32, 0x12));
    const upgrade = beginCell().storeUint(0, 128).storeUint(0, 2).storeRef(Cell.EMPTY).endCell();
    const data = beginCell().storeBit(false).storeAddress(admin).storeRef(wallet).storeRef(pool).storeRef(account);
    const address = new Address(0, Buffer.alloc(32, 0x13));
    await put(address, bocOf('stonfi/v1/router/testdata/StonfiRouterV1'), data.storeRef(upgrade).endCell().toBoc());
    const router = client.open(DEX.v1.Router.create(address));
    const read = await router.getRouterData();
    const hashes = (cells: readonly { hash(): Buffer }[]) => cells.map((cell) => cell.hash().toString('hex'));
    expectSame(
      [false, admin.toRawString(), ...hashes([pool, wallet, account])],
      [
        read.isLocked,
        read.adminAddress.toRawString(),
        ...hashes([read.poolCode, read.jettonLpWalletCode, read.lpAccountCode]),
      ],
      'data of the router',
    );
    const [a, b] = [new Address(0, Buffer.alloc(32, 0x14)), new Address(0, Buffer.alloc(32, 0x15))];
    const [one, other] = await Promise.all([
      router.getPoolAddress({ token0: a, token1: b }),
      router.getPoolAddress({ token0: b, token1: a }),
    ]);
    expectSame(one.toRawString(), other.toRawString(), 'the pool of two jettons, in any order');
    return one.toString();
  });
}
