import { dnsAnswerOf } from '#domain/contracts/dns-answer.js';
import { readDnsEntries } from '#domain/contracts/dns-records.js';
import { dotTonName, fullNameOf, isDotTonCollection, labelOf, ownName } from '#domain/contracts/domain-item.js';
import { isClaimedOf, jettonMasterOf, jettonWalletOf, walletAddressOf } from '#domain/contracts/jetton.js';
import { itemAddressOf, itemContentOf, type NftItemFields, nftCollectionOf, nftItemOf } from '#domain/contracts/nft.js';
import { readTokenContent, type TokenContent } from '#domain/contracts/token-content.js';
import type {
  DomainContent,
  JettonMasterData,
  JettonWalletData,
  NftCollectionData,
  NftItemData,
  TokenData,
} from '#domain/contracts/token-data.js';
import { NO_TOKEN_CODES } from '#domain/contracts/wallet-codes.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { printPosition } from '#formats/proofs/block-id.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { vmCell, vmInt, vmSlice } from '#formats/tlb/vm-value.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { ReadAt } from '#services/chain/read-options.js';
import type { TokenRead } from '#services/contracts/contracts.js';
import { contractsErrors } from '#services/contracts/errors.js';
import {
  type AskedContract,
  ContractsAt,
  ifItIs,
  nativeAccountOf,
  type TokenReads,
} from '#services/contracts/token-reads.js';

type ReadKind = (contracts: ContractsAt, contract: AskedContract) => Promise<TokenData | null>;

/** In the order in which they are tried: the first that holds is what the contract is. */
const KINDS: Readonly<Record<TokenData['contract_type'], ReadKind>> = {
  jetton_master: readJettonMaster,
  jetton_wallet: readJettonWallet,
  nft_collection: readNftCollection,
  nft_item: readNftItem,
};

/**
 * What a token contract tells of itself. A jetton wallet counts when its master says that it is the wallet of its owner,
 * an NFT with a collection when that says that it is the item of its index. All of it is read at one masterchain block.
 *
 * @throws contracts/no-workchain; what the reads throw
 */
export async function readTokenData(address: Address, reads: TokenReads, options: ReadAt): Promise<TokenRead> {
  const first = await reads.account(address, options);
  const { block } = first;
  if (first.shard_utime === null) {
    throw contractsErrors['no-workchain']({ workchain: address.workchain, block: printPosition(block) });
  }
  const account = nativeAccountOf(address, first);
  if (account === null || NO_TOKEN_CODES.has(toHex(account.code.hash()))) return { block, token: null };
  const contracts = new ContractsAt(reads, { ...options, at: block });
  const contract = await contracts.known(address, account);
  const kinds = contract.native === null ? Object.values(KINDS) : [KINDS[contract.native.contract.kind]];
  for (const readKind of kinds) {
    const token = await ifItIs(() => readKind(contracts, contract));
    if (token !== null) return { block, token };
  }
  return { block, token: null };
}

async function readJettonMaster(contracts: ContractsAt, master: AskedContract): Promise<JettonMasterData> {
  const { jetton_content, ...fields } = await contracts.ask(
    master,
    (contract, account) => (contract.kind === 'jetton_master' ? contract.data(account) : null),
    'get_jetton_data',
    [],
    jettonMasterOf,
  );
  return {
    contract_type: 'jetton_master',
    address: master.address,
    ...fields,
    jetton_content: readTokenContent(jetton_content),
  };
}

async function readJettonWallet(contracts: ContractsAt, wallet: AskedContract): Promise<JettonWalletData | null> {
  const { address } = wallet;
  const fields = await contracts.ask(
    wallet,
    (contract, account) => (contract.kind === 'jetton_wallet' ? contract.data(account) : null),
    'get_wallet_data',
    [],
    jettonWalletOf,
  );
  const { owner, jetton } = fields;
  const stated = await contracts.ask(
    await contracts.contract(jetton),
    (contract, account) => (contract.kind === 'jetton_master' ? contract.walletAddress(account, owner) : null),
    'get_wallet_address',
    [vmSlice(encodeCell(MsgAddress, owner))],
    walletAddressOf,
  );
  if (!stated.equals(address)) return null;
  const mintless_is_claimed = await readIsClaimed(contracts, wallet);
  return { contract_type: 'jetton_wallet', address, ...fields, mintless_is_claimed };
}

