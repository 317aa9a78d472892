import { crc16 } from '#formats/address/crc16.js';
import { addressErrors } from '#formats/address/errors.js';

/** First byte of the user-friendly form; the testnet flag is added to either of the other two. */
export const AddressTag = { bounceable: 0x11, nonBounceable: 0x51, testnetFlag: 0x80 } as const;

/** How to write the user-friendly form. */
export interface FriendlyFormat {
  /** Says to wallets that coins sent to an account without a contract should come back. The default is `true`. */
  readonly bounceable?: boolean;
  /** Marks the address as one for test networks only. The default is `false`. */
  readonly testnet?: boolean;
  /** base64url (`-`, `_`) or else base64 (`+`, `/`). The default is `true`. */
  readonly urlSafe?: boolean;
}

/** Tag, workchain, hash, checksum. */
const scratch = Buffer.alloc(36);

/** The address of an account: `addr_std$10` without anycast. Immutable; the hash must not be written to. */
export class Address {
  /** int32; 0 is the basechain, -1 the masterchain. */
  readonly workchain: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;

  private constructor(workchain: number, hash: Uint8Array) {
    this.workchain = workchain;
    this.hash = hash;
  }

  /** @param hash 32 bytes, which the address keeps @throws address/workchain, address/hash-length */
  static ofParts(workchain: number, hash: Uint8Array): Address {
    if ((workchain | 0) !== workchain) {
      throw addressErrors.workchain({ offset: 0, workchain: String(workchain), type: 'int32' });
    }
    if (hash.length !== 32) throw addressErrors['hash-length']({ offset: 0, length: hash.length, wanted: '32 bytes' });
    return new Address(workchain, hash);
  }

  /** `-1:3333…`: the workchain in decimal, the hash in lower-case hexadecimal. */
  toRaw(): string {
    scratch.set(this.hash);
    return `${this.workchain}:${scratch.toString('hex', 0, 32)}`;
  }

  /** `EQ…`: 48 characters with flags and checksum. @throws address/workchain when the workchain is not an int8 */
  toFriendly(format: FriendlyFormat = {}): string {
    const { workchain } = this;
    if ((workchain << 24) >> 24 !== workchain) {
      throw addressErrors.workchain({ offset: 0, workchain: String(workchain), type: 'int8' });
    }
    const tag = format.bounceable === false ? AddressTag.nonBounceable : AddressTag.bounceable;
    scratch[0] = format.testnet === true ? tag | AddressTag.testnetFlag : tag;
    scratch[1] = workchain;
    scratch.set(this.hash, 2);
    const crc = crc16(scratch, 34);
    scratch[34] = crc >> 8;
    scratch[35] = crc;
    return scratch.toString(format.urlSafe === false ? 'base64' : 'base64url');
  }

  equals(other: Address): boolean {
    if (this.workchain !== other.workchain) return false;
    const a = this.hash;
    const b = other.hash;
    for (let i = 0; i < 32; i++) if (a[i] !== b[i]) return false;
    return true;
  }

  /** The raw form. */
  toString(): string {
    return this.toRaw();
  }

  /** The raw form, for JSON. */
  toJSON(): string {
    return this.toRaw();
  }
}
