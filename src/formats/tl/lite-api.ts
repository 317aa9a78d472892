import type { TlValue } from '#formats/tl/constructor.js';
import { tlFunction, tlRecord, tlUnion, tlVariant } from '#formats/tl/schema-line.js';

// The types and functions of schemas/lite_api.tl, line by line.

export const TonNodeBlockId = tlRecord('tonNode.blockId workchain:int shard:long seqno:int = tonNode.BlockId;');
export type TonNodeBlockId = TlValue<typeof TonNodeBlockId>;

export const TonNodeBlockIdExt = tlRecord(
  'tonNode.blockIdExt workchain:int shard:long seqno:int root_hash:int256 file_hash:int256 = tonNode.BlockIdExt;',
);
export type TonNodeBlockIdExt = TlValue<typeof TonNodeBlockIdExt>;

export const TonNodeZeroStateIdExt = tlRecord(
  'tonNode.zeroStateIdExt workchain:int root_hash:int256 file_hash:int256 = tonNode.ZeroStateIdExt;',
);
export type TonNodeZeroStateIdExt = TlValue<typeof TonNodeZeroStateIdExt>;

export const LiteServerError = tlRecord('liteServer.error code:int message:string = liteServer.Error;');
export type LiteServerError = TlValue<typeof LiteServerError>;

export const LiteServerAccountId = tlRecord('liteServer.accountId workchain:int id:int256 = liteServer.AccountId;');
export type LiteServerAccountId = TlValue<typeof LiteServerAccountId>;

export const LiteServerLibraryEntry = tlRecord(
  'liteServer.libraryEntry hash:int256 data:bytes = liteServer.LibraryEntry;',
);
export type LiteServerLibraryEntry = TlValue<typeof LiteServerLibraryEntry>;

export const LiteServerMasterchainInfo = tlRecord(
  'liteServer.masterchainInfo last:tonNode.blockIdExt state_root_hash:int256 init:tonNode.zeroStateIdExt = liteServer.MasterchainInfo;',
  TonNodeBlockIdExt,
  TonNodeZeroStateIdExt,
);
export type LiteServerMasterchainInfo = TlValue<typeof LiteServerMasterchainInfo>;

export const LiteServerMasterchainInfoExt = tlRecord(
  'liteServer.masterchainInfoExt mode:# version:int capabilities:long last:tonNode.blockIdExt last_utime:int now:int state_root_hash:int256 init:tonNode.zeroStateIdExt = liteServer.MasterchainInfoExt;',
  TonNodeBlockIdExt,
  TonNodeZeroStateIdExt,
);
export type LiteServerMasterchainInfoExt = TlValue<typeof LiteServerMasterchainInfoExt>;

export const LiteServerCurrentTime = tlRecord('liteServer.currentTime now:int = liteServer.CurrentTime;');
export type LiteServerCurrentTime = TlValue<typeof LiteServerCurrentTime>;

export const LiteServerVersion = tlRecord(
  'liteServer.version mode:# version:int capabilities:long now:int = liteServer.Version;',
);
export type LiteServerVersion = TlValue<typeof LiteServerVersion>;

export const LiteServerBlockData = tlRecord(
  'liteServer.blockData id:tonNode.blockIdExt data:bytes = liteServer.BlockData;',
  TonNodeBlockIdExt,
);
export type LiteServerBlockData = TlValue<typeof LiteServerBlockData>;

export const LiteServerBlockState = tlRecord(
  'liteServer.blockState id:tonNode.blockIdExt root_hash:int256 file_hash:int256 data:bytes = liteServer.BlockState;',
  TonNodeBlockIdExt,
);
export type LiteServerBlockState = TlValue<typeof LiteServerBlockState>;

export const LiteServerBlockHeader = tlRecord(
  'liteServer.blockHeader id:tonNode.blockIdExt mode:# header_proof:bytes = liteServer.BlockHeader;',
  TonNodeBlockIdExt,
);
export type LiteServerBlockHeader = TlValue<typeof LiteServerBlockHeader>;

export const LiteServerSendMsgStatus = tlRecord('liteServer.sendMsgStatus status:int = liteServer.SendMsgStatus;');
export type LiteServerSendMsgStatus = TlValue<typeof LiteServerSendMsgStatus>;

