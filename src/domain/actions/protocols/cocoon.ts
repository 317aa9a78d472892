import {
  actionType,
  addressField,
  amountField,
  flagField,
  hexField,
  integerField,
  textField,
} from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { call, callOf, meaning, optionally, pattern } from '#domain/actions/pattern.js';
import type { Slice } from '#formats/cells/slice.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { accountOf, MsgAddress } from '#formats/tlb/msg-address.js';
import { toHex } from '#kernel/bytes.js';

/* Cocoon: a market of computation. Clients pay proxies, and proxies pay workers, from contracts that these share. */

const EXCESS = 0x2565934c;
const PAYOUT = 0xc59a7cd3;
const WALLET_CALL = 0x9c69f376;

const WorkerPayout = layout('payout#a040ad28 query_id:uint64 new_tokens:uint64');
const WorkerLastPayout = layout('last_payout#f5f26a36 query_id:uint64 new_tokens:uint64');
const WorkerRequest = layout(
  'worker_proxy_request#4d725d2c query_id:uint64 owner_address:MsgAddress state:uint2 tokens:uint64 payload:(Maybe ^Cell)',
);
const ProxyPayout = layout('ext_proxy_payout_request#7610e6eb query_id:uint64 send_excesses_to:MsgAddress');
const Charge = layout('charge#bb63ff93 query_id:uint64 new_tokens_used:uint64 expected_my_address:Any');
const GrantRefund = layout('grant_refund#efd711e1 query_id:uint64 new_tokens_used:uint64 expected_my_address:Any');
const ClientRequest = layout(
  'client_proxy_request#65448ff4 query_id:uint64 owner_address:MsgAddress state_data:^Cell payload:(Maybe ^Cell)',
);
const RefundGranted = layout('client_proxy_refund_granted#c68ebc7b coins:Coins');
const TopUp = layout('ext_client_top_up#f172e6c2 query_id:uint64 top_up_amount:Coins send_excesses_to:MsgAddress');
const RegisterProxy = layout('register_proxy#927c7cb5 query_id:uint64');
const UnregisterProxy = layout('unregister_proxy#6d49eaf2 query_id:uint64 seqno:uint32');
const ClientRegister = layout('owner_client_register#c45f9f3b query_id:uint64 nonce:uint64');
const ChangeSecretHash = layout('owner_client_change_secret_hash#a9357034 query_id:uint64 new_secret_hash:bits256');
const IncreaseStake = layout('owner_client_increase_stake#6a1f6a60 query_id:uint64 new_stake:Coins');
const RequestRefund = layout('owner_client_request_refund#fafa6cc1 query_id:uint64');
const Withdraw = layout('owner_client_withdraw#da068e78 query_id:uint64');

const queryId = amountField('Chosen by the sender.');
const client = addressField('Contract of the client.', 'destination');
const owner = addressField('Owner of the client.', 'source');

export const cocoonWorkerPayoutType = actionType('cocoon_worker_payout', 'A worker was paid for its work.', {
  payout_type: textField('Whether the worker goes on.', ['regular', 'last']),
  query_id: queryId,
  new_tokens: amountField('Tokens that the worker has done, as the proxy says.'),
  worker_state: integerField('State of the contract of the worker.'),
  worker_tokens: amountField('Tokens that are paid.'),
  source: addressField('The proxy.', 'source'),
  destination: addressField('Owner of the worker.', 'destination'),
  amount: amountField('Nanotons.', 'amount'),
});

const workerSettlement = {
  next: { request: call(WorkerRequest, { next: { payout: callOf(PAYOUT), excess: optionally(callOf(EXCESS)) } }) },
} as const;

interface WorkerCall {
  readonly block: ActionBlock;
  readonly data: { readonly query_id: bigint; readonly new_tokens: bigint };
  readonly request: {
    readonly block: ActionBlock;
    readonly data: { readonly state: bigint | number; readonly tokens: bigint };
    readonly payout: { readonly block: ActionBlock };
  };
}

function workerPayout(payout_type: string, { block, data, request }: WorkerCall) {
  const { payout } = request;
  const details = {
    payout_type,
    query_id: data.query_id,
    new_tokens: data.new_tokens,
    worker_state: Number(request.data.state),
    worker_tokens: request.data.tokens,
    source: block.source,
    destination: payout.block.destination,
    amount: payout.block.value,
  };
  return meaning(cocoonWorkerPayoutType, details, { failed: block.aborted, parties: [block.destination] });
}

export const cocoonWorkerPayout = pattern('cocoon_worker_payout', call(WorkerPayout, workerSettlement), (match) =>
  workerPayout('regular', match),
);

