/**
 * The members of answers of API v2 and v3 that the pages show, as their OpenAPI documents define them (`openapi/v2.yaml`,
 * `openapi/v3.yaml`). Large integers are decimal texts, hashes base64, addresses raw.
 */

export interface BlockRef {
  readonly workchain: number;
  /** Decimal int64. */
  readonly shard: string;
  readonly seqno: number;
}

export interface BlockId extends BlockRef {
  readonly root_hash: string;
  readonly file_hash: string;
}

export interface Block extends BlockId {
  readonly global_id: number;
  readonly version: number;
  readonly after_merge: boolean;
  readonly before_split: boolean;
  readonly after_split: boolean;
  readonly want_merge: boolean;
  readonly want_split: boolean;
  readonly key_block: boolean;
  readonly gen_utime: string;
  readonly start_lt: string;
  readonly end_lt: string;
  readonly gen_catchain_seqno: number;
  readonly min_ref_mc_seqno: number;
  readonly prev_key_block_seqno: number;
  readonly rand_seed: string;
  readonly created_by: string;
  readonly tx_count: number;
  readonly masterchain_block_ref: BlockRef;
  readonly prev_blocks: readonly BlockRef[];
}

export interface TokenInfo {
  readonly type?: string | null;
  readonly name?: string | null;
  readonly symbol?: string | null;
  readonly description?: string | null;
  readonly image?: string | null;
  readonly nft_index?: string | null;
  readonly is_nsfw?: boolean | null;
  readonly is_scam?: boolean | null;
  readonly extra?: Readonly<Record<string, unknown>> | null;
}

type Metadata = Readonly<
  Record<string, { readonly is_indexed: boolean; readonly token_info?: readonly TokenInfo[] | null }>
>;

type AddressBook = Readonly<
  Record<
    string,
    {
      readonly user_friendly?: string | null;
      readonly domain?: string | null;
      readonly interfaces?: readonly string[] | null;
    }
  >
>;

/** What answers say about the addresses in them. */
export interface AddressFacts {
  readonly address_book?: AddressBook;
  readonly metadata?: Metadata;
}

interface MessageContent {
  readonly hash: string;
  /** BoC, base64. */
  readonly body: string;
  readonly decoded?: Readonly<Record<string, unknown>> | null;
}

export interface Message {
  readonly hash: string;
  readonly hash_norm?: string | null;
  readonly source?: string | null;
  readonly destination?: string | null;
  readonly value?: string | null;
  readonly value_extra_currencies?: Readonly<Record<string, string>> | null;
  readonly fwd_fee?: string | null;
  readonly ihr_fee?: string | null;
  readonly import_fee?: string | null;
  readonly created_lt?: string | null;
  readonly created_at?: string | null;
  readonly opcode?: number | string | null;
  readonly decoded_opcode?: string | null;
  readonly bounce?: boolean | null;
  readonly bounced?: boolean | null;
  readonly in_msg_tx_hash?: string | null;
  readonly out_msg_tx_hash?: string | null;
  readonly message_content?: MessageContent | null;
  readonly init_state?: { readonly hash: string; readonly body: string } | null;
}

interface ComputePhase {
  readonly skipped?: boolean;
  readonly reason?: string;
  readonly success?: boolean;
  readonly account_activated?: boolean;
  readonly gas_fees?: string;
  readonly gas_used?: string;
  readonly gas_limit?: string;
  readonly gas_credit?: string;
  readonly exit_code?: number;
  readonly exit_arg?: number;
  readonly vm_steps?: number;
}

interface ActionPhase {
  readonly success?: boolean;
  readonly valid?: boolean;
  readonly no_funds?: boolean;
  readonly total_fwd_fees?: string | null;
  readonly total_action_fees?: string | null;
  readonly result_code?: number;
  readonly result_arg?: number;
  readonly tot_actions?: number;
  readonly skipped_actions?: number;
  readonly msgs_created?: number;
}

export interface TransactionDescription {
  readonly type: string;
  readonly aborted?: boolean;
  readonly destroyed?: boolean;
  readonly is_tock?: boolean;
  readonly storage_ph?: {
    readonly storage_fees_collected?: string;
    readonly storage_fees_due?: string | null;
    readonly status_change?: string;
  } | null;
  readonly credit_ph?: { readonly due_fees_collected?: string | null; readonly credit?: string } | null;
  readonly compute_ph?: ComputePhase | null;
  readonly action?: ActionPhase | null;
  readonly bounce?: { readonly type: string; readonly msg_fees?: string; readonly fwd_fees?: string } | null;
}

