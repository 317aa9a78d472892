import type { DnsRecords } from '#domain/contracts/dns-records.js';
import type { TokenData } from '#domain/contracts/token-data.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import type { ReadAt } from '#services/chain/read-context.js';

/** Where a get method ran: here, on proven state, or on a liteserver, whose word it is. */
export type RanOn = 'local' | 'node';

/** What a get method gave. A contract that throws is a result, too. */
export interface GetMethodRead {
  readonly exit_code: number;
  /** 0 when a node ran it: nodes do not say. */
  readonly gas_used: number;
  /** The last result on top. */
  readonly stack: VmStack;
  /** The masterchain block whose state was used. */
  readonly block: BlockId;
  /** Of the account, in that state. */
  readonly last_transaction: TransactionRef | null;
  readonly ran_on: RanOn;
  /** Why it did not run here; null when it did. */
  readonly ran_on_reason: string | null;
}

export interface TokenRead {
  readonly block: BlockId;
  /** Null: the account is no jetton and no NFT. */
  readonly token: TokenData | null;
}

/** Fees of a message from outside, nanotons (`query.fees` of tonlib). */
export interface FeeEstimate {
  readonly in_fwd_fee: bigint;
  readonly storage_fee: bigint;
  readonly gas_fee: bigint;
  readonly fwd_fee: bigint;
  /** Why the real fees may differ: the network has newer rules than the emulator. `null`: it has the same. */
  readonly caveat: string | null;
}

/** A message from outside whose cost is asked for. */
export interface FeeRequest {
  readonly address: Address;
  readonly body: Cell;
  readonly init_code: Cell | null;
  readonly init_data: Cell | null;
  /** Every signature counts as right. */
  readonly ignore_chksig: boolean;
}

/** What is wrong with a message that nodes refuse. */
export type SendRefusalReason =
  | 'seqno'
  | 'expired'
  | 'wallet-id'
  | 'signature'
  | 'no-funds'
  | 'not-deployed'
  | 'frozen'
  | 'no-workchain'
  | 'exit-code'
  | 'duplicate'
  | 'busy'
  | 'malformed'
  | 'unknown';

/** Why a node refused a message, in words for who wrote the message. */
export interface SendDiagnosis {
  readonly reason: SendRefusalReason;
  /** One or two sentences: what is wrong and what to do. */
  readonly explanation: string;
}

/** What runs contracts: get methods, tokens, DNS, fees. All on proven state, or it says so. */
export interface ContractReads {
  /** @throws contracts/*, tvm/*, chain/*, lite/* */
  runGetMethod(address: Address, method: string | number, stack: VmStack, options?: ReadAt): Promise<GetMethodRead>;
  /** Jetton master or wallet, NFT collection or item, told by what the contract answers; verified with its master. */
  tokenData(address: Address, options?: ReadAt): Promise<TokenRead>;
  /** Records of a domain as a resolver contract gives them (TEP-81). */
  resolveDns(resolver: Address, name: string, depth: number, options?: ReadAt): Promise<DnsRecords>;
  estimateFee(question: FeeRequest, options?: ReadAt): Promise<FeeEstimate>;
  /** Looks into the account to say why nodes refuse a message; `nodeText` is what one said. */
  explainRefusal(message: Cell, nodeText: string, options?: ReadAt): Promise<SendDiagnosis>;
}