/** Boxed where it was read natively, since null says something there. */
async function readIsClaimed(contracts: ContractsAt, wallet: AskedContract): Promise<boolean | null> {
  const read = await ifItIs(() =>
    contracts.ask<{ claimed: boolean | null }>(
      wallet,
      (contract, account) => (contract.kind === 'jetton_wallet' ? { claimed: contract.isClaimed(account) } : null),
      'is_claimed',
      [],
      (stack) => ({ claimed: isClaimedOf(stack) }),
    ),
  );
  return read === null ? null : read.claimed;
}

async function readNftCollection(contracts: ContractsAt, collection: AskedContract): Promise<NftCollectionData> {
  const { collection_content, ...fields } = await contracts.ask(
    collection,
    (contract, account) => (contract.kind === 'nft_collection' ? contract.data(account) : null),
    'get_collection_data',
    [],
    nftCollectionOf,
  );
  return {
    contract_type: 'nft_collection',
    address: collection.address,
    ...fields,
    collection_content: readTokenContent(collection_content),
  };
}

async function readNftItem(contracts: ContractsAt, item: AskedContract): Promise<NftItemData | null> {
  const { address } = item;
  const fields = await contracts.ask(
    item,
    (contract, account) => (contract.kind === 'nft_item' ? contract.data(account) : null),
    'get_nft_data',
    [],
    nftItemOf,
  );
  const { init, index, collection_address, owner_address } = fields;
  const collection = collection_address === null ? null : await contracts.contract(collection_address);
  if (collection !== null) {
    const stated = await contracts.ask(
      collection,
      (contract, account) => (contract.kind === 'nft_collection' ? contract.itemAddress(account, index) : null),
      'get_nft_address_by_index',
      [vmInt(index)],
      itemAddressOf,
    );
    if (!stated.equals(address)) return null;
  }
  const content =
    (await readDomain(contracts, item, collection_address)) ?? (await readItemContent(contracts, collection, fields));
  return { contract_type: 'nft_item', address, init, index, collection_address, owner_address, content };
}

/** The content of an item, put together by its collection. An item that is not set up has none. */
async function readItemContent(
  contracts: ContractsAt,
  collection: AskedContract | null,
  { index, individual_content: individual }: NftItemFields,
): Promise<TokenContent> {
  if (individual === null) return { type: 'onchain', data: {} };
  const whole: Cell =
    collection === null
      ? individual
      : await contracts.ask(
          collection,
          (contract, account) =>
            contract.kind === 'nft_collection' ? contract.itemContent(account, index, individual) : null,
          'get_nft_content',
          [vmInt(index), vmCell(individual)],
          itemContentOf,
        );
  return readTokenContent(whole);
}

/** The name of the resolver itself. */
const SELF = new Uint8Array(1);

/**
 * The content of an item that is a domain: all items of the `.ton` collections, and others that have records. Null: it is
 * none. Only names in the `.ton` collections end in `.ton`: others could claim any; they have the name that they give
 * themselves, or the label alone.
 */
async function readDomain(
  contracts: ContractsAt,
  item: AskedContract,
  collection: Address | null,
): Promise<DomainContent | null> {
  const { address, native } = item;
  if (native?.contract.kind === 'nft_item' && native.contract.domain === null) return null;
  const answer = await ifItIs(() =>
    contracts.ask(
      item,
      (contract, account) => (contract.kind === 'nft_item' ? (contract.domain?.records(account) ?? null) : null),
      'dnsresolve',
      [vmSlice(new Builder().storeBytes(SELF).endCell()), vmInt(0)],
      (stack) => dnsAnswerOf(stack, SELF.length),
    ),
  );
  const dotTon = isDotTonCollection(collection);
  if (answer === null || (answer.value === null && !dotTon)) return null;
  const entries = readDnsEntries(answer.value);
  const domain = await readDomainName(contracts, item, dotTon);
  return { type: 'domain', domain: domain ?? '', records: { resolver: address, name: '.', entries } };
}

async function readDomainName(contracts: ContractsAt, item: AskedContract, dotTon: boolean): Promise<string | null> {
  const full = dotTon
    ? null
    : await ifItIs(() =>
        contracts.ask(
          item,
          (contract, account) => (contract.kind === 'nft_item' ? (contract.domain?.fullName(account) ?? null) : null),
          'get_full_domain',
          [],
          fullNameOf,
        ),
      );
  if (full !== null) return ownName(full);
  const label = await ifItIs(() =>
    contracts.ask(
      item,
      (contract, account) => (contract.kind === 'nft_item' ? (contract.domain?.label(account) ?? null) : null),
      'get_domain',
      [],
      labelOf,
    ),
  );
  if (label === null) return null;
  return dotTon ? dotTonName(label) : ownName(label);
}
