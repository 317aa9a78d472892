import { type PaymentChannel, readPaymentChannel } from '#domain/contracts/payment-channel.js';
import type { Cell } from '#formats/cells/cell.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** The amount of a restricted wallet that is locked from a time on. */
interface RestrictedWalletLimit {
  /** int32: seconds after `start_at`. */
  readonly seconds: number;
  /** Nanotons. */
  readonly value: bigint;
}

/** The account states that tonlib distinguishes. Ids and seqnos are uint32. */
export type TonlibAccountState =
  | { readonly kind: 'uninited' }
  | { readonly kind: 'raw' }
  | {
      readonly kind: 'wallet.v3' | 'wallet.v4' | 'wallet.highload.v1';
      readonly wallet_id: number;
      readonly seqno: number;
    }
  | { readonly kind: 'wallet.highload.v2' | 'dns'; readonly wallet_id: number }
  | ({ readonly kind: 'pchan' } & PaymentChannel)
  | {
      readonly kind: 'rwallet';
      readonly wallet_id: number;
      readonly seqno: number;
      /** Nanotons: the balance without the amount that is locked at that time. */
      readonly unlocked_balance: bigint;
      /** Unix seconds; 0: since the start of the network. */
      readonly start_at: number;
      readonly limits: readonly RestrictedWalletLimit[];
    };

/** An {@link TonlibAccountState} with the revision of the code. */
export type TonlibAccountStateRead = TonlibAccountState & { readonly revision: number };

/** The account as read from the chain. */
export interface TonlibAccountInput {
  readonly code: Cell | null;
  readonly data: Cell | null;
  /** Nanotons. */
  readonly balance: bigint;
  /** Unix seconds: the time of the state. */
  readonly now: number;
}

type CodeKind = Exclude<TonlibAccountState['kind'], 'raw' | 'uninited'>;

/** By code hash. */
const CODES: ReadonlyMap<string, readonly [kind: CodeKind, revision: number]> = new Map([
  ['b61041a58a7980b946e8fb9e198e3c904d24799ffa36574ea4251c41a566f581', ['wallet.v3', 1]],
  ['84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599', ['wallet.v3', 2]],
  ['feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0', ['wallet.v4', 2]],
  ['d8cdbbb79f2c5caa677ac450770be0351be21e1250486de85cc52aa33dd16484', ['wallet.highload.v1', 1]],
  ['368c03972e5f4c24412b818652de1de2a2630d1c011609999dff745fb36849ad', ['wallet.highload.v1', 2]],
  ['8ceb45b3cd4b5cc60eaae1c13b9c092392677fe536b2e9b2d801b62eff931fe1', ['wallet.highload.v2', 1]],
  ['0b3a887aeacd2a7d40bb5550bc9253156a029065aefb6d6b583735d58da9d5be', ['wallet.highload.v2', 2]],
  ['0ab1ff93a9e79c0deff4405d8dad6b5ac9f8c01b2f1ebcb4259feb9e98380099', ['wallet.highload.v1', -1]],
  ['9494d1cc8edf12f05671a1a9ba09921096eb50811e1924ec65c3c629fbb80812', ['wallet.highload.v2', -1]],
  ['a0d67d2de8919fe7b7ca77652ccd4fdc56c689de7a69161e45fb0dcc5e47c155', ['dns', 1]],
  ['7353ade3e1f7cbedc525b3e7bc3226fe5ac8276fa5279ac37fb6efbc88f422b7', ['dns', -1]],
  ['0dafb2d193dc5aa5bee21eb6070510ca9475d2f0d6eb62acf9bf02923ce78e0b', ['pchan', -1]],
  ['8d35049b946cf33b58510bb4560c841a945f7781d6de9fc69ca3f430f6e32273', ['rwallet', 1]],
]);

/** Maximal number of limits of a restricted wallet. */
const MAX_LIMITS = 1_024;

/**
 * The account state as returned by tonlib's `getAccountState`: the type of the contract and the start of its data. Data that does
 * not fit the code is `raw`.
 */
export function readTonlibAccountState(input: TonlibAccountInput): TonlibAccountStateRead {
  const { code, data } = input;
  if (code === null) return { kind: 'uninited', revision: 0 };
  const known = data === null ? undefined : CODES.get(toHex(code.hash()));
  if (known === undefined || data === null) return { kind: 'raw', revision: 0 };
  const [kind, revision] = known;
  try {
    return { ...readStateOfKind(kind, openCell(data), input), revision };
  } catch (error) {
    if (isTernError(error)) return { kind: 'raw', revision: 0 };
    throw error;
  }
}

function readStateOfKind(kind: CodeKind, data: Slice, input: TonlibAccountInput): TonlibAccountState {
  switch (kind) {
    case 'wallet.v3':
    case 'wallet.v4':
    case 'wallet.highload.v1': {
      const seqno = data.loadUint(32);
      return { kind, seqno, wallet_id: data.loadUint(32) };
    }
    case 'wallet.highload.v2':
    case 'dns':
      return { kind, wallet_id: data.loadUint(32) };
    case 'pchan':
      return { kind, ...readPaymentChannel(data) };
    case 'rwallet':
      return readRestrictedWallet(data, input);
  }
}

/**
 * `seqno:uint32 wallet_id:uint32 public_key:bits256` and, after its initialisation by the owner (seqno is 1 then),
 * `start_at:uint32 limits:(HashmapE 32 Grams)`: the key of a limit is a signed number of seconds, and the limit applies
 * until the next key.
 */
function readRestrictedWallet(data: Slice, { balance, now }: TonlibAccountInput): TonlibAccountState {
  const seqno = data.loadUint(32);
  const wallet_id = data.loadUint(32);
  data.skip(256);
  const wallet = { kind: 'rwallet', seqno, wallet_id } as const;
  if (seqno === 0) return { ...wallet, unlocked_balance: balance, start_at: 0, limits: [] };
  const start_at = data.loadUint(32);
  const root = data.loadBit() ? data.loadRef() : null;
  data.end();
  const limits: RestrictedWalletLimit[] = [];
  forEachEntry(
    root,
    32,
    (key, value) => {
      limits.push({ seconds: Buffer.from(key).readInt32BE(), value: grams.load(value) });
    },
    { limit: MAX_LIMITS },
  );
  limits.sort((a, b) => a.seconds - b.seconds);
  const passed = now - start_at;
  const locked = limits.findLast(({ seconds }) => seconds <= passed)?.value ?? 0n;
  return { ...wallet, unlocked_balance: balance > locked ? balance - locked : 0n, start_at, limits };
}
