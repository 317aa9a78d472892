/** Names of contract interfaces as people call them. */
const NAMES: Readonly<Record<string, string>> = {
  jetton_master: 'jetton',
  jetton_wallet: 'jetton wallet',
  nft_collection: 'NFT collection',
  nft_item: 'NFT',
  nft_sale: 'NFT sale',
  nft_auction: 'NFT auction',
  multisig_v2: 'multisig',
  multisig_order_v2: 'multisig order',
};

/** The label of an interface of the address book: `wallet_v4r2` is `wallet v4r2`. */
export function interfaceLabel(name: string): string {
  return NAMES[name] ?? name.replaceAll('_', ' ');
}