export const LiteServerAccountState = tlRecord(
  'liteServer.accountState id:tonNode.blockIdExt shardblk:tonNode.blockIdExt shard_proof:bytes proof:bytes state:bytes = liteServer.AccountState;',
  TonNodeBlockIdExt,
);
export type LiteServerAccountState = TlValue<typeof LiteServerAccountState>;

export const LiteServerRunMethodResult = tlRecord(
  'liteServer.runMethodResult mode:# id:tonNode.blockIdExt shardblk:tonNode.blockIdExt shard_proof:mode.0?bytes proof:mode.0?bytes state_proof:mode.1?bytes init_c7:mode.3?bytes lib_extras:mode.4?bytes exit_code:int result:mode.2?bytes = liteServer.RunMethodResult;',
  TonNodeBlockIdExt,
);
export type LiteServerRunMethodResult = TlValue<typeof LiteServerRunMethodResult>;

export const LiteServerShardInfo = tlRecord(
  'liteServer.shardInfo id:tonNode.blockIdExt shardblk:tonNode.blockIdExt shard_proof:bytes shard_descr:bytes = liteServer.ShardInfo;',
  TonNodeBlockIdExt,
);
export type LiteServerShardInfo = TlValue<typeof LiteServerShardInfo>;

export const LiteServerAllShardsInfo = tlRecord(
  'liteServer.allShardsInfo id:tonNode.blockIdExt proof:bytes data:bytes = liteServer.AllShardsInfo;',
  TonNodeBlockIdExt,
);
export type LiteServerAllShardsInfo = TlValue<typeof LiteServerAllShardsInfo>;

export const LiteServerTransactionInfo = tlRecord(
  'liteServer.transactionInfo id:tonNode.blockIdExt proof:bytes transaction:bytes = liteServer.TransactionInfo;',
  TonNodeBlockIdExt,
);
export type LiteServerTransactionInfo = TlValue<typeof LiteServerTransactionInfo>;

export const LiteServerTransactionList = tlRecord(
  'liteServer.transactionList ids:(vector tonNode.blockIdExt) transactions:bytes = liteServer.TransactionList;',
  TonNodeBlockIdExt,
);
export type LiteServerTransactionList = TlValue<typeof LiteServerTransactionList>;

export const LiteServerTransactionMetadata = tlRecord(
  'liteServer.transactionMetadata mode:# depth:int initiator:liteServer.accountId initiator_lt:long = liteServer.TransactionMetadata;',
  LiteServerAccountId,
);
export type LiteServerTransactionMetadata = TlValue<typeof LiteServerTransactionMetadata>;

export const LiteServerTransactionId = tlRecord(
  'liteServer.transactionId#b12f65af mode:# account:mode.0?int256 lt:mode.1?long hash:mode.2?int256 metadata:mode.8?liteServer.transactionMetadata = liteServer.TransactionId;',
  LiteServerTransactionMetadata,
);
export type LiteServerTransactionId = TlValue<typeof LiteServerTransactionId>;

export const LiteServerTransactionId3 = tlRecord(
  'liteServer.transactionId3 account:int256 lt:long = liteServer.TransactionId3;',
);
export type LiteServerTransactionId3 = TlValue<typeof LiteServerTransactionId3>;

export const LiteServerBlockTransactions = tlRecord(
  'liteServer.blockTransactions id:tonNode.blockIdExt req_count:# incomplete:Bool ids:(vector liteServer.transactionId) proof:bytes = liteServer.BlockTransactions;',
  TonNodeBlockIdExt,
  LiteServerTransactionId,
);
export type LiteServerBlockTransactions = TlValue<typeof LiteServerBlockTransactions>;

export const LiteServerBlockTransactionsExt = tlRecord(
  'liteServer.blockTransactionsExt id:tonNode.blockIdExt req_count:# incomplete:Bool transactions:bytes proof:bytes = liteServer.BlockTransactionsExt;',
  TonNodeBlockIdExt,
);
export type LiteServerBlockTransactionsExt = TlValue<typeof LiteServerBlockTransactionsExt>;

