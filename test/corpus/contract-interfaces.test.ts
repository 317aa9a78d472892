import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codeMethods, interfaceNamesOf } from '#domain/contracts/code-methods.js';
import { libraryHashOf } from '#domain/contracts/native-code.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { fromBase64, fromHex, toHex } from '#kernel/bytes.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Contracts of mainnet, with the kinds that another project knows them to be of, by its own names. */
interface KnownContract {
  readonly name: string;
  readonly code: string;
  readonly want_interfaces: readonly string[];
}

const accounts = vectorPath('collection/accounts');

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(`${accounts}/${name}.json`, 'utf8')) as T;
}

/** What the kinds of that project are called here. */
const NAMES: Readonly<Record<string, string>> = {
  BidaskPool: 'bidask_pool',
  CoffeePool: 'coffee_pool',
  JettonMaster: 'jetton_master',
  MegatonfiExchange: 'megatonfi_exchange',
  MegatonfiRouter: 'megatonfi_router',
  MoonBooster: 'moon_booster',
  MoonOrder: 'moon_order',
  MoonOrderFactory: 'moon_order_factory',
  MoonPool: 'moon_pool',
  NftCollection: 'nft_collection',
  NftItem: 'nft_item',
  NftSaleGetgemsV4: 'nft_sale_getgems_v4',
  PythOracle: 'pyth_price_oracle',
  StonfiPool: 'stonfi_pool',
  StormVamm: 'storm_vamm',
  StormVammCoinm: 'storm_vamm',
  StormVault: 'storm_vault',
  StormVaultNative: 'storm_vault',
  SubscriptionV2: 'subscription_v2',
  ToncoPool: 'tonco_pool',
  ToncoRouter: 'tonco_router',
  TonstakePool: 'tonstake_pool',
  TvPool: 'tv_pool',
  WalletV4R2: 'wallet_v4r2',
  WalletV5R1: 'wallet_v5r1',
  WalletVesting: 'wallet_vesting',
};

/** Kinds of that project for which there is no name in API v3. */
const UNNAMED =
  /^(Affluent\w+|BidaskDammPool|Cocoon\w+|DedustV2Cpmm|Evaa\w+|Mytonwallet2Fa|SingleNominatorPool|SmartAccount\w*|StonfiEscrow\w+|Verifier\w+|XtrMaster)$/;

/** What is told besides: contracts have get methods by which kinds are known that they are not of. */
const BESIDES: Readonly<Record<string, readonly string[]>> = {
  // `get_pool_data` is enough
  daolama_vault: ['StonfiPool', 'TvPool', 'CoffeePool', 'AffluentPool', 'DedustV2Cpmm', 'SingleNominatorPool'],
  // `get_vault_data`
  stonfi_vault_v2: [
    ...['AffluentLendingVault', 'AffluentMultiplyVault', 'AffluentMultiplyVaultV2', 'StormVault', 'StormVaultNative'],
  ],
  // `get_cron_info`
  cron: ['SubscriptionV2', 'StonfiEscrowPosition'],
  storm_executor_collection: ['StormVamm', 'StormVammCoinm'],
  // that project does not say so of these
  jetton_master: ['StonfiPool', 'XtrMaster'],
};
/** Names of get methods of nearly all wallets. */
const WALLETS = /^wallet_/;

describe('contracts of mainnet', () => {
  it('have the interfaces that are known of them', () => {
    const libraries = new Map(
      readJson<string[]>('inspect_libraries').map((text) => {
        const cell = parseBocRoot(fromBase64(text)!);
        return [toHex(cell.hash()), cell];
      }),
    );
    const counts = { same: 0, unnamed: 0, besides: 0, withoutLibrary: 0, ofLibraries: 0, codeAlone: 0 };
    for (const { name, code: bag, want_interfaces: wanted } of readJson<KnownContract[]>('inspect_contracts')) {
      const code = parseBocRoot(fromHex(bag)!);
      const reference = libraryHashOf(code);
      const library = reference === null ? null : libraries.get(toHex(reference));
      const methods = codeMethods(library ?? code);
      const reported = interfaceNamesOf(toHex(code.hash()), methods);
      if (reference !== null && library === undefined) {
        // Six of them refer to libraries that are not in the collection.
        expect([methods, reported], name).toEqual([null, []]);
        counts.withoutLibrary++;
        continue;
      }
      expect(methods?.length, name).toBeGreaterThan(1);
      if (reference !== null) counts.ofLibraries++;
      const named = wanted.filter((kind) => !UNNAMED.test(kind)).map((kind) => NAMES[kind] ?? kind);
      if (named.length < wanted.length) counts.unnamed++;
      const besides = reported.filter((kind) => !named.includes(kind));
      for (const kind of besides) {
        const isMeant = WALLETS.test(kind)
          ? wanted.includes('CocoonWallet')
          : BESIDES[kind]?.some((one) => wanted.includes(one));
        expect(isMeant, `${name}: ${kind}`).toBe(true);
      }
      if (besides.length > 0) counts.besides++;
      const missing = named.filter((kind) => !reported.includes(kind));
      if (missing.length > 0) {
        // The code stands for one kind, which is told alone.
        expect([reported, missing], name).toEqual([['moon_pool'], ['jetton_master']]);
        counts.codeAlone++;
      } else if (besides.length === 0 && named.length === wanted.length) counts.same++;
    }
    expect(counts).toEqual({ same: 15, unnamed: 33, besides: 19, withoutLibrary: 6, ofLibraries: 1, codeAlone: 1 });
  });
});