export const cocoonWorkerLastPayout = pattern(
  'cocoon_worker_last_payout',
  call(WorkerLastPayout, workerSettlement),
  (match) => ({ ...workerPayout('last', match), kind: 'cocoon_worker_payout' }),
  { kinds: ['cocoon_worker_payout'] },
);

export const cocoonProxyPayoutType = actionType('cocoon_proxy_payout', 'The owner of a proxy was paid.', {
  query_id: queryId,
  source: addressField('The proxy.', 'source'),
  destination: addressField('Its owner.', 'destination'),
});

export const cocoonProxyPayout = pattern(
  'cocoon_proxy_payout',
  call(ProxyPayout, { next: { payout: callOf(PAYOUT), excess: optionally(callOf(EXCESS)) } }),
  ({ block, data, payout, excess }) => {
    const details = { query_id: data.query_id, source: block.destination, destination: payout.block.destination };
    const parties = [excess?.block.destination ?? data.send_excesses_to];
    return meaning(cocoonProxyPayoutType, details, { failed: block.aborted, parties });
  },
);

/** An address as text; of an external one the number of its bits and the bits. */
function expectedAddress(rest: Slice): string | null {
  const found = MsgAddress.load(rest);
  const account = accountOf(found);
  if (account !== null) return account.toRaw().toUpperCase();
  if (found === null || !('kind' in found) || found.kind !== 'addr_extern') return null;
  const { bytes, length } = found.external_address;
  return `${length};${toHex(bytes).slice(0, Math.ceil(length / 4))}`;
}

export const cocoonProxyChargeType = actionType('cocoon_proxy_charge', 'A proxy charged a client.', {
  query_id: queryId,
  new_tokens_used: amountField('Tokens that the client has used, as the proxy says.'),
  expected_address: textField(
    'Address of the client, as the proxy says; the number of bits and the bits when it is external.',
  ),
  source: addressField('The proxy.', 'source'),
  destination: client,
});

export const cocoonProxyCharge = pattern(
  'cocoon_proxy_charge',
  call(Charge, { next: { request: call(ClientRequest), excess: callOf(EXCESS) } }),
  ({ block, data, request }) => {
    const details = {
      query_id: data.query_id,
      new_tokens_used: data.new_tokens_used,
      expected_address: expectedAddress(data.expected_my_address),
      source: block.destination,
      destination: request.block.destination,
    };
    return meaning(cocoonProxyChargeType, details, { failed: block.aborted });
  },
);

export const cocoonClientTopUpType = actionType('cocoon_client_top_up', 'The balance of a client was increased.', {
  query_id: queryId,
  source: addressField('Who paid.', 'source'),
  destination: client,
  amount: amountField('Nanotons.', 'amount'),
});

export const cocoonClientTopUp = pattern(
  'cocoon_client_top_up',
  call(TopUp, { next: { request: call(ClientRequest, { next: { excess: callOf(EXCESS) } }) } }),
  ({ block, data, request }) => {
    const details = {
      query_id: data.query_id,
      source: block.source,
      destination: block.destination,
      amount: data.top_up_amount,
    };
    return meaning(cocoonClientTopUpType, details, { failed: block.aborted, parties: [request.block.destination] });
  },
);

const root = addressField('Root contract.', 'destination');

export const cocoonRegisterProxyType = actionType('cocoon_register_proxy', 'A proxy was registered.', {
  query_id: queryId,
  destination: root,
});

export const cocoonRegisterProxy = pattern(
  'cocoon_register_proxy',
  call(RegisterProxy, { next: { excess: callOf(EXCESS) } }),
  ({ block, data }) => {
    const details = { query_id: data.query_id, destination: block.destination };
    return meaning(cocoonRegisterProxyType, details, { failed: block.aborted });
  },
);

export const cocoonUnregisterProxyType = actionType('cocoon_unregister_proxy', 'A proxy was removed.', {
  query_id: queryId,
  seqno: integerField('Number of the proxy.'),
  destination: root,
});

export const cocoonUnregisterProxy = pattern(
  'cocoon_unregister_proxy',
  call(UnregisterProxy, { next: { excess: callOf(EXCESS) } }),
  ({ block, data }) => {
    const details = { query_id: data.query_id, seqno: data.seqno, destination: block.destination };
    return meaning(cocoonUnregisterProxyType, details, { failed: block.aborted });
  },
);

/** A client reports to its proxy what its owner changed, and returns the rest. */
const informed = { next: { request: call(ClientRequest), excess: callOf(EXCESS) } } as const;

export const cocoonClientRegisterType = actionType('cocoon_client_register', 'A client registered with its proxy.', {
  query_id: queryId,
  nonce: amountField('Chosen by the owner.'),
  source: owner,
  destination: client,
});