export const LiteServerSignature = tlRecord(
  'liteServer.signature node_id_short:int256 signature:bytes = liteServer.Signature;',
);
export type LiteServerSignature = TlValue<typeof LiteServerSignature>;

export const LiteServerSignatureSetOrdinary = tlVariant(
  'liteServer.signatureSet.ordinary#f644a6e6 validator_set_hash:int catchain_seqno:int signatures:(vector liteServer.signature) = liteServer.SignatureSet;',
  LiteServerSignature,
);
export type LiteServerSignatureSetOrdinary = TlValue<typeof LiteServerSignatureSetOrdinary>;

export const LiteServerSignatureSetSimplex = tlVariant(
  'liteServer.signatureSet.simplex cc_seqno:int validator_set_hash:int signatures:(vector liteServer.signature) session_id:int256 slot:int candidate:bytes = liteServer.SignatureSet;',
  LiteServerSignature,
);
export type LiteServerSignatureSetSimplex = TlValue<typeof LiteServerSignatureSetSimplex>;

/** `liteServer.SignatureSet` */
export const LiteServerSignatureSet = tlUnion(
  'liteServer.SignatureSet',
  LiteServerSignatureSetOrdinary,
  LiteServerSignatureSetSimplex,
);
export type LiteServerSignatureSet = TlValue<typeof LiteServerSignatureSet>;

export const LiteServerBlockLinkBack = tlVariant(
  'liteServer.blockLinkBack to_key_block:Bool from:tonNode.blockIdExt to:tonNode.blockIdExt dest_proof:bytes proof:bytes state_proof:bytes = liteServer.BlockLink;',
  TonNodeBlockIdExt,
);
export type LiteServerBlockLinkBack = TlValue<typeof LiteServerBlockLinkBack>;

export const LiteServerBlockLinkForward = tlVariant(
  'liteServer.blockLinkForward to_key_block:Bool from:tonNode.blockIdExt to:tonNode.blockIdExt dest_proof:bytes config_proof:bytes signatures:liteServer.SignatureSet = liteServer.BlockLink;',
  TonNodeBlockIdExt,
  LiteServerSignatureSet,
);
export type LiteServerBlockLinkForward = TlValue<typeof LiteServerBlockLinkForward>;

/** `liteServer.BlockLink` */
export const LiteServerBlockLink = tlUnion('liteServer.BlockLink', LiteServerBlockLinkBack, LiteServerBlockLinkForward);
export type LiteServerBlockLink = TlValue<typeof LiteServerBlockLink>;

export const LiteServerPartialBlockProof = tlRecord(
  'liteServer.partialBlockProof complete:Bool from:tonNode.blockIdExt to:tonNode.blockIdExt steps:(vector liteServer.BlockLink) = liteServer.PartialBlockProof;',
  TonNodeBlockIdExt,
  LiteServerBlockLink,
);
export type LiteServerPartialBlockProof = TlValue<typeof LiteServerPartialBlockProof>;

export const LiteServerConfigInfo = tlRecord(
  'liteServer.configInfo mode:# id:tonNode.blockIdExt state_proof:bytes config_proof:bytes = liteServer.ConfigInfo;',
  TonNodeBlockIdExt,
);
export type LiteServerConfigInfo = TlValue<typeof LiteServerConfigInfo>;

export const LiteServerValidatorStats = tlRecord(
  'liteServer.validatorStats mode:# id:tonNode.blockIdExt count:int complete:Bool state_proof:bytes data_proof:bytes = liteServer.ValidatorStats;',
  TonNodeBlockIdExt,
);
export type LiteServerValidatorStats = TlValue<typeof LiteServerValidatorStats>;

export const LiteServerLibraryResult = tlRecord(
  'liteServer.libraryResult result:(vector liteServer.libraryEntry) = liteServer.LibraryResult;',
  LiteServerLibraryEntry,
);
export type LiteServerLibraryResult = TlValue<typeof LiteServerLibraryResult>;

export const LiteServerLibraryResultWithProof = tlRecord(
  'liteServer.libraryResultWithProof id:tonNode.blockIdExt mode:# result:(vector liteServer.libraryEntry) state_proof:bytes data_proof:bytes = liteServer.LibraryResultWithProof;',
  TonNodeBlockIdExt,
  LiteServerLibraryEntry,
);
export type LiteServerLibraryResultWithProof = TlValue<typeof LiteServerLibraryResultWithProof>;

