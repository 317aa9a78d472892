import type { TlValue } from '#formats/tl/constructor.js';
import { TonNodeBlockIdExt } from '#formats/tl/lite-api.js';
import { tlRecord, tlUnion, tlVariant } from '#formats/tl/schema-line.js';

// The types of schemas/adnl.tl that validators sign, line by line.

export const TonBlockId = tlRecord('ton.blockId root_cell_hash:int256 file_hash:int256 = ton.BlockId;');
export type TonBlockId = TlValue<typeof TonBlockId>;

export const ConsensusDataToSign = tlRecord(
  'consensus.dataToSign session_id:int256 data:bytes = consensus.DataToSign;',
);
export type ConsensusDataToSign = TlValue<typeof ConsensusDataToSign>;

export const ConsensusCandidateId = tlRecord('consensus.candidateId slot:int hash:int256 = consensus.CandidateId;');
export type ConsensusCandidateId = TlValue<typeof ConsensusCandidateId>;

export const ConsensusCandidateParent = tlVariant(
  'consensus.candidateParent id:consensus.CandidateId = consensus.CandidateParent;',
  ConsensusCandidateId,
);
export type ConsensusCandidateParent = TlValue<typeof ConsensusCandidateParent>;

export const ConsensusCandidateWithoutParents = tlVariant(
  'consensus.candidateWithoutParents = consensus.CandidateParent;',
);
export type ConsensusCandidateWithoutParents = TlValue<typeof ConsensusCandidateWithoutParents>;

/** `consensus.CandidateParent` */
export const ConsensusCandidateParentType = tlUnion(
  'consensus.CandidateParent',
  ConsensusCandidateParent,
  ConsensusCandidateWithoutParents,
);
export type ConsensusCandidateParentType = TlValue<typeof ConsensusCandidateParentType>;

export const ConsensusCandidateHashDataOrdinary = tlVariant(
  'consensus.candidateHashDataOrdinary block:tonNode.blockIdExt collated_file_hash:int256 parent:consensus.CandidateParent = consensus.CandidateHashData;',
  TonNodeBlockIdExt,
  ConsensusCandidateParentType,
);
export type ConsensusCandidateHashDataOrdinary = TlValue<typeof ConsensusCandidateHashDataOrdinary>;

export const ConsensusCandidateHashDataEmpty = tlVariant(
  'consensus.candidateHashDataEmpty block:tonNode.blockIdExt parent:consensus.candidateId = consensus.CandidateHashData;',
  TonNodeBlockIdExt,
  ConsensusCandidateId,
);
export type ConsensusCandidateHashDataEmpty = TlValue<typeof ConsensusCandidateHashDataEmpty>;

/** `consensus.CandidateHashData` */
export const ConsensusCandidateHashData = tlUnion(
  'consensus.CandidateHashData',
  ConsensusCandidateHashDataOrdinary,
  ConsensusCandidateHashDataEmpty,
);
export type ConsensusCandidateHashData = TlValue<typeof ConsensusCandidateHashData>;

export const ConsensusSimplexNotarizeVote = tlVariant(
  'consensus.simplex.notarizeVote id:consensus.CandidateId = consensus.simplex.UnsignedVote;',
  ConsensusCandidateId,
);
export type ConsensusSimplexNotarizeVote = TlValue<typeof ConsensusSimplexNotarizeVote>;

export const ConsensusSimplexFinalizeVote = tlVariant(
  'consensus.simplex.finalizeVote id:consensus.CandidateId = consensus.simplex.UnsignedVote;',
  ConsensusCandidateId,
);
export type ConsensusSimplexFinalizeVote = TlValue<typeof ConsensusSimplexFinalizeVote>;

export const ConsensusSimplexSkipVote = tlVariant(
  'consensus.simplex.skipVote slot:int = consensus.simplex.UnsignedVote;',
);
export type ConsensusSimplexSkipVote = TlValue<typeof ConsensusSimplexSkipVote>;

/** `consensus.simplex.UnsignedVote` */
export const ConsensusSimplexUnsignedVote = tlUnion(
  'consensus.simplex.UnsignedVote',
  ConsensusSimplexNotarizeVote,
  ConsensusSimplexFinalizeVote,
  ConsensusSimplexSkipVote,
);
export type ConsensusSimplexUnsignedVote = TlValue<typeof ConsensusSimplexUnsignedVote>;