export const cocoonClientRegister = pattern(
  'cocoon_client_register',
  call(ClientRegister, informed),
  ({ block, data }) => {
    const details = {
      query_id: data.query_id,
      nonce: data.nonce,
      source: block.source,
      destination: block.destination,
    };
    return meaning(cocoonClientRegisterType, details, { failed: block.aborted });
  },
);

export const cocoonClientChangeSecretHashType = actionType(
  'cocoon_client_change_secret_hash',
  'The owner of a client changed the hash of its secret.',
  { query_id: queryId, new_secret_hash: hexField('The hash.'), source: owner, destination: client },
);

export const cocoonClientChangeSecretHash = pattern(
  'cocoon_client_change_secret_hash',
  call(ChangeSecretHash, informed),
  ({ block, data }) => {
    const { query_id, new_secret_hash } = data;
    const details = { query_id, new_secret_hash, source: block.source, destination: block.destination };
    return meaning(cocoonClientChangeSecretHashType, details, { failed: block.aborted });
  },
);

export const cocoonClientRequestRefundType = actionType(
  'cocoon_client_request_refund',
  'The owner of a client asked for the rest of its balance.',
  {
    query_id: queryId,
    via_wallet: flagField('Whether a wallet contract of Cocoon passed it on.'),
    source: owner,
    destination: client,
  },
);

export const cocoonClientRequestRefund = pattern(
  'cocoon_client_request_refund',
  call(RequestRefund, { before: optionally(callOf(WALLET_CALL)), ...informed }),
  ({ block, data, before }) => {
    const via_wallet = before !== null;
    const details = { query_id: data.query_id, via_wallet, source: block.source, destination: block.destination };
    return meaning(cocoonClientRequestRefundType, details, { failed: block.aborted });
  },
);

export const cocoonGrantRefundType = actionType(
  'cocoon_grant_refund',
  'A proxy returned the rest of the balance of a client.',
  {
    query_id: queryId,
    new_tokens_used: amountField('Tokens that the client has used, as the proxy says.'),
    expected_address: textField(
      'Address of the client, as the proxy says; the number of bits and the bits when it is external.',
    ),
    source: addressField('The contract of the client.', 'source'),
    destination: addressField('Who received it.', 'destination'),
    amount: amountField('Nanotons.', 'amount'),
  },
);

export const cocoonGrantRefund = pattern(
  'cocoon_grant_refund',
  call(GrantRefund, {
    next: { request: call(ClientRequest, { next: { payout: callOf(PAYOUT), excess: callOf(EXCESS) } }) },
  }),
  ({ block, data, request }) => {
    const details = {
      query_id: data.query_id,
      new_tokens_used: data.new_tokens_used,
      expected_address: expectedAddress(data.expected_my_address),
      source: block.destination,
      destination: request.payout.block.destination,
      amount: request.payout.block.value,
    };
    return meaning(cocoonGrantRefundType, details, { failed: block.aborted, parties: [request.block.destination] });
  },
);

export const cocoonClientIncreaseStakeType = actionType(
  'cocoon_client_increase_stake',
  'The stake of a client was increased.',
  {
    query_id: queryId,
    new_stake: amountField('Nanotons.'),
    source: owner,
    destination: client,
    amount: amountField('Nanotons.', 'amount'),
  },
);

export const cocoonClientIncreaseStake = pattern(
  'cocoon_client_increase_stake',
  call(IncreaseStake, informed),
  ({ block, data }) => {
    const { query_id, new_stake } = data;
    const details = { query_id, new_stake, source: block.source, destination: block.destination, amount: new_stake };
    return meaning(cocoonClientIncreaseStakeType, details, { failed: block.aborted });
  },
);

export const cocoonClientWithdrawType = actionType(
  'cocoon_client_withdraw',
  'The owner of a client withdrew from its balance.',
  {
    query_id: queryId,
    withdraw_amount: amountField('Nanotons that the client asked for.'),
    source: owner,
    destination: client,
    amount: amountField('Nanotons.', 'amount'),
  },
);

export const cocoonClientWithdraw = pattern(
  'cocoon_client_withdraw',
  call(Withdraw, {
    next: { request: call(ClientRequest, { next: { payout: callOf(PAYOUT), excess: optionally(callOf(EXCESS)) } }) },
  }),
  ({ block, data, request }, context) => {
    const { payload } = request.data;
    if (payload === null) return context.refuse('the request names no amount');
    const { coins } = context.read(RefundGranted, payload);
    const details = {
      query_id: data.query_id,
      withdraw_amount: coins,
      source: block.source,
      destination: block.destination,
      amount: coins,
    };
    return meaning(cocoonClientWithdrawType, details, { failed: block.aborted });
  },
);