export const LiteServerShardBlockLink = tlRecord(
  'liteServer.shardBlockLink id:tonNode.blockIdExt proof:bytes = liteServer.ShardBlockLink;',
  TonNodeBlockIdExt,
);
export type LiteServerShardBlockLink = TlValue<typeof LiteServerShardBlockLink>;

export const LiteServerShardBlockProof = tlRecord(
  'liteServer.shardBlockProof masterchain_id:tonNode.blockIdExt links:(vector liteServer.shardBlockLink) = liteServer.ShardBlockProof;',
  TonNodeBlockIdExt,
  LiteServerShardBlockLink,
);
export type LiteServerShardBlockProof = TlValue<typeof LiteServerShardBlockProof>;

export const LiteServerLookupBlockResult = tlRecord(
  'liteServer.lookupBlockResult id:tonNode.blockIdExt mode:# mc_block_id:tonNode.blockIdExt client_mc_state_proof:bytes mc_block_proof:bytes shard_links:(vector liteServer.shardBlockLink) header:bytes prev_header:bytes = liteServer.LookupBlockResult;',
  TonNodeBlockIdExt,
  LiteServerShardBlockLink,
);
export type LiteServerLookupBlockResult = TlValue<typeof LiteServerLookupBlockResult>;

export const LiteServerOutMsgQueueSize = tlRecord(
  'liteServer.outMsgQueueSize id:tonNode.blockIdExt size:int = liteServer.OutMsgQueueSize;',
  TonNodeBlockIdExt,
);
export type LiteServerOutMsgQueueSize = TlValue<typeof LiteServerOutMsgQueueSize>;

export const LiteServerOutMsgQueueSizes = tlRecord(
  'liteServer.outMsgQueueSizes shards:(vector liteServer.outMsgQueueSize) ext_msg_queue_size_limit:int = liteServer.OutMsgQueueSizes;',
  LiteServerOutMsgQueueSize,
);
export type LiteServerOutMsgQueueSizes = TlValue<typeof LiteServerOutMsgQueueSizes>;

export const LiteServerBlockOutMsgQueueSize = tlRecord(
  'liteServer.blockOutMsgQueueSize mode:# id:tonNode.blockIdExt size:long proof:mode.0?bytes = liteServer.BlockOutMsgQueueSize;',
  TonNodeBlockIdExt,
);
export type LiteServerBlockOutMsgQueueSize = TlValue<typeof LiteServerBlockOutMsgQueueSize>;

export const LiteServerAccountDispatchQueueInfo = tlRecord(
  'liteServer.accountDispatchQueueInfo addr:int256 size:long min_lt:long max_lt:long = liteServer.AccountDispatchQueueInfo;',
);
export type LiteServerAccountDispatchQueueInfo = TlValue<typeof LiteServerAccountDispatchQueueInfo>;

export const LiteServerDispatchQueueInfo = tlRecord(
  'liteServer.dispatchQueueInfo mode:# id:tonNode.blockIdExt account_dispatch_queues:(vector liteServer.accountDispatchQueueInfo) complete:Bool proof:mode.0?bytes = liteServer.DispatchQueueInfo;',
  TonNodeBlockIdExt,
  LiteServerAccountDispatchQueueInfo,
);
export type LiteServerDispatchQueueInfo = TlValue<typeof LiteServerDispatchQueueInfo>;

export const LiteServerDispatchQueueMessage = tlRecord(
  'liteServer.dispatchQueueMessage addr:int256 lt:long hash:int256 metadata:liteServer.transactionMetadata = liteServer.DispatchQueueMessage;',
  LiteServerTransactionMetadata,
);
export type LiteServerDispatchQueueMessage = TlValue<typeof LiteServerDispatchQueueMessage>;

export const LiteServerDispatchQueueMessages = tlRecord(
  'liteServer.dispatchQueueMessages mode:# id:tonNode.blockIdExt messages:(vector liteServer.dispatchQueueMessage) complete:Bool proof:mode.0?bytes messages_boc:mode.2?bytes = liteServer.DispatchQueueMessages;',
  TonNodeBlockIdExt,
  LiteServerDispatchQueueMessage,
);
export type LiteServerDispatchQueueMessages = TlValue<typeof LiteServerDispatchQueueMessages>;

