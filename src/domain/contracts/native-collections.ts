import {
  loadPlainAddress,
  type NativeContract,
  type NativeNftCollection,
  stateInitHash,
  storeAddress,
} from '#domain/contracts/native-contract.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';

/** Where the items of all these collections live. */
const BASECHAIN = 0;

/** Bits of an index: items of numbered collections, and those whose index is a hash. */
type IndexBits = 64 | 256;

/** `index collection_address:MsgAddress`, as an item begins. */
function emptyItem(index: bigint, bits: IndexBits, collection: Address): Builder {
  return storeAddress(new Builder().storeUint(index, bits), collection);
}

/**
 * `owner:MsgAddress next_item_index:uint64 content:^[collection_content:^Cell common_content:^Cell] item_code:^Cell
 * royalty_params:^Cell`, and what `tail` reads.
 */
function numberedCollection(tail: (data: Slice) => void): NativeNftCollection {
  const load = (data: Cell) => {
    const slice = openCell(data);
    const owner_address = loadPlainAddress(slice);
    const next_item_index = slice.loadUintBig(64);
    const content = openCell(slice.loadRef());
    const collection_content = content.loadRef();
    const common_content = content.loadRef();
    const item_code = slice.loadRef();
    slice.loadRef();
    tail(slice);
    slice.end();
    return { owner_address, next_item_index, collection_content, common_content, item_code };
  };
  return {
    kind: 'nft_collection',
    data: ({ data }) => {
      const { owner_address, next_item_index, collection_content } = load(data);
      return { next_item_index, collection_content, owner_address };
    },
    itemAddress: ({ address, data }, index) => {
      const { item_code } = load(data);
      return Address.ofParts(BASECHAIN, stateInitHash(item_code, emptyItem(index, 64, address).endCell()));
    },
    itemContent: ({ data }, _index, individual) => {
      const { common_content } = load(data);
      return new Builder().storeUint(1, 8).storeSlice(openCell(common_content)).storeRef(individual).endCell();
    },
  };
}

const plainCollection = numberedCollection(() => {});
/** `editor:MsgAddress` */
const editedCollection = numberedCollection(loadPlainAddress);

/** Collections whose items bring their whole content. */
function collectionOfWhole(load: (data: Cell) => WholeCollection): NativeNftCollection {
  return {
    kind: 'nft_collection',
    data: ({ data }) => {
      const { collection_content } = load(data);
      return { next_item_index: -1n, collection_content, owner_address: null };
    },
    itemAddress: ({ address, data }, index) => {
      const { item_code, itemData } = load(data);
      return Address.ofParts(BASECHAIN, stateInitHash(item_code, itemData(index, address)));
    },
    itemContent: (_account, _index, individual) => individual,
  };
}

interface WholeCollection {
  readonly collection_content: Cell;
  readonly item_code: Cell;
  readonly itemData: (index: bigint, collection: Address) => Cell;
}

/** `content:^Cell item_code:^Cell`: the collection of `.ton` domains. */
const dnsCollection = collectionOfWhole((data) => {
  const slice = openCell(data);
  const collection_content = slice.loadRef();
  const item_code = slice.loadRef();
  slice.end();
  return {
    collection_content,
    item_code,
    itemData: (index, address) => emptyItem(index, 256, address).endCell(),
  };
});

/**
 * Collections of names and numbers of Telegram: `touched:Bool subwallet_id:uint32 owner_key:uint256 content:^Cell
 * item_code:^Cell full_domain:^Cell royalty_params:^Cell`
 */
const telemintCollection = collectionOfWhole((data) => {
  const slice = openCell(data).skip(1 + 32 + 256);
  const collection_content = slice.loadRef();
  const item_code = slice.loadRef();
  slice.loadRef();
  slice.loadRef();
  slice.end();
  return {
    collection_content,
    item_code,
    itemData: (index, address) =>
      new Builder()
        .storeBit(false)
        .storeRef(emptyItem(index, 256, address).endCell())
        .endCell(),
  };
});

/** Collections of NFTs by the hash of their code, in lower-case hexadecimal. */
export const NATIVE_COLLECTIONS: readonly (readonly [hash: string, contract: NativeContract])[] = [
  ['8e5aab17e2e503bec75c2f453b9dacf11a98bbb2cc202994710952a7271c7780', plainCollection],
  ['64bb2d4661b5f2dc1a83bf5cbbe09e92ac0b460a1b879a5519386fca4c348bca', plainCollection],
  ['0b84497ccefe297d00beebb08a544cc6ef6230eab762692ca053fa9811399836', editedCollection],
  ['eec5bbc25065628799468860d8fd48031585f649c32fa382c888ba48831625a3', dnsCollection],
  ['4d4eb9bfa2b210d890833a712be244081fddadb07f031f361ea5cf7f1a130651', telemintCollection],
  ['88410c220f822181668269ce83eb9cc0d3b39c21999c8b55de03360a20e7c282', telemintCollection],
];
