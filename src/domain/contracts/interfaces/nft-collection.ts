import { contentColumn, contractInterface } from '#domain/contracts/contract-interface.js';
import { type GetMethod, getMethod, MethodResult } from '#domain/contracts/get-method.js';
import {
  deployedAddress,
  loadPlainAddress,
  type NativeCode,
  nativeGetMethod,
  storeAddress,
} from '#domain/contracts/native-code.js';
import { readTokenContent, type TokenContent } from '#domain/contracts/token-content.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { vmCell, vmInt } from '#formats/tlb/vm-stack.js';

/** Results of `get_collection_data` (TEP-62). */
interface NftCollectionFields {
  /** -1: items are not numbered. */
  readonly next_item_index: bigint;
  readonly collection_content: Cell;
  /** Null: none. */
  readonly owner_address: Address | null;
}

/** A collection of NFTs with its parsed content. */
interface NftCollection extends Omit<NftCollectionFields, 'collection_content'> {
  readonly collection_content: TokenContent;
}

/** `(int next_item_index, cell collection_content, slice owner_address) get_collection_data()` */
export const getCollectionData = getMethod('get_collection_data', (stack): NftCollectionFields => {
  const result = new MethodResult('get_collection_data', stack, 3);
  return {
    next_item_index: result.int(),
    collection_content: result.cell(),
    owner_address: result.accountOrNull(),
  };
});

/** `slice get_nft_address_by_index(int index)` */
export const getNftAddressByIndex: GetMethod<readonly [index: bigint], Address> = {
  name: 'get_nft_address_by_index',
  stack: (index) => [vmInt(index)],
  parse: (stack) => new MethodResult('get_nft_address_by_index', stack, 1).account(),
};

/** `cell get_nft_content(int index, cell individual_content)` */
export const getNftContent: GetMethod<readonly [index: bigint, individual: Cell], Cell> = {
  name: 'get_nft_content',
  stack: (index, individual) => [vmInt(index), vmCell(individual)],
  parse: (stack) => new MethodResult('get_nft_content', stack, 1).cell(),
};

/** Bits of an index: a number, or a hash. */
type IndexBits = 64 | 256;

/** `index collection_address:MsgAddress`, as an item begins. */
function emptyItem(index: bigint, bits: IndexBits, collection: Address): Builder {
  return storeAddress(new Builder().storeUint(index, bits), collection);
}

/**
 * `owner:MsgAddress next_item_index:uint64 content:^[collection_content:^Cell common_content:^Cell] item_code:^Cell
 * royalty_params:^Cell`, and what `tail` reads.
 */
function numberedCollection(tail: (data: Slice) => void, hashes: readonly string[]): NativeCode {
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
    hashes,
    getMethods: [
      nativeGetMethod(getCollectionData, ({ data }) => {
        const { owner_address, next_item_index, collection_content } = load(data);
        return { next_item_index, collection_content, owner_address };
      }),
      nativeGetMethod(getNftAddressByIndex, ({ address, data }, index) =>
        deployedAddress(load(data).item_code, emptyItem(index, 64, address).endCell()),
      ),
      nativeGetMethod(getNftContent, ({ data }, _index, individual) => {
        const { common_content } = load(data);
        return new Builder().storeUint(1, 8).storeSlice(openCell(common_content)).storeRef(individual).endCell();
      }),
    ],
  };
}

const plainCollection = numberedCollection(() => {}, [
  '8e5aab17e2e503bec75c2f453b9dacf11a98bbb2cc202994710952a7271c7780',
  '64bb2d4661b5f2dc1a83bf5cbbe09e92ac0b460a1b879a5519386fca4c348bca',
]);
/** `editor:MsgAddress` (GetGems) */
const editedCollection = numberedCollection(loadPlainAddress, [
  '0b84497ccefe297d00beebb08a544cc6ef6230eab762692ca053fa9811399836',
]);

interface WholeCollection {
  readonly collection_content: Cell;
  readonly item_code: Cell;
}

/** Collections whose items store their whole content and have a hash as index. */
function collectionOfWhole(
  load: (data: Cell) => WholeCollection,
  itemData: (index: bigint, collection: Address) => Cell,
  hashes: readonly string[],
): NativeCode {
  return {
    hashes,
    getMethods: [
      nativeGetMethod(getCollectionData, ({ data }) => {
        const { collection_content } = load(data);
        return { next_item_index: -1n, collection_content, owner_address: null };
      }),
      nativeGetMethod(getNftAddressByIndex, ({ address, data }, index) =>
        deployedAddress(load(data).item_code, itemData(index, address)),
      ),
      nativeGetMethod(getNftContent, (_account, _index, individual) => individual),
    ],
  };
}

/** `content:^Cell item_code:^Cell`: the collection of `.ton` domains. */
const dotTonCollection = collectionOfWhole(
  (data) => {
    const slice = openCell(data);
    const collection_content = slice.loadRef();
    const item_code = slice.loadRef();
    slice.end();
    return { collection_content, item_code };
  },
  (index, collection) => emptyItem(index, 256, collection).endCell(),
  ['eec5bbc25065628799468860d8fd48031585f649c32fa382c888ba48831625a3'],
);

/**
 * Collections of Telegram usernames and numbers: `touched:Bool subwallet_id:uint32 owner_key:uint256 content:^Cell
 * item_code:^Cell full_domain:^[length:uint8 …] royalty_params:^Cell`
 */
const telemintCollection = collectionOfWhole(
  (data) => {
    const slice = openCell(data).skip(1 + 32 + 256);
    const collection_content = slice.loadRef();
    const item_code = slice.loadRef();
    const full_domain = openCell(slice.loadRef());
    full_domain.skip(8 * full_domain.loadUint(8)).end();
    slice.loadRef();
    slice.end();
    return { collection_content, item_code };
  },
  (index, collection) =>
    new Builder()
      .storeBit(false)
      .storeRef(emptyItem(index, 256, collection).endCell())
      .endCell(),
  [
    '4d4eb9bfa2b210d890833a712be244081fddadb07f031f361ea5cf7f1a130651',
    '88410c220f822181668269ce83eb9cc0d3b39c21999c8b55de03360a20e7c282',
  ],
);

/** A collection of NFTs (TEP-62). Its content must follow TEP-64. */
export const nftCollection = contractInterface({
  name: 'nft_collection',
  methods: [[getCollectionData.name]],
  codes: [plainCollection, editedCollection, dotTonCollection, telemintCollection],
  async read(view, contract): Promise<NftCollection> {
    const { collection_content, ...fields } = await view.runGetMethod(contract, getCollectionData);
    return { ...fields, collection_content: readTokenContent(collection_content) };
  },
  table: {
    name: 'nft_collections',
    columns: { next_item_index: 'numeric', owner: 'address?', content: 'jsonb' },
  },
  row: ({ next_item_index, owner_address, collection_content }) => ({
    next_item_index,
    owner: owner_address,
    content: contentColumn(collection_content),
  }),
});