export const LiteServerNonfinalCandidateId = tlRecord(
  'liteServer.nonfinal.candidateId block_id:tonNode.blockIdExt creator:int256 collated_data_hash:int256 = liteServer.nonfinal.CandidateId;',
  TonNodeBlockIdExt,
);
export type LiteServerNonfinalCandidateId = TlValue<typeof LiteServerNonfinalCandidateId>;

export const LiteServerNonfinalCandidate = tlRecord(
  'liteServer.nonfinal.candidate id:liteServer.nonfinal.candidateId data:bytes collated_data:bytes = liteServer.nonfinal.Candidate;',
  LiteServerNonfinalCandidateId,
);
export type LiteServerNonfinalCandidate = TlValue<typeof LiteServerNonfinalCandidate>;

export const LiteServerNonfinalCandidateInfo = tlRecord(
  'liteServer.nonfinal.candidateInfo id:liteServer.nonfinal.candidateId available:Bool approved_weight:long signed_weight:long total_weight:long = liteServer.nonfinal.CandidateInfo;',
  LiteServerNonfinalCandidateId,
);
export type LiteServerNonfinalCandidateInfo = TlValue<typeof LiteServerNonfinalCandidateInfo>;

export const LiteServerNonfinalValidatorGroupInfo = tlRecord(
  'liteServer.nonfinal.validatorGroupInfo next_block_id:tonNode.blockId cc_seqno:int prev:(vector tonNode.blockIdExt) candidates:(vector liteServer.nonfinal.candidateInfo) = liteServer.nonfinal.ValidatorGroupInfo;',
  TonNodeBlockId,
  TonNodeBlockIdExt,
  LiteServerNonfinalCandidateInfo,
);
export type LiteServerNonfinalValidatorGroupInfo = TlValue<typeof LiteServerNonfinalValidatorGroupInfo>;

export const LiteServerNonfinalValidatorGroups = tlRecord(
  'liteServer.nonfinal.validatorGroups groups:(vector liteServer.nonfinal.validatorGroupInfo) = liteServer.nonfinal.ValidatorGroups;',
  LiteServerNonfinalValidatorGroupInfo,
);
export type LiteServerNonfinalValidatorGroups = TlValue<typeof LiteServerNonfinalValidatorGroups>;

export const LiteServerNonfinalPendingShardBlocks = tlRecord(
  'liteServer.nonfinal.pendingShardBlocks signed_blocks:(vector tonNode.blockIdExt) candidates:(vector tonNode.blockIdExt) = liteServer.nonfinal.PendingShardBlocks;',
  TonNodeBlockIdExt,
);
export type LiteServerNonfinalPendingShardBlocks = TlValue<typeof LiteServerNonfinalPendingShardBlocks>;

export const LiteServerGetMasterchainInfo = tlFunction(
  'liteServer.getMasterchainInfo = liteServer.MasterchainInfo;',
  LiteServerMasterchainInfo,
);
export type LiteServerGetMasterchainInfo = TlValue<typeof LiteServerGetMasterchainInfo>;

export const LiteServerGetMasterchainInfoExt = tlFunction(
  'liteServer.getMasterchainInfoExt mode:# = liteServer.MasterchainInfoExt;',
  LiteServerMasterchainInfoExt,
);
export type LiteServerGetMasterchainInfoExt = TlValue<typeof LiteServerGetMasterchainInfoExt>;

export const LiteServerGetTime = tlFunction('liteServer.getTime = liteServer.CurrentTime;', LiteServerCurrentTime);
export type LiteServerGetTime = TlValue<typeof LiteServerGetTime>;

export const LiteServerGetVersion = tlFunction('liteServer.getVersion = liteServer.Version;', LiteServerVersion);
export type LiteServerGetVersion = TlValue<typeof LiteServerGetVersion>;

export const LiteServerGetBlock = tlFunction(
  'liteServer.getBlock id:tonNode.blockIdExt = liteServer.BlockData;',
  LiteServerBlockData,
  TonNodeBlockIdExt,
);
export type LiteServerGetBlock = TlValue<typeof LiteServerGetBlock>;

