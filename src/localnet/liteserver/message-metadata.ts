import { accountOf } from '#formats/address/msg-address.js';
import type { LiteServerTransactionMetadata } from '#formats/tl/generated/lite-server.js';
import type { MsgEnvelope, MsgMetadata } from '#formats/tlb/msg-envelope.js';
import { refused, WORKCHAIN_INVALID } from '#localnet/liteserver/find-block.js';

/** Which transaction a message descends from, as the lite API has it. */
export function metadataToTl({ depth, initiator_addr, initiator_lt }: MsgMetadata): LiteServerTransactionMetadata {
  const address = accountOf(initiator_addr);
  if (address === null) throw refused('the initiator of a message has no standard address');
  const { workchain, hash: id } = address;
  return { mode: 0, depth: depth | 0, initiator: { workchain, id }, initiator_lt: BigInt.asIntN(64, initiator_lt) };
}

/** Where a structure has no way to leave the metadata out: what says that there is none. */
const NO_METADATA: LiteServerTransactionMetadata = {
  mode: 0,
  depth: -1,
  initiator: { workchain: WORKCHAIN_INVALID, id: new Uint8Array(32) },
  initiator_lt: -1n,
};

/** The metadata in an envelope. */
export function envelopeMetadata(envelope: MsgEnvelope): LiteServerTransactionMetadata {
  if (envelope.kind !== 'msg_envelope_v2' || envelope.metadata === null) return NO_METADATA;
  return metadataToTl(envelope.metadata);
}
