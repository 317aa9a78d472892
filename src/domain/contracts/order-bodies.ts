import type { Address } from '#formats/address/address.js';

/*
 * What messages of multisig orders say, by the name of their type, with the published names of their fields. Amounts are in
 * nanotons or units of the jetton; addresses are null for `addr_none` and addresses outside of the chain; bytes are bags of
 * cells with a checksum.
 */

/** `transfer#5fcc3d14` (TEP-62) */
export interface NftTransferBody {
  readonly query_id: bigint;
  readonly new_owner: Address | null;
  readonly response_destination: Address | null;
  readonly custom_payload: Uint8Array | null;
  readonly forward_amount: bigint;
  readonly forward_payload: Uint8Array;
}

/** Coins, with a text or without. */
export interface TonTransferMessage {
  /** Base64 of the bytes when it is encrypted. */
  readonly comment: string;
  readonly encrypted: boolean;
}

/** `top_up#d372158c`, and `claim_admin#fb88e119`, of governed jettons */
export interface QueryBody {
  readonly query_id: bigint;
}

/** `change_admin#6501f354` */
export interface JettonChangeAdminBody {
  readonly query_id: bigint;
  readonly new_admin_address: Address | null;
}

/** `change_metadata_uri#cb862902` */
export interface JettonChangeContentBody {
  readonly query_id: bigint;
  readonly new_metadata_url: string;
}

/** What a jetton wallet is told by its master. */
export type JettonCallType = '' | 'JettonSetStatus' | 'JettonTransfer' | 'JettonBurn' | 'Unknown';

/** `call_to#235caf52` */
export interface JettonCallToBody {
  readonly query_id: bigint;
  /** The owner of the wallet. */
  readonly to_address: Address | null;
  readonly ton_amount: bigint;
  readonly action_type: JettonCallType;
  readonly action_data: Uint8Array;
}

/** `set_status#eed236d3` */
export interface JettonSetStatusBody {
  readonly query_id: bigint;
  readonly new_status: number;
}

/** What is forwarded with jettons; '': nothing. */
export type ForwardPayloadType = '' | 'TextComment' | 'EncryptedTextComment' | 'StonfiSwap' | 'Unknown';

/** `swap#25938561` of STON.fi, version 1 */
export interface StonfiSwapBody {
  /** The router's wallet of the jetton that is asked for. */
  readonly jetton_wallet: Address | null;
  readonly min_amount: bigint;
  readonly user_address: Address | null;
}

/** `transfer#0f8a7ea5` (TEP-74) */
export interface JettonTransferBody {
  readonly query_id: bigint;
  readonly amount: bigint;
  readonly destination: Address | null;
  readonly response: Address | null;
  readonly custom_payload: Uint8Array | null;
  readonly forward_amount: bigint;
  /** Base64 of the bytes when it is encrypted. */
  readonly comment: string;
  readonly encrypted_comment: boolean;
  readonly forward_payload: Uint8Array;
  readonly payload_sum_type: ForwardPayloadType;
  readonly stonfi_swap_body: StonfiSwapBody | null;
}

/** `burn#595f07bc` (TEP-74) */
export interface JettonBurnBody {
  readonly query_id: bigint;
  readonly amount: bigint;
  readonly response_destination: Address | null;
}

/** `mint#642b7d07` of governed jettons, `mint#00000015` of others */
export interface JettonMinterBody {
  readonly opcode: number;
  readonly query_id: bigint;
  readonly to_address: Address | null;
  readonly ton_amount: bigint;
  readonly master_msg_query_id: bigint;
  readonly master_msg_jetton_amount: bigint;
}

/** `withdraw#00001000` */
export interface SingleNominatorWithdrawBody {
  readonly query_id: bigint;
  readonly coins: bigint;
}

/** `change_validator#00001001` */
export interface SingleNominatorChangeValidatorBody {
  readonly query_id: bigint;
  readonly validator_address: Address | null;
}

/** `send#a7733acd` of a wallet with vesting */
export interface VestingInternalTransferBody {
  readonly query_id: bigint;
  readonly send_mode: number;
  readonly destination: Address | null;
  readonly value: bigint | null;
  readonly message_body: Uint8Array;
  readonly comment: string;
}

/** `update_multisig_params#1d0cfbd3`: no message, but an action of the multisig itself. */
export interface MultisigUpdateParamsBody {
  readonly new_threshold: number;
  readonly new_signers: readonly Address[];
  /** Null: nobody. */
  readonly new_proposers: readonly Address[] | null;
}

/** Of no type that is known, or of another form than its type. */
export interface UnknownMessage {
  /** 0: it has none. */
  readonly opcode: number;
  readonly data: Uint8Array;
}

/** Each type of what an order says, with what it says. */
export interface OrderBodies {
  readonly nft_transfer: NftTransferBody;
  readonly ton_transfer: TonTransferMessage;
  readonly jetton_top_up: QueryBody;
  readonly jetton_change_admin: JettonChangeAdminBody;
  readonly jetton_claim_admin: QueryBody;
  readonly jetton_change_content: JettonChangeContentBody;
  readonly jetton_call_to: JettonCallToBody;
  readonly jetton_set_status: JettonSetStatusBody;
  readonly jetton_transfer: JettonTransferBody;
  readonly jetton_burn: JettonBurnBody;
  readonly jetton_mint: JettonMinterBody;
  readonly single_nominator_withdraw: SingleNominatorWithdrawBody;
  readonly single_nominator_change_validator: SingleNominatorChangeValidatorBody;
  readonly vesting_internal_transfer: VestingInternalTransferBody;
  readonly multisig_update_params: MultisigUpdateParamsBody;
  readonly unknown: UnknownMessage;
}
export type OrderBodyType = keyof OrderBodies;

/** What an order says, of one type. */
export type OrderBody = {
  readonly [Type in OrderBodyType]: { readonly parsed_body_type: Type; readonly parsed_body: OrderBodies[Type] };
}[OrderBodyType];
