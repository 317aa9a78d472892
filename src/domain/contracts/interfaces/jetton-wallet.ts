import { contractInterface } from '#domain/contracts/contract-interface.js';
import { nullOnContractError, verifyClaim } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { getMethod, MethodResult } from '#domain/contracts/get-method.js';
import {
  type GovernedJettonLayout,
  getWalletAddress,
  governedLayout,
  loadGovernedWallet,
  loadPlainWallet,
  loadStakedWallet,
  mintlessLayout,
  shardedLayout,
} from '#domain/contracts/interfaces/jetton-master.js';
import { lacksMethod, type NativeCode, nativeGetMethod } from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/** Results of `get_wallet_data` (TEP-74). */
interface JettonWalletFields {
  readonly balance: bigint;
  readonly owner: Address;
  /** The jetton master. */
  readonly jetton: Address;
  readonly jetton_wallet_code: Cell;
}

/** A jetton wallet. */
interface JettonWallet extends JettonWalletFields {
  /** Of mintless jettons: the airdrop was claimed. Null: the contract has no `is_claimed`. */
  readonly mintless_is_claimed: boolean | null;
}

/** `(int balance, slice owner, slice jetton, cell jetton_wallet_code) get_wallet_data()` */
export const getWalletData = getMethod('get_wallet_data', (stack): JettonWalletFields => {
  const result = new MethodResult('get_wallet_data', stack, 4);
  return {
    balance: result.int(),
    owner: result.account(),
    jetton: result.account(),
    jetton_wallet_code: result.cell(),
  };
});

/** `int is_claimed()` of mintless jettons (TEP-177): just one number. */
export const isClaimed = getMethod('is_claimed', (stack): boolean => {
  if (stack.length === 1) return new MethodResult('is_claimed', stack, 1).int() !== 0n;
  const problem = `has ${stack.length} values; it should have 1`;
  throw contractDataErrors['method-result']({ method: 'is_claimed', problem });
});

const plainWallet: NativeCode = {
  hashes: [
    '4adf48135cb575adbaed476799c87ff2904269b1f949ada4d0479e9104b6f217',
    'beb0683ebeb8927fe9fc8ec0a18bc7dd17899689825a121eab46c5a3a860d0ce',
    // LP tokens: STON.fi, DeDust, swap.coffee (the older ones, too), Storm
    '0857cdd89c74844150cacd35cd020bef9167cbe12cd330dfb8c779c14d6b1552',
    'a760d629d5343e76d045017d9dc216fc8a307a8377815feb2b0a5c490e733486',
    'e5ce6005c0b710d9b2cae507dcaf195df8ace3d6869c7d90b17a7bf5a1bbf858',
    'd7c38fa994a8282657209f93ebc5dfe908a5f06d2e41f0c085e917bc4f54a2b3',
    '02ae100484cfd15161d16dd4fec955b6b550678567ceea62b1db84eee35d0ccd',
    // wTON of Megaton
    'c12275085ec7dd21925c33a919680186022c6f2a4ced45dbce3d3e14d438dc0f',
  ],
  getMethods: [
    nativeGetMethod(getWalletData, ({ data }) => {
      const { wallet_code, ...rest } = loadPlainWallet(data);
      return { ...rest, jetton_wallet_code: wallet_code };
    }),
  ],
  missingMethods: [isClaimed.name],
};

/** Wallets of governed jettons return the code of the account as wallet code. */
function governedWallet(form: GovernedJettonLayout, hashes: readonly string[]): NativeCode {
  const data = nativeGetMethod(getWalletData, ({ code, data }) => {
    const { balance, owner, jetton } = loadGovernedWallet(form, data);
    return { balance, owner, jetton, jetton_wallet_code: code };
  });
  if (!form.withMerkleRoot) return { hashes, getMethods: [data], missingMethods: [isClaimed.name] };
  const claimed = nativeGetMethod(isClaimed, (account) => (loadGovernedWallet(form, account.data).status & 1) === 1);
  return { hashes, getMethods: [data, claimed] };
}

/** Staked TON (Tonstakers, Stakee). */
const stakedWallet: NativeCode = {
  hashes: ['12bebb0dc8e202b7e26f721e2547e16bb9ebaec934f657d19f22e76d62bec878'],
  getMethods: [
    nativeGetMethod(getWalletData, ({ data }) => {
      const { wallet_code, ...rest } = loadStakedWallet(data);
      return { ...rest, jetton_wallet_code: wallet_code };
    }),
  ],
  missingMethods: [isClaimed.name],
};

/** Notcoin and jettons with its code, stablecoins, ton.fun. */
const governedWallets = governedWallet(governedLayout, [
  'ba2918c8947e9b25af9ac1b883357754173e5812f807a3d6e642a14709595395',
  '8f452d7a4dfd74066b682365177259ed05734435be76b5fd4bd5d8af2b7c3d68',
  '9db2219b2f2aaf9a29122a1163fa342c74dda4c87927a9b23efb789c288db857',
  '226830546dc9ab1687dc72bc8a5edcc60210391a7c60698c4fe226618d778d68',
]);
/** Versions 2.0 and 2.1. */
const version2 = governedWallet(shardedLayout, [
  '346250c205f56acfb6afa6fe7b76550805d256c6d8e47dd4f94ff672b47d19d3',
  '7bfa53bce90ce26cd368ec2989eba2bd15d286104742f0e04659f485a03012ba',
]);
const mintlessWallet = governedWallet(mintlessLayout, [
  '0f1ad3d8a46bd283321dde639195fb72602e9b31b1727fecc25e2edc10966df4',
]);

const codes = [plainWallet, stakedWallet, governedWallets, version2, mintlessWallet];

/** A jetton wallet (TEP-74). The master confirms that it is the wallet of the owner. */
export const jettonWallet = contractInterface({
  name: 'jetton_wallet',
  methods: [[getWalletData.name]],
  codes,
  async read(view, contract): Promise<JettonWallet> {
    const fields = await view.runGetMethod(contract, getWalletData);
    const { owner, jetton } = fields;
    const { address } = contract;
    await verifyClaim({ kind: 'jetton_wallet', address: address.toRaw(), by: jetton.toRaw() }, async () =>
      (await view.runGetMethod(await view.contract(jetton), getWalletAddress, owner)).equals(address),
    );
    const code = contract.account?.code;
    const mintless_is_claimed =
      code !== undefined && lacksMethod(codes, code, isClaimed.name)
        ? null
        : await nullOnContractError(() => view.runGetMethod(contract, isClaimed));
    return { ...fields, mintless_is_claimed };
  },
  table: {
    name: 'jetton_wallets',
    columns: { balance: 'numeric', owner: 'address', jetton: 'address', mintless_is_claimed: 'boolean?' },
  },
  row: ({ balance, owner, jetton, mintless_is_claimed }) => ({ balance, owner, jetton, mintless_is_claimed }),
});
