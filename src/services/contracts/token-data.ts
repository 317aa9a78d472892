import { ifAnswered } from '#domain/contracts/answered.js';
import type { AskedContract, ContractView } from '#domain/contracts/contract-view.js';
import { readDomainContent } from '#domain/contracts/domain-content.js';
import { libraryHashOf } from '#domain/contracts/kinds/contract-kinds.js';
import { jettonMaster } from '#domain/contracts/kinds/jetton-master.js';
import { jettonWallet } from '#domain/contracts/kinds/jetton-wallet.js';
import { nftCollection } from '#domain/contracts/kinds/nft-collection.js';
import { nftItem, readNftContent, readNftFields } from '#domain/contracts/kinds/nft-item.js';
import type { NativeCode } from '#domain/contracts/native-code.js';
import type { NftItemData, TokenData } from '#domain/contracts/token-data.js';
import { NO_TOKEN_CODES } from '#domain/contracts/wallet-codes.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { printPosition } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { ReadAt } from '#services/chain/read-options.js';
import type { TokenRead } from '#services/contracts/contracts.js';
import { contractsErrors } from '#services/contracts/errors.js';
import { ContractsAt, nativeAccountOf, type TokenReads } from '#services/contracts/token-reads.js';

interface TokenKind {
  readonly codes: readonly NativeCode[];
  readonly read: (view: ContractView, contract: AskedContract) => Promise<TokenData>;
}

/** In the order in which they are tried: the first that holds is what the contract is. */
const KINDS: readonly TokenKind[] = [
  {
    codes: jettonMaster.codes,
    read: async (view, contract) => {
      const { address } = contract;
      return { contract_type: 'jetton_master', address, ...(await jettonMaster.read(view, contract)) };
    },
  },
  {
    codes: jettonWallet.codes,
    read: async (view, contract) => {
      const { address } = contract;
      return { contract_type: 'jetton_wallet', address, ...(await jettonWallet.read(view, contract)) };
    },
  },
  {
    codes: nftCollection.codes,
    read: async (view, contract) => {
      const { address } = contract;
      return { contract_type: 'nft_collection', address, ...(await nftCollection.read(view, contract)) };
    },
  },
  { codes: nftItem.codes, read: readNftItem },
];

/** An item that is a domain has its records as content. */
async function readNftItem(view: ContractView, item: AskedContract): Promise<NftItemData> {
  const { address } = item;
  const fields = await readNftFields(view, item);
  const { init, index, collection_address, owner_address } = fields;
  const content = (await readDomainContent(view, item, collection_address)) ?? (await readNftContent(view, fields));
  return { contract_type: 'nft_item', address, init, index, collection_address, owner_address, content };
}

/** The kinds that a code can be of. */
function kindsOf(code: Cell): readonly TokenKind[] {
  const hash = toHex(libraryHashOf(code) ?? code.hash());
  const known = KINDS.filter(({ codes }) => codes.some(({ hashes }) => hashes.includes(hash)));
  return known.length > 0 ? known : KINDS;
}

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
  const view = new ContractsAt(reads, { ...options, at: block });
  const contract = { address, account };
  for (const { read } of kindsOf(account.code)) {
    const token = await ifAnswered(() => read(view, contract));
    if (token !== null) return { block, token };
  }
  return { block, token: null };
}
