import type { ExtMessageInfo, QueryFees } from '#api/v2/schemas/send.js';
import type { ExternalMessage } from '#formats/tlb/external-message.js';
import { normalizedExternalHash } from '#formats/tlb/message.js';
import { toBase64 } from '#kernel/bytes/bytes.js';
import type { FeeEstimate } from '#services/contracts/contracts.js';

export function extMessageInfo({ cell, message }: ExternalMessage): ExtMessageInfo {
  return {
    '@type': 'raw.extMessageInfo',
    hash: toBase64(cell.hash()),
    hash_norm: toBase64(normalizedExternalHash(message)),
  };
}

export function queryFees({ in_fwd_fee, storage_fee, gas_fee, fwd_fee }: FeeEstimate): QueryFees {
  return {
    '@type': 'query.fees',
    source_fees: {
      '@type': 'fees',
      in_fwd_fee: Number(in_fwd_fee),
      storage_fee: Number(storage_fee),
      gas_fee: Number(gas_fee),
      fwd_fee: Number(fwd_fee),
    },
    destination_fees: [],
  };
}