export const LiteServerGetState = tlFunction(
  'liteServer.getState id:tonNode.blockIdExt = liteServer.BlockState;',
  LiteServerBlockState,
  TonNodeBlockIdExt,
);
export type LiteServerGetState = TlValue<typeof LiteServerGetState>;

export const LiteServerGetBlockHeader = tlFunction(
  'liteServer.getBlockHeader id:tonNode.blockIdExt mode:# = liteServer.BlockHeader;',
  LiteServerBlockHeader,
  TonNodeBlockIdExt,
);
export type LiteServerGetBlockHeader = TlValue<typeof LiteServerGetBlockHeader>;

export const LiteServerSendMessage = tlFunction(
  'liteServer.sendMessage body:bytes = liteServer.SendMsgStatus;',
  LiteServerSendMsgStatus,
);
export type LiteServerSendMessage = TlValue<typeof LiteServerSendMessage>;

export const LiteServerGetAccountState = tlFunction(
  'liteServer.getAccountState id:tonNode.blockIdExt account:liteServer.accountId = liteServer.AccountState;',
  LiteServerAccountState,
  TonNodeBlockIdExt,
  LiteServerAccountId,
);
export type LiteServerGetAccountState = TlValue<typeof LiteServerGetAccountState>;

export const LiteServerGetAccountStatePrunned = tlFunction(
  'liteServer.getAccountStatePrunned id:tonNode.blockIdExt account:liteServer.accountId = liteServer.AccountState;',
  LiteServerAccountState,
  TonNodeBlockIdExt,
  LiteServerAccountId,
);
export type LiteServerGetAccountStatePrunned = TlValue<typeof LiteServerGetAccountStatePrunned>;

export const LiteServerRunSmcMethod = tlFunction(
  'liteServer.runSmcMethod mode:# id:tonNode.blockIdExt account:liteServer.accountId method_id:long params:bytes = liteServer.RunMethodResult;',
  LiteServerRunMethodResult,
  TonNodeBlockIdExt,
  LiteServerAccountId,
);
export type LiteServerRunSmcMethod = TlValue<typeof LiteServerRunSmcMethod>;

export const LiteServerGetShardInfo = tlFunction(
  'liteServer.getShardInfo id:tonNode.blockIdExt workchain:int shard:long exact:Bool = liteServer.ShardInfo;',
  LiteServerShardInfo,
  TonNodeBlockIdExt,
);
export type LiteServerGetShardInfo = TlValue<typeof LiteServerGetShardInfo>;

export const LiteServerGetAllShardsInfo = tlFunction(
  'liteServer.getAllShardsInfo id:tonNode.blockIdExt = liteServer.AllShardsInfo;',
  LiteServerAllShardsInfo,
  TonNodeBlockIdExt,
);
export type LiteServerGetAllShardsInfo = TlValue<typeof LiteServerGetAllShardsInfo>;

export const LiteServerGetOneTransaction = tlFunction(
  'liteServer.getOneTransaction id:tonNode.blockIdExt account:liteServer.accountId lt:long = liteServer.TransactionInfo;',
  LiteServerTransactionInfo,
  TonNodeBlockIdExt,
  LiteServerAccountId,
);
export type LiteServerGetOneTransaction = TlValue<typeof LiteServerGetOneTransaction>;

export const LiteServerGetTransactions = tlFunction(
  'liteServer.getTransactions count:# account:liteServer.accountId lt:long hash:int256 = liteServer.TransactionList;',
  LiteServerTransactionList,
  LiteServerAccountId,
);
export type LiteServerGetTransactions = TlValue<typeof LiteServerGetTransactions>;

export const LiteServerLookupBlock = tlFunction(
  'liteServer.lookupBlock mode:# id:tonNode.blockId lt:mode.1?long utime:mode.2?int = liteServer.BlockHeader;',
  LiteServerBlockHeader,
  TonNodeBlockId,
);
export type LiteServerLookupBlock = TlValue<typeof LiteServerLookupBlock>;

