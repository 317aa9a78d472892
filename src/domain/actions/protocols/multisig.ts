import {
  actionType,
  addressField,
  amountField,
  bareBocField,
  base64Field,
  flagField,
  integerField,
} from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { anyOf, call, callOf, coinTransfer, type MatchContext, meaning, pattern } from '#domain/actions/pattern.js';
import type { Address } from '#formats/address/address.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* Multisig wallets, version 2. */

const NewOrder = layout(
  'new_order#f718510f query_id:uint64 order_seqno:uint256 is_signer:Bool addr_idx:uint8 expiration_date:uint48 order:^Cell',
);
const InitOrder = layout(
  'init_order#9c73fba2 query_id:uint64 threshold:uint8 signers:(Maybe ^Cell) expiration_date:uint48 order:^Cell approve_on_init:Bool',
);
const Approve = layout('approve#a762230f query_id:uint64 signer_index:uint8');
const APPROVE_ACCEPTED = 0x82609bf6;
const Rejected = layout('approve_rejected#afaf283e query_id:uint64 exit_code:uint32');
const Execute = layout(
  'execute#75097f5d query_id:uint64 order_seqno:uint256 expiration_date:uint48 approvals_num:uint8 signers_hash:bits256 order:^Cell',
);

export const multisigCreateOrderType = actionType(
  'multisig_create_order',
  'An order of a multisig wallet was created.',
  {
    query_id: amountField('Chosen by the sender.'),
    order_seqno: amountField('Number of the order.'),
    is_created_by_signer: flagField('Whether the creator may sign; else only propose.'),
    is_signed_by_creator: flagField('Whether the creator signed it at once.'),
    creator_index: integerField('Index of the creator among the signers or proposers.'),
    expiration_date: integerField('Unix time in seconds.'),
    order_boc: bareBocField('What is to be done.'),
    source: addressField('The creator.', 'source'),
    destination: addressField('The multisig wallet.', 'destination'),
    destination_order: addressField('The order.', 'destination_secondary'),
  },
);

export const multisigCreateOrder = pattern(
  'multisig_create_order',
  call(NewOrder, { next: { init: call(InitOrder, { to: 'multisig_order' }) } }),
  ({ block, data, init }, context) => {
    const details = {
      query_id: data.query_id,
      order_seqno: data.order_seqno,
      is_created_by_signer: data.is_signer,
      is_signed_by_creator: init.data.approve_on_init,
      creator_index: data.addr_idx,
      expiration_date: Number(data.expiration_date),
      order_boc: data.order,
      source: block.source,
      destination: block.destination,
      destination_order: init.block.destination,
    };
    return meaning(multisigCreateOrderType, details, {
      failed: block.failed || init.block.failed,
      parties: signersOf(init.block.destination, context),
    });
  },
);

/** All signers take part in an order. */
function signersOf(order: Address | null, context: MatchContext): readonly Address[] {
  return context.fact(order, 'multisig_order')?.signers ?? [];
}

export const multisigApproveType = actionType('multisig_approve', 'A signer approved an order of a multisig wallet.', {
  signer_index: integerField('Index of the signer; -1 when approved by a comment.'),
  exit_code: integerField('Why the order refused; 0 when it accepted.'),
  source: addressField('The signer.', 'source'),
  destination: addressField('The order.', 'destination'),
});

const reply = anyOf(callOf(APPROVE_ACCEPTED), call(Rejected));

export const multisigApprove = pattern(
  'multisig_approve',
  call(Approve, { to: 'multisig_order', next: { reply } }),
  ({ block, data, reply: answer }, context) => approval(block, data.signer_index, answer, context),
);

/** Pseudo index of signers that approve by a comment. */
const BY_COMMENT = -1;

export const multisigApproveByComment = pattern(
  'multisig_approve_comment',
  coinTransfer({
    to: 'multisig_order',
    where: { 'the comment is "approve"': (_, { text }) => text === 'approve' },
    next: { reply },
  }),
  ({ block, reply: answer }, context) => approval(block, BY_COMMENT, answer, context),
  { kinds: ['multisig_approve'] },
);

interface Reply {
  readonly block: ActionBlock;
  readonly data: { readonly exit_code: number } | null;
}

function approval(block: ActionBlock, signer_index: number, { block: replied, data }: Reply, context: MatchContext) {
  const exit_code = data === null ? 0 : data.exit_code;
  const details = { signer_index, exit_code, source: block.source, destination: block.destination };
  const failed = block.failed || replied.failed || exit_code !== 0;
  return meaning(multisigApproveType, details, {
    kind: 'multisig_approve',
    failed,
    parties: signersOf(block.destination, context),
  });
}

export const multisigExecuteType = actionType('multisig_execute', 'A multisig wallet executed an order.', {
  query_id: amountField('Chosen by the order.'),
  order_seqno: amountField('Number of the order.'),
  expiration_date: integerField('Unix time in seconds.'),
  approvals_num: integerField('Number of signers that approved it.'),
  signers_hash: base64Field('Hash of the signers.'),
  order_boc: bareBocField('What was done.'),
  source: addressField('The order.', 'source'),
  destination: addressField('The multisig wallet.', 'destination'),
});

export const multisigExecute = pattern(
  'multisig_execute',
  call(Execute, { from: 'multisig_order' }),
  ({ block, data }, context) => {
    const { query_id, order_seqno, approvals_num, signers_hash, order: order_boc } = data;
    const { source, destination } = block;
    const expiration_date = Number(data.expiration_date);
    const details = {
      query_id,
      order_seqno,
      expiration_date,
      approvals_num,
      signers_hash,
      order_boc,
      source,
      destination,
    };
    return meaning(multisigExecuteType, details, { failed: block.failed, parties: signersOf(source, context) });
  },
);
