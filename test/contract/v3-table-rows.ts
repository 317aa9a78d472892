import { boolean, type Columns, currencies, type Json, shardNumber, text } from '#test/contract/v3-columns.js';

/** `blocks` of the reference index, from a block as the API answers it. */
export function blockColumns(block: Json): Columns {
  const previous = block.prev_blocks.map(
    ({ workchain, shard, seqno }: Json) => `"(${workchain},${shardNumber(shard)},${seqno})"`,
  );
  const { workchain: mc_block_workchain, shard, seqno: mc_block_seqno } = block.masterchain_block_ref;
  const flags = ['after_merge', 'before_split', 'after_split', 'want_merge', 'want_split', 'key_block'];
  const same = ['workchain', 'seqno', 'root_hash', 'file_hash', 'global_id', 'version', 'flags', 'gen_utime'];
  const more = ['start_lt', 'end_lt', 'validator_list_hash_short', 'gen_catchain_seqno', 'min_ref_mc_seqno'];
  const last = ['prev_key_block_seqno', 'vert_seqno', 'master_ref_seqno', 'rand_seed', 'created_by', 'tx_count'];
  return {
    ...Object.fromEntries([...same, ...more, ...last].map((name) => [name, text(block[name])])),
    ...Object.fromEntries([...flags, 'vert_seqno_incr'].map((name) => [name, boolean(block[name])])),
    shard: shardNumber(block.shard),
    mc_block_workchain: text(mc_block_workchain),
    mc_block_shard: shardNumber(shard),
    mc_block_seqno: text(mc_block_seqno),
    prev_blocks: `{${previous.join(',')}}`,
  };
}

/** `transactions` of the reference index. */
export function transactionColumns(transaction: Json): Columns {
  const { description, block_ref } = transaction;
  const same = ['account', 'hash', 'lt', 'trace_id', 'prev_trans_hash', 'prev_trans_lt', 'now', 'orig_status'];
  return {
    ...Object.fromEntries([...same, 'end_status', 'total_fees'].map((name) => [name, text(transaction[name])])),
    block_workchain: text(block_ref.workchain),
    block_shard: shardNumber(block_ref.shard),
    block_seqno: text(block_ref.seqno),
    mc_block_seqno: text(transaction.mc_block_seqno),
    total_fees_extra_currencies: currencies(transaction.total_fees_extra_currencies),
    account_state_hash_before: transaction.account_state_before.hash,
    account_state_hash_after: transaction.account_state_after.hash,
    descr: description.type,
    ...phaseColumns(description),
  };
}

function phaseColumns(description: Json): Columns {
  const {
    storage_ph: storage,
    credit_ph: credit,
    compute_ph: compute,
    action,
    bounce,
    split_info: split,
  } = description;
  return {
    aborted: boolean(description.aborted),
    destroyed: boolean(description.destroyed),
    credit_first: boolean(description.credit_first),
    is_tock: boolean(description.is_tock),
    installed: boolean(description.installed),
    storage_fees_collected: text(storage?.storage_fees_collected),
    storage_fees_due: text(storage?.storage_fees_due),
    storage_status_change: text(storage?.status_change),
    credit_due_fees_collected: text(credit?.due_fees_collected),
    credit: text(credit?.credit),
    credit_extra_currencies: credit === undefined ? '' : currencies(credit.credit_extra_currencies ?? {}),
    compute_skipped: boolean(compute?.skipped),
    skipped_reason: text(compute?.reason),
    ...prefixed('compute_', compute, {
      booleans: ['success', 'msg_state_used', 'account_activated'],
      texts: ['gas_fees', 'gas_used', 'gas_limit', 'gas_credit', 'mode', 'exit_code', 'exit_arg', 'vm_steps'],
    }),
    ...prefixed('compute_', compute, { booleans: [], texts: ['vm_init_state_hash', 'vm_final_state_hash'] }),
    ...prefixed('action_', action, {
      booleans: ['success', 'valid', 'no_funds'],
      texts: ['status_change', 'total_fwd_fees', 'total_action_fees', 'result_code', 'result_arg', 'tot_actions'],
    }),
    ...prefixed('action_', action, {
      booleans: [],
      texts: ['spec_actions', 'skipped_actions', 'msgs_created', 'action_list_hash'],
    }),
    action_action_list_hash: text(action?.action_list_hash),
    action_tot_msg_size_cells: text(action?.tot_msg_size.cells),
    action_tot_msg_size_bits: text(action?.tot_msg_size.bits),
    bounce: text(bounce?.type),
    bounce_msg_size_cells: text(bounce?.msg_size?.cells),
    bounce_msg_size_bits: text(bounce?.msg_size?.bits),
    ...prefixed('bounce_', bounce, { booleans: [], texts: ['req_fwd_fees', 'msg_fees', 'fwd_fees'] }),
    split_info_cur_shard_pfx_len: text(split?.cur_shard_pfx_len),
    split_info_acc_split_depth: text(split?.acc_split_depth),
    split_info_this_addr: text(split?.this_addr),
    split_info_sibling_addr: text(split?.sibling_addr),
  };
}