export const LiteServerLookupBlockWithProof = tlFunction(
  'liteServer.lookupBlockWithProof mode:# id:tonNode.blockId mc_block_id:tonNode.blockIdExt lt:mode.1?long utime:mode.2?int = liteServer.LookupBlockResult;',
  LiteServerLookupBlockResult,
  TonNodeBlockId,
  TonNodeBlockIdExt,
);
export type LiteServerLookupBlockWithProof = TlValue<typeof LiteServerLookupBlockWithProof>;

export const LiteServerListBlockTransactions = tlFunction(
  'liteServer.listBlockTransactions id:tonNode.blockIdExt mode:# count:# after:mode.7?liteServer.transactionId3 reverse_order:mode.6?true want_proof:mode.5?true = liteServer.BlockTransactions;',
  LiteServerBlockTransactions,
  TonNodeBlockIdExt,
  LiteServerTransactionId3,
);
export type LiteServerListBlockTransactions = TlValue<typeof LiteServerListBlockTransactions>;

export const LiteServerListBlockTransactionsExt = tlFunction(
  'liteServer.listBlockTransactionsExt id:tonNode.blockIdExt mode:# count:# after:mode.7?liteServer.transactionId3 reverse_order:mode.6?true want_proof:mode.5?true = liteServer.BlockTransactionsExt;',
  LiteServerBlockTransactionsExt,
  TonNodeBlockIdExt,
  LiteServerTransactionId3,
);
export type LiteServerListBlockTransactionsExt = TlValue<typeof LiteServerListBlockTransactionsExt>;

export const LiteServerGetBlockProof = tlFunction(
  'liteServer.getBlockProof mode:# known_block:tonNode.blockIdExt target_block:mode.0?tonNode.blockIdExt = liteServer.PartialBlockProof;',
  LiteServerPartialBlockProof,
  TonNodeBlockIdExt,
);
export type LiteServerGetBlockProof = TlValue<typeof LiteServerGetBlockProof>;

export const LiteServerGetConfigAll = tlFunction(
  'liteServer.getConfigAll mode:# id:tonNode.blockIdExt = liteServer.ConfigInfo;',
  LiteServerConfigInfo,
  TonNodeBlockIdExt,
);
export type LiteServerGetConfigAll = TlValue<typeof LiteServerGetConfigAll>;

export const LiteServerGetConfigParams = tlFunction(
  'liteServer.getConfigParams mode:# id:tonNode.blockIdExt param_list:(vector int) = liteServer.ConfigInfo;',
  LiteServerConfigInfo,
  TonNodeBlockIdExt,
);
export type LiteServerGetConfigParams = TlValue<typeof LiteServerGetConfigParams>;

export const LiteServerGetValidatorStats = tlFunction(
  'liteServer.getValidatorStats#091a58bc mode:# id:tonNode.blockIdExt limit:int start_after:mode.0?int256 modified_after:mode.2?int = liteServer.ValidatorStats;',
  LiteServerValidatorStats,
  TonNodeBlockIdExt,
);
export type LiteServerGetValidatorStats = TlValue<typeof LiteServerGetValidatorStats>;

export const LiteServerGetLibraries = tlFunction(
  'liteServer.getLibraries library_list:(vector int256) = liteServer.LibraryResult;',
  LiteServerLibraryResult,
);
export type LiteServerGetLibraries = TlValue<typeof LiteServerGetLibraries>;

export const LiteServerGetLibrariesWithProof = tlFunction(
  'liteServer.getLibrariesWithProof id:tonNode.blockIdExt mode:# library_list:(vector int256) = liteServer.LibraryResultWithProof;',
  LiteServerLibraryResultWithProof,
  TonNodeBlockIdExt,
);
export type LiteServerGetLibrariesWithProof = TlValue<typeof LiteServerGetLibrariesWithProof>;

export const LiteServerGetShardBlockProof = tlFunction(
  'liteServer.getShardBlockProof id:tonNode.blockIdExt = liteServer.ShardBlockProof;',
  LiteServerShardBlockProof,
  TonNodeBlockIdExt,
);
export type LiteServerGetShardBlockProof = TlValue<typeof LiteServerGetShardBlockProof>;

