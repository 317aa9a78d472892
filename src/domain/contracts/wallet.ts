import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** State of a wallet contract. */
export interface WalletState {
  /** `wallet v3 r2` */
  readonly wallet_type: string;
  /** uint32: seqno of the next external-in message. */
  readonly seqno: number;
  /** int32, as TON Center returns it; null: wallets before v3 have none. */
  readonly wallet_id: number | null;
  /** Null: wallets before v5 always accept signatures. */
  readonly is_signature_allowed: boolean | null;
}

type WalletDataFields = Omit<WalletState, 'wallet_type'>;

/**
 * Reads a wallet with a known code hash. Its data starts with
 *
 * ```
 * v1, v2:  seqno:uint32
 * v3, v4:  seqno:uint32 wallet_id:int32
 * v5:      is_signature_allowed:Bool seqno:uint32 wallet_id:int32
 * v5 beta: seqno:(## 33) wallet_id:(bits 80)
 * ```
 *
 * The beta of v5 always accepts signatures, and its id has 80 bits: `wallet_id` is the first 32, the network id.
 *
 * @returns null if the code is no known wallet, or the data does not fit it
 */
export function readWallet(code: Cell | null, data: Cell | null): WalletState | null {
  if (code === null || data === null) return null;
  const known = WALLET_CODES.get(toHex(code.hash()));
  if (known === undefined) return null;
  try {
    return { wallet_type: known.wallet_type, ...readWalletData(known.layout, openCell(data)) };
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

function readWalletData(layout: WalletLayout, data: Slice): WalletDataFields {
  switch (layout) {
    case 'seqno':
      return { seqno: data.loadUint(32), wallet_id: null, is_signature_allowed: null };
    case 'seqno-id':
      return { seqno: data.loadUint(32), wallet_id: data.loadInt(32), is_signature_allowed: null };
    case 'v5': {
      const is_signature_allowed = data.loadBit();
      return { seqno: data.loadUint(32), wallet_id: data.loadInt(32), is_signature_allowed };
    }
    case 'v5-beta':
      return { seqno: data.loadUint(33), wallet_id: data.loadInt(32), is_signature_allowed: true };
  }
}

/** Layout of the start of a wallet's data. */
type WalletLayout = 'seqno' | 'seqno-id' | 'v5-beta' | 'v5';

/** A wallet contract by its code. */
interface WalletCode {
  readonly wallet_type: string;
  readonly layout: WalletLayout;
}

const v1r1: WalletCode = { wallet_type: 'wallet v1 r1', layout: 'seqno' };
const v1r2: WalletCode = { wallet_type: 'wallet v1 r2', layout: 'seqno' };
const v1r3: WalletCode = { wallet_type: 'wallet v1 r3', layout: 'seqno' };
const v2r1: WalletCode = { wallet_type: 'wallet v2 r1', layout: 'seqno' };
const v2r2: WalletCode = { wallet_type: 'wallet v2 r2', layout: 'seqno' };
const v3r1: WalletCode = { wallet_type: 'wallet v3 r1', layout: 'seqno-id' };
const v3r2: WalletCode = { wallet_type: 'wallet v3 r2', layout: 'seqno-id' };
const v4r1: WalletCode = { wallet_type: 'wallet v4 r1', layout: 'seqno-id' };
const v4r2: WalletCode = { wallet_type: 'wallet v4 r2', layout: 'seqno-id' };
const v5beta: WalletCode = { wallet_type: 'wallet v5 beta', layout: 'v5-beta' };
const v5r1: WalletCode = { wallet_type: 'wallet v5 r1', layout: 'v5' };

/** Wallets by the hash of their code, in lower-case hexadecimal. */
export const WALLET_CODES: ReadonlyMap<string, WalletCode> = new Map([
  ['a0cfc2c48aee16a271f2cfc0b7382d81756cecb1017d077faaab3bb602f6868c', v1r1],
  ['d4902fcc9fad74698fa8e353220a68da0dcf72e32bcb2eb9ee04217c17d3062c', v1r2],
  ['587cc789eff1c84f46ec3797e45fc809a14ff5ae24f1e0c7a6a99cc9dc9061ff', v1r3],
  ['5c9a5e68c108e18721a07c42f9956bfb39ad77ec6d624b60c576ec88eee65329', v2r1],
  ['fe9530d3243853083ef2ef0b4c2908c0abf6fa1c31ea243aacaa5bf8c7d753f1', v2r2],
  ['b61041a58a7980b946e8fb9e198e3c904d24799ffa36574ea4251c41a566f581', v3r1],
  ['84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599', v3r2],
  ['64dd54805522c5be8a9db59cea0105ccf0d08786ca79beb8cb79e880a8d7322d', v4r1],
  ['feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0', v4r2],
  ['f3d7ca53493deedac28b381986a849403cbac3d2c584779af081065af0ac4b93', v5beta],
  ['e4cf3b2f4c6d6a61ea0f2b5447d266785b26af3637db2deee6bcd1aa826f3412', v5beta],
  ['20834b7b72b112147e1b2fb457b84e74d1a30f04f737d4f62a668e9552d2b72f', v5r1],
]);

/** Code hashes of {@link WALLET_CODES}: most changed accounts have one of these codes, and need no detection. */
export const WALLET_CODE_HASHES: readonly Uint8Array[] = [...WALLET_CODES.keys()].map((hash) => fromHex(hash)!);

/**
 * Code hashes of contracts that are certainly no tokens: the wallets above, highload and preprocessed wallets, vesting wallets. Their
 * code need not be run to detect that.
 */
export const WALLET_LIKE_CODES: ReadonlySet<string> = new Set([
  ...WALLET_CODES.keys(),
  'd8cdbbb79f2c5caa677ac450770be0351be21e1250486de85cc52aa33dd16484',
  '0dceed21269d66013e95b19fbb5c55a6f01adad40837baa8e521cde3a02aa46c',
  '8ceb45b3cd4b5cc60eaae1c13b9c092392677fe536b2e9b2d801b62eff931fe1',
  '203dd4f358adb49993129aa925cac39916b68a0e4f78d26e8f2c2b69eafa5679',
  '9494d1cc8edf12f05671a1a9ba09921096eb50811e1924ec65c3c629fbb80812',
  '11acad7955844090f283bf238bc1449871f783e7cc0979408d3f4859483e8525',
  '45ebbce9b5d235886cb6bfe1c3ad93b708de058244892365c9ee0dfe439cb7b5',
  'b48b531abec3b714638291f7d77ed6dc9f6a2729efca20477137374d4ae8b590',
]);

/** What the owner of a wallet signs besides the messages to send. */
export interface WalletMessage {
  /** uint32: must equal the seqno of the wallet. */
  readonly seqno: number;
  /** Unix seconds; null: messages to wallets v1 do not expire. */
  readonly valid_until: number | null;
  /** int32; null: wallets before v3 have none. */
  readonly wallet_id: number | null;
}

const SIGNATURE_BITS = 512;

/** `sign`: opcode of external-in messages to a wallet v5. */
const SIGNED_EXTERNAL = 0x7369676e;

/** The id of the beta without the 32 bits of the network id. */
const BETA_ID_REST_BITS = 48;

/**
 * Reads the body of an external-in message to a wallet.
 *
 * ```
 * v1:      signature:bits512 seqno:uint32
 * v2:      signature:bits512 seqno:uint32 valid_until:uint32
 * v3, v4:  signature:bits512 wallet_id:int32 valid_until:uint32 seqno:uint32
 * v5:      #7369676e wallet_id:int32 valid_until:uint32 seqno:uint32 … signature:bits512
 * v5 beta: #7369676e wallet_id:(bits 80) valid_until:uint32 seqno:uint32 … signature:bits512
 * ```
 *
 * @param wallet_type as `WalletState` has it: `wallet v3 r2`
 * @returns null if the body is too short, or has another opcode
 */
export function readWalletMessage(wallet_type: string, body: Slice): WalletMessage | null {
  try {
    return readMessageFields(wallet_type, body.clone());
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

function readMessageFields(wallet_type: string, body: Slice): WalletMessage | null {
  const [, version, release] = wallet_type.split(' ');
  if (version === 'v5') {
    if (body.loadUint(32) !== SIGNED_EXTERNAL) return null;
    const wallet_id = body.loadInt(32);
    if (release === 'beta') body.skip(BETA_ID_REST_BITS);
    const valid_until = body.loadUint(32);
    return { wallet_id, valid_until, seqno: body.loadUint(32) };
  }
  body.skip(SIGNATURE_BITS);
  if (version === 'v1') return { wallet_id: null, valid_until: null, seqno: body.loadUint(32) };
  if (version === 'v2') {
    const seqno = body.loadUint(32);
    return { wallet_id: null, valid_until: body.loadUint(32), seqno };
  }
  const wallet_id = body.loadInt(32);
  const valid_until = body.loadUint(32);
  return { wallet_id, valid_until, seqno: body.loadUint(32) };
}