function prefixed(
  prefix: string,
  values: Json | undefined,
  names: { readonly booleans: readonly string[]; readonly texts: readonly string[] },
): Columns {
  return Object.fromEntries([
    ...names.booleans.map((name) => [prefix + name, boolean(values?.[name])]),
    ...names.texts.map((name) => [prefix + name, text(values?.[name])]),
  ]);
}

/** `messages` of the reference index: one row for each side of a message. */
export function* messageColumns(transaction: Json): Generator<Columns> {
  const { in_msg, out_msgs } = transaction;
  if (in_msg !== null) yield messageRow(transaction, in_msg, 'in');
  for (const message of out_msgs) yield messageRow(transaction, message, 'out');
}

function messageRow(transaction: Json, message: Json, direction: string): Columns {
  const same = ['source', 'destination', 'value', 'fwd_fee', 'ihr_fee', 'extra_flags', 'created_lt', 'created_at'];
  return {
    ...Object.fromEntries([...same, 'import_fee'].map((name) => [name, text(message[name])])),
    ...Object.fromEntries(['ihr_disabled', 'bounce', 'bounced'].map((name) => [name, boolean(message[name])])),
    tx_hash: transaction.hash,
    tx_lt: transaction.lt,
    mc_seqno: text(transaction.mc_block_seqno),
    msg_hash: message.hash,
    msg_hash_norm: text(message.hash_norm),
    direction,
    trace_id: transaction.trace_id,
    value_extra_currencies: message.value === null ? '' : currencies(message.value_extra_currencies),
    opcode: message.opcode === null ? '' : String(Number.parseInt(message.opcode, 16) | 0),
    body_hash: message.message_content.hash,
    init_state_hash: text(message.init_state?.hash),
  };
}

/** `account_states` of the reference index, from a state before or after a transaction. */
export function stateColumns(account: string, state: Json): Columns {
  return {
    ...Object.fromEntries(
      ['hash', 'balance', 'frozen_hash', 'data_hash', 'code_hash'].map((name) => [name, text(state[name])]),
    ),
    account,
    account_status: text(state.account_status),
    balance_extra_currencies: currencies(state.extra_currencies ?? {}),
  };
}

/** `latest_account_states` of the reference index. @param timestamp of the last transaction */
export function latestColumns(account: Json, timestamp: number | undefined): Columns {
  return {
    ...Object.fromEntries(
      ['balance', 'frozen_hash', 'data_hash', 'code_hash', 'data_boc', 'code_boc'].map((name) => [
        name,
        text(account[name]),
      ]),
    ),
    account: account.address,
    hash: account.account_state_hash,
    timestamp: text(timestamp),
    account_status: account.status,
    balance_extra_currencies: currencies(account.extra_currencies),
    last_trans_hash: account.last_transaction_hash,
    last_trans_lt: account.last_transaction_lt,
  };
}

/** `traces` of the reference index. */
export function traceColumns(trace: Json): Columns {
  const same = ['trace_id', 'external_hash', 'mc_seqno_start', 'mc_seqno_end', 'start_lt', 'start_utime', 'end_lt'];
  const { trace_info: info } = trace;
  return {
    ...Object.fromEntries([...same, 'end_utime'].map((name) => [name, text(trace[name])])),
    external_hash_norm: text(trace.transactions[trace.trace_id].in_msg?.hash_norm),
    state: info.trace_state,
    pending_edges_: text(info.pending_messages),
    edges_: text(info.messages),
    nodes_: text(info.transactions),
    classification_state: info.classification_state,
  };
}
