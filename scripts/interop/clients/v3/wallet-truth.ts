import {
  WalletContractV1R1,
  WalletContractV2R1,
  WalletContractV3R1,
  WalletContractV3R2,
  WalletContractV4,
  WalletContractV5R1,
} from '@ton/ton';
import { openCell } from '#formats/cells/slice.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import type { ChainTruth } from '../../chain-truth.js';

/** A wallet after the head. */
export interface WalletTruth {
  readonly address: string;
  readonly balance: string;
  readonly wallet_type: string;
  readonly seqno: number;
  /** Signed; null for kinds without one. */
  readonly wallet_id: number | null;
  /** Hexadecimal. */
  readonly public_key: string;
}

const publicKey = Buffer.alloc(32, 7);

/** Codes as the wallets of another library have them. */
const CODES = {
  'wallet v1 r1': WalletContractV1R1.create({ workchain: 0, publicKey }).init.code,
  'wallet v2 r1': WalletContractV2R1.create({ workchain: 0, publicKey }).init.code,
  'wallet v3 r1': WalletContractV3R1.create({ workchain: 0, publicKey }).init.code,
  'wallet v3 r2': WalletContractV3R2.create({ workchain: 0, publicKey }).init.code,
  'wallet v4 r2': WalletContractV4.create({ workchain: 0, publicKey }).init.code,
  'wallet v5 r1': WalletContractV5R1.create({ workchain: 0, publicKey }).init.code,
} as const;

const WITHOUT_ID: ReadonlySet<string> = new Set(['wallet v1 r1', 'wallet v2 r1']);

/** At most `each` wallets of a kind. */
export function walletTruths({ states }: ChainTruth, each: number): WalletTruth[] {
  const kinds = new Map(Object.entries(CODES).map(([kind, code]) => [code.hash().toString('base64'), kind]));
  const found = new Map<string, WalletTruth[]>();
  for (const { id, state } of states) {
    for (const [key, { account }] of state.accounts.value) {
      const { value } = account;
      if (value.kind !== 'account' || value.storage.state.kind !== 'account_active') continue;
      const { code, data } = value.storage.state.state_init;
      const wallet_type = code === null ? undefined : kinds.get(toBase64(code.hash()));
      if (wallet_type === undefined || data === null) continue;
      const list = found.get(wallet_type) ?? [];
      found.set(wallet_type, list);
      if (list.length === each) continue;
      const fields = openCell(data);
      if (wallet_type === 'wallet v5 r1') fields.loadUint(1);
      list.push({
        address: `${id.workchain}:${toHex(key).toUpperCase()}`,
        balance: String(value.storage.balance.grams),
        wallet_type,
        seqno: fields.loadUint(32),
        wallet_id: WITHOUT_ID.has(wallet_type) ? null : fields.loadInt(32),
        public_key: toHex(fields.loadBytes(32)),
      });
    }
  }
  return [...found.values()].flat();
}
