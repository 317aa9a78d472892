import type { ContractView } from '#domain/contracts/contract-view.js';
import type { DnsRecords } from '#domain/contracts/dns-records.js';
import type { TokenData } from '#domain/contracts/token-data.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import type { ReadAt } from '#services/chain/read-context.js';

/** Where a get method ran: locally on proven state, or on a liteserver, whose result is not proven. */
type RanOn = 'local' | 'node';

/** Result of a get method. An exception of the contract is a result, too. */
export interface GetMethodRead {
  readonly exit_code: number;
  /** 0 when a node ran it, because nodes do not report gas. */
  readonly gas_used: number;
  /** Last result on top. */
  readonly stack: VmStack;
  /** The masterchain block of the state. */
  readonly block: BlockId;
  /** Last transaction of the account in that state. */
  readonly last_transaction: TransactionRef | null;
  readonly ran_on: RanOn;
  /** Why it did not run locally; null when it did. */
  readonly ran_on_reason: string | null;
  /** Milliseconds since the run whose result this is, if it ran out of gas and was not repeated; null when it ran now. */
  readonly remembered_ms: number | null;
}

export interface TokenRead {
  readonly block: BlockId;
  /** Null when the account is neither a jetton nor an NFT contract. */
  readonly token: TokenData | null;
}

/** Fees of an external-in message in nanotons (`query.fees` of tonlib). */
export interface FeeEstimate {
  readonly in_fwd_fee: bigint;
  readonly storage_fee: bigint;
  readonly gas_fee: bigint;
  readonly fwd_fee: bigint;
  /** Why actual fees may differ: the network has newer rules than the emulator. `null` otherwise. */
  readonly caveat: string | null;
}

/** An external-in message whose fees are estimated. */
export interface FeeRequest {
  readonly address: Address;
  readonly body: Cell;
  readonly init_code: Cell | null;
  readonly init_data: Cell | null;
  /** All signature checks succeed. */
  readonly ignore_chksig: boolean;
}

/** Why nodes refuse a message. */
export type SendRefusalReason =
  | 'seqno'
  | 'expired'
  /** Not expired by the clock of this machine, but by that of the network: a local network whose time was moved. */
  | 'network-ahead'
  | 'wallet-id'
  | 'signature'
  | 'no-funds'
  | 'not-deployed'
  | 'frozen'
  | 'no-workchain'
  | 'missing-library'
  | 'exit-code'
  | 'duplicate'
  | 'busy'
  | 'malformed'
  | 'unknown';

/** Diagnosis of a refused message, for the author of the message. */
export interface SendDiagnosis {
  readonly reason: SendRefusalReason;
  /** One or two sentences: the problem and its solution. */
  readonly explanation: string;
}

/** Reads that run contracts: get methods, tokens, DNS, fees. On proven state unless stated otherwise in the result. */
export interface ContractReads {
  /** @throws contracts/*, tvm/*, chain/*, lite/* */
  runGetMethod(address: Address, method: string | number, stack: VmStack, options?: ReadAt): Promise<GetMethodRead>;
  /** Detects jetton master, jetton wallet, NFT collection or NFT item by get methods, verified with the master or collection. */
  tokenData(address: Address, options?: ReadAt): Promise<TokenRead>;
  /** DNS records of a domain from a resolver contract (TEP-81). */
  resolveDns(resolver: Address, name: string, depth: number, options?: ReadAt): Promise<DnsRecords>;
  estimateFee(request: FeeRequest, options?: ReadAt): Promise<FeeEstimate>;
  /** Explains why nodes refuse a message, from the account state and from the error `nodeText` of a node. */
  explainRefusal(message: Cell, nodeText: string, options?: ReadAt): Promise<SendDiagnosis>;
}

/** Contracts after one block, with their get-methods: natively where that is possible. */
export interface ContractViews {
  /** All reads of the view share one deadline. */
  contractsAt(options: ReadAt): ContractView;
}
