import { keyOfName } from '#domain/contracts/content-keys.js';
import { type GetMethod, getMethod } from '#domain/contracts/get-method.js';
import { contentColumn } from '#domain/contracts/kinds/content-column.js';
import { contractKind } from '#domain/contracts/kinds/contract-kind.js';
import {
  type GovernedForm,
  governed,
  loadGovernedMaster,
  loadPlainMaster,
  mintless,
  plainWalletHash,
  sharded,
} from '#domain/contracts/kinds/jetton-data.js';
import { MethodResult } from '#domain/contracts/method-result.js';
import { type NativeCode, nativeAnswer } from '#domain/contracts/native-code.js';
import { BASECHAIN } from '#domain/contracts/native-data.js';
import { readTokenContent, type TokenContent } from '#domain/contracts/token-content.js';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { openCell, Slice } from '#formats/cells/slice.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { vmSlice } from '#formats/tlb/vm-value.js';

/** Results of `get_jetton_data` (TEP-74). */
export interface JettonMasterFields {
  readonly total_supply: bigint;
  readonly mintable: boolean;
  /** Null: nobody. */
  readonly admin_address: Address | null;
  readonly jetton_content: Cell;
  readonly jetton_wallet_code: Cell;
}

/** A jetton, its content read. */
export interface JettonMaster extends Omit<JettonMasterFields, 'jetton_content'> {
  readonly jetton_content: TokenContent;
}

/** `(int total_supply, int mintable, slice admin_address, cell jetton_content, cell jetton_wallet_code) get_jetton_data()` */
export const getJettonData = getMethod('get_jetton_data', (stack): JettonMasterFields => {
  const result = new MethodResult('get_jetton_data', stack, 5);
  return {
    total_supply: result.int(),
    mintable: result.int() !== 0n,
    admin_address: result.accountOrNull(),
    jetton_content: result.cell(),
    jetton_wallet_code: result.cell(),
  };
});

/** `slice get_wallet_address(slice owner_address)` */
export const getWalletAddress: GetMethod<readonly [owner: Address], Address> = {
  name: 'get_wallet_address',
  stack: (owner) => [vmSlice(encodeCell(MsgAddress, owner))],
  parse: (stack) => new MethodResult('get_wallet_address', stack, 1).account(),
};

/** Jettons of the first kinds (TEP-74), discoverable ones (TEP-89) as well. */
const plainMaster: NativeCode = {
  hashes: [
    'e0b78e8e9112a385aeb509c98324333a4f9e5cebfacc5042b95c72373c4d7d39',
    'f95ba0330b38cdf3459b1e811e5fc6fa6cfee566d7b764455c0468140365a737',
    '9a0f98dd6fbf225eef8165e4e64417ee931f7eea000653439e7b5dcdc0644cd6',
  ],
  answers: [
    nativeAnswer(getJettonData, ({ data }) => {
      const { wallet_code, content, ...rest } = loadPlainMaster(data);
      return { ...rest, mintable: true, jetton_content: content, jetton_wallet_code: wallet_code };
    }),
    nativeAnswer(getWalletAddress, ({ address, data }, owner) => {
      const { wallet_code } = loadPlainMaster(data);
      return Address.ofParts(BASECHAIN, plainWalletHash(owner, address, wallet_code));
    }),
  ],
};

const URI = keyOfName('uri');
const DECIMALS = keyOfName('decimals');

/**
 * What a master makes of its metadata: content with the keys `uri` and, if it has some, `decimals`. The dictionary has the same
 * edges each time.
 */
function governedContent(decimals: Cell | null): (metadata: Cell) => Cell {
  const entries: [Uint8Array, Builder][] = [[URI, new Builder().storeRef(EMPTY_CELL)]];
  if (decimals !== null) entries.push([DECIMALS, new Builder().storeRef(decimals)]);
  const root = buildDictionary(256, entries) as Cell;
  return (metadata) => {
    const uri = new Builder().storeUint(0, 8).storeSlice(openCell(metadata)).endCell();
    return new Builder().storeUint(0, 8).storeBit(true).storeRef(withUri(root, uri)).endCell();
  };
}

/** The same dictionary, with another value where there is an empty cell. */
function withUri(edge: Cell, uri: Cell): Cell {
  const builder = new Builder().storeBits(new Slice(edge).loadBits(edge.bits));
  for (let i = 0; i < edge.refCount; i++) {
    const ref = edge.ref(i);
    builder.storeRef(ref === EMPTY_CELL ? uri : ref.refCount > 0 ? withUri(ref, uri) : ref);
  }
  return builder.endCell();
}

function governedMaster(form: GovernedForm, decimals: string | null, hashes: readonly string[]): NativeCode {
  const decimalsCell =
    decimals === null ? null : new Builder().storeUint(0, 8).storeBytes(new TextEncoder().encode(decimals)).endCell();
  const contentOf = governedContent(decimalsCell);
  return {
    hashes,
    answers: [
      nativeAnswer(getJettonData, ({ data }) => {
        const { total_supply, admin_address, metadata_uri, wallet_code } = loadGovernedMaster(form, data);
        const jetton_content = contentOf(metadata_uri);
        return { total_supply, mintable: true, admin_address, jetton_content, jetton_wallet_code: wallet_code };
      }),
      nativeAnswer(getWalletAddress, ({ address, data }, owner) => {
        const { wallet_code, merkle_root } = loadGovernedMaster(form, data);
        return Address.ofParts(BASECHAIN, form.walletHash(owner, address, wallet_code, merkle_root));
      }),
    ],
  };
}

const notcoin = governedMaster(governed, '9', ['f83d05490af7c9cc58019488c7b253c9492d49c25d12d09383e52e81537e343a']);
const stablecoin = governedMaster(governed, '6', ['18d5b6e780ff0bb451254c2c760d09d6e485638cd1407abb97078752c3c1c9ee']);
const version2 = governedMaster(sharded, '9', ['6eb01cd370f25445b7c9b598928e444009c31737334835a956b90bdd92228895']);
const mintlessMaster = governedMaster(mintless, null, [
  '84d0ae717efd23eecceb3a565e25fc5fb2e066f03bcf3672a7dd69aefa389db2',
]);

/** A jetton: its content is as TEP-64 has it. */
export const jettonMaster = contractKind({
  kind: 'jetton_master',
  methods: [[getJettonData.name]],
  codes: [plainMaster, notcoin, stablecoin, version2, mintlessMaster],
  async read(view, contract): Promise<JettonMaster> {
    const { jetton_content, ...fields } = await view.ask(contract, getJettonData);
    return { ...fields, jetton_content: readTokenContent(jetton_content) };
  },
  table: {
    name: 'jetton_masters',
    columns: {
      total_supply: 'numeric',
      mintable: 'boolean',
      admin: 'address',
      content: 'jsonb',
      jetton_wallet_code_hash: 'bytea',
    },
  },
  row: ({ total_supply, mintable, admin_address, jetton_content, jetton_wallet_code }) => ({
    total_supply,
    mintable,
    admin: admin_address,
    content: contentColumn(jetton_content),
    jetton_wallet_code_hash: jetton_wallet_code.hash(),
  }),
});