interface StateFacts {
  readonly hash: string;
  readonly balance?: string | null;
  readonly account_status?: string | null;
  readonly code_hash?: string | null;
  readonly data_hash?: string | null;
}

export interface Transaction {
  readonly account: string;
  readonly hash: string;
  readonly lt: string;
  readonly now: number;
  readonly mc_block_seqno?: number | null;
  readonly trace_id?: string | null;
  readonly prev_trans_hash: string;
  readonly prev_trans_lt: string;
  readonly orig_status: string;
  readonly end_status: string;
  readonly total_fees: string;
  readonly description: TransactionDescription;
  readonly block_ref?: BlockRef | null;
  readonly in_msg?: Message | null;
  readonly out_msgs: readonly Message[];
  readonly account_state_before?: StateFacts | null;
  readonly account_state_after?: StateFacts | null;
  readonly emulated?: boolean;
  readonly finality?: string;
}

export interface TraceNode {
  readonly tx_hash: string;
  readonly in_msg_hash?: string | null;
  readonly children: readonly TraceNode[];
}

export interface Action {
  readonly trace_id?: string | null;
  readonly action_id: string;
  readonly start_utime: number;
  readonly end_utime: number;
  readonly start_lt: string;
  readonly end_lt: string;
  readonly transactions: readonly string[];
  readonly success?: boolean | null;
  readonly type: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly accounts?: readonly string[] | null;
  readonly finality?: string;
}

export interface Trace {
  readonly trace_id?: string | null;
  readonly external_hash?: string | null;
  readonly mc_seqno_start: string;
  readonly mc_seqno_end: string;
  readonly start_lt: string;
  readonly start_utime: number;
  readonly end_utime: number;
  readonly trace_info: {
    readonly trace_state: string;
    readonly messages: number;
    readonly transactions: number;
    readonly pending_messages: number;
    readonly classification_state: string;
  };
  readonly is_incomplete: boolean;
  readonly warning?: string | null;
  readonly actions?: readonly Action[] | null;
  readonly trace?: TraceNode | null;
  readonly transactions_order?: readonly string[] | null;
  readonly transactions?: Readonly<Record<string, Transaction>> | null;
}

export interface TracesAnswer extends AddressFacts {
  readonly traces: readonly Trace[];
}

export interface ActionsAnswer extends AddressFacts {
  readonly actions: readonly Action[];
}

export interface TransactionsAnswer extends AddressFacts {
  readonly transactions: readonly Transaction[];
}

export interface BlocksAnswer {
  readonly blocks: readonly Block[];
}

export interface AccountState {
  readonly address: string;
  readonly account_state_hash: string;
  readonly balance: string;
  readonly extra_currencies?: Readonly<Record<string, string>> | null;
  readonly status: string;
  readonly frozen_hash?: string | null;
  readonly last_transaction_hash: string;
  readonly last_transaction_lt: string;
  readonly data_hash?: string | null;
  readonly code_hash?: string | null;
  readonly data_boc?: string | null;
  readonly code_boc?: string | null;
  readonly contract_methods?: readonly number[] | null;
  readonly interfaces?: readonly string[] | null;
}

export interface AccountStatesAnswer extends AddressFacts {
  readonly accounts: readonly AccountState[];
}

/** API v2 `getAddressInformation`: read with a proof, at the block that it names. */
export interface ProvenAccount {
  readonly balance: string;
  readonly code: string;
  readonly data: string;
  readonly state: string;
  readonly frozen_hash: string;
  readonly sync_utime: number;
  readonly block_id: BlockId;
  readonly last_transaction_id: { readonly lt: string; readonly hash: string };
}

/** API v2 `getMasterchainInfo`. */
export interface MasterchainInfo {
  readonly last: BlockId;
  readonly init: BlockId;
}

/** `/readyz` */
export interface Readiness {
  readonly ready: boolean;
  readonly problem: string | null;
  readonly version: string;
  readonly networks: Readonly<
    Record<
      string,
      {
        readonly ready: boolean;
        readonly problem: string | null;
        readonly head_seqno: number;
        readonly head_age_ms: number | null;
        readonly details?: Readonly<Record<string, string | number | boolean | null>>;
      }
    >
  >;
}

/** `/localnet/status` */
export interface LocalStatus {
  readonly chain: string;
  readonly head: BlockId;
  readonly gen_utime: number;
  readonly now: number;
  readonly time_offset: number;
  readonly block_time: number;
  readonly paused: boolean;
  readonly waiting_messages: number;
  readonly shards: readonly BlockId[];
  readonly fork: { readonly source: string; readonly block: BlockId } | null;
}