export const LiteServerGetOutMsgQueueSizes = tlFunction(
  'liteServer.getOutMsgQueueSizes mode:# wc:mode.0?int shard:mode.0?long = liteServer.OutMsgQueueSizes;',
  LiteServerOutMsgQueueSizes,
);
export type LiteServerGetOutMsgQueueSizes = TlValue<typeof LiteServerGetOutMsgQueueSizes>;

export const LiteServerGetBlockOutMsgQueueSize = tlFunction(
  'liteServer.getBlockOutMsgQueueSize mode:# id:tonNode.blockIdExt want_proof:mode.0?true = liteServer.BlockOutMsgQueueSize;',
  LiteServerBlockOutMsgQueueSize,
  TonNodeBlockIdExt,
);
export type LiteServerGetBlockOutMsgQueueSize = TlValue<typeof LiteServerGetBlockOutMsgQueueSize>;

export const LiteServerGetDispatchQueueInfo = tlFunction(
  'liteServer.getDispatchQueueInfo mode:# id:tonNode.blockIdExt after_addr:mode.1?int256 max_accounts:int want_proof:mode.0?true = liteServer.DispatchQueueInfo;',
  LiteServerDispatchQueueInfo,
  TonNodeBlockIdExt,
);
export type LiteServerGetDispatchQueueInfo = TlValue<typeof LiteServerGetDispatchQueueInfo>;

export const LiteServerGetDispatchQueueMessages = tlFunction(
  'liteServer.getDispatchQueueMessages mode:# id:tonNode.blockIdExt addr:int256 after_lt:long max_messages:int want_proof:mode.0?true one_account:mode.1?true messages_boc:mode.2?true = liteServer.DispatchQueueMessages;',
  LiteServerDispatchQueueMessages,
  TonNodeBlockIdExt,
);
export type LiteServerGetDispatchQueueMessages = TlValue<typeof LiteServerGetDispatchQueueMessages>;

export const LiteServerNonfinalGetPendingShardBlocks = tlFunction(
  'liteServer.nonfinal.getPendingShardBlocks mode:# wc:mode.0?int shard:mode.0?long = liteServer.nonfinal.PendingShardBlocks;',
  LiteServerNonfinalPendingShardBlocks,
);
export type LiteServerNonfinalGetPendingShardBlocks = TlValue<typeof LiteServerNonfinalGetPendingShardBlocks>;

export const LiteServerQueryPrefix = tlRecord('liteServer.queryPrefix = Object;');
export type LiteServerQueryPrefix = TlValue<typeof LiteServerQueryPrefix>;

export const LiteServerQuery = tlRecord('liteServer.query data:bytes = Object;');
export type LiteServerQuery = TlValue<typeof LiteServerQuery>;

export const LiteServerWaitMasterchainSeqno = tlRecord(
  'liteServer.waitMasterchainSeqno seqno:int timeout_ms:int = Object;',
);
export type LiteServerWaitMasterchainSeqno = TlValue<typeof LiteServerWaitMasterchainSeqno>;

/** All functions with a result type. */
export const liteServerFunctions = [
  LiteServerGetMasterchainInfo,
  LiteServerGetMasterchainInfoExt,
  LiteServerGetTime,
  LiteServerGetVersion,
  LiteServerGetBlock,
  LiteServerGetState,
  LiteServerGetBlockHeader,
  LiteServerSendMessage,
  LiteServerGetAccountState,
  LiteServerGetAccountStatePrunned,
  LiteServerRunSmcMethod,
  LiteServerGetShardInfo,
  LiteServerGetAllShardsInfo,
  LiteServerGetOneTransaction,
  LiteServerGetTransactions,
  LiteServerLookupBlock,
  LiteServerLookupBlockWithProof,
  LiteServerListBlockTransactions,
  LiteServerListBlockTransactionsExt,
  LiteServerGetBlockProof,
  LiteServerGetConfigAll,
  LiteServerGetConfigParams,
  LiteServerGetValidatorStats,
  LiteServerGetLibraries,
  LiteServerGetLibrariesWithProof,
  LiteServerGetShardBlockProof,
  LiteServerGetOutMsgQueueSizes,
  LiteServerGetBlockOutMsgQueueSize,
  LiteServerGetDispatchQueueInfo,
  LiteServerGetDispatchQueueMessages,
  LiteServerNonfinalGetPendingShardBlocks,
] as const;
