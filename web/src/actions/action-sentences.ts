import { opcodeHex } from '../format/chain-text.js';

/**
 * The sentences of actions, by type. In braces: a member of `details` with how it is shown (default `account`); in brackets: a
 * part that is left out when one of its members is missing. `jetton:asset` is an amount of the jetton in the member `asset`.
 */
export const sentences: Readonly<Record<string, string>> = {
  ton_transfer: '{source} sent {value:ton} to {destination}',
  extra_currency_transfer: '{source} sent extra currencies to {destination}[ with {value:ton}]',
  call_contract: '{source} called {destination}[ with {opcode:opcode}][ and {value:ton}]',
  contract_deploy: '{destination} was deployed[ by {source}][ with {value:ton}]',
  tick_tock: '{account} ran without a message',
  jetton_transfer: '{sender} sent {amount:jetton:asset} to {receiver}',
  jetton_burn: '{owner} burned {amount:jetton:asset}',
  jetton_mint: '{amount:jetton:asset} were minted to {receiver}',
  nft_transfer: '[{old_owner} sent ]{nft_item} to {new_owner}[ for {price:ton}]',
  nft_purchase: '{new_owner} bought {nft_item}[ from {real_old_owner}][ for {price:ton}]',
  nft_mint: 'NFT {nft_item}[ of {nft_collection}] was minted[ by {owner}]',
  nft_discovery: '{source} asked {nft_item} for its data',
  nft_put_on_sale: '{owner} put {nft_item} on sale[ for {full_price:ton}]',
  nft_put_on_auction: '{owner} put {nft_item} up for auction[ from {min_bid:ton}]',
  nft_update_sale: '{source} changed the sale of {nft_address}[ to {full_price:ton}]',
  nft_cancel_sale: '{owner} took {nft_item} off sale',
  nft_cancel_auction: '{owner} cancelled the auction of {nft_item}',
  nft_finish_auction: 'The auction of {nft_item} was finished[ by {owner}]',
  auction_bid: '{bidder} bid {amount:ton}[ for {nft_item}]',
  auction_outbid: '[{new_bidder} outbid ]{bidder}[, who got {amount:ton} back]',
  teleitem_start_auction: '{owner} started an auction of {nft_item}[ from {min_bid:ton}]',
  teleitem_cancel_auction: '{owner} cancelled the auction of {nft_item}',
  change_dns: '{source} set a record of the domain {asset}',
  delete_dns: '{source} removed a record of the domain {asset}',
  renew_dns: '{source} renewed the domain {asset}',
  dns_purchase: '{new_owner} bought the domain {nft_item}[ for {price:ton}]',
  dns_release: '{source} released the domain {nft_item}',
  multisig_create_order:
    '{source} created order[ {order_seqno:text}] of the multisig {destination}[: {destination_order}]',
  multisig_approve: '{source} approved the order {destination}',
  multisig_execute: 'Order[ {order_seqno:text}] of the multisig {destination} was executed',
  vesting_send_message: '{vesting} sent {amount:ton} to {destination}[ for {source}]',
  vesting_add_whitelist: '{source} added to the whitelist of {vesting}',
  stake_deposit: '{stake_holder} staked {amount:jetton:source_asset} in {pool}[ ({provider:text})]',
  stake_withdrawal: '{stake_holder} withdrew a stake of {amount:ton}[ from {pool}][ ({provider:text})]',
  stake_withdrawal_request: '{stake_holder} asked for a stake back[ from {pool}][ ({provider:text})]',
  jetton_swap:
    '{sender} swapped[ {dex_incoming_transfer.amount:jetton:asset_in}][ for {dex_outgoing_transfer.amount:jetton:asset_out}][ on {dex:text}]',
  dex_deposit_liquidity:
    '{source} provided[ {amount_1:jetton:asset_1}][ and {amount_2:jetton:asset_2}][ to {pool}][ on {dex:text}]',
  dex_withdraw_liquidity:
    '{source} took out[ {amount_1:jetton:asset_1}][ and {amount_2:jetton:asset_2}][ from {pool}][ on {dex:text}]',
  election_deposit: '{stake_holder} put {amount:ton} into the validator election',
  election_recover: '{stake_holder} took {amount:ton} back from the elector',
  subscribe: '{subscriber} subscribed to {beneficiary}[ for {amount:ton}]',
  unsubscribe: '{subscriber} ended a subscription[ to {beneficiary}]',
  evaa_supply: '{source} supplied {amount:jetton:asset} to EVAA',
  evaa_withdraw: '{recipient} withdrew {amount:jetton:asset} from EVAA',
  evaa_liquidate: '{source} liquidated {borrower} on EVAA',
  jvault_stake: '{source} staked {amount:jetton:asset} in {pool}',
  jvault_unstake: '{source} took {amount:jetton:staking_asset} out of {pool}',
  jvault_unstake_request: '{source} asked for a stake back from {pool}',
  jvault_claim: '{source} claimed rewards of {pool}',
  tonco_deploy_pool: '{source} created the pool {pool}',
  coffee_create_vault: '{source} created the vault {vault}',
  coffee_create_pool_creator: '{source} prepared a pool: {pool_creator_contract}',
  coffee_create_pool: '{source} created the pool {pool}',
  coffee_mev_protect_hold_funds: '{source} put {amount:jetton:asset} into MEV protection',
  coffee_mev_protect_failed_swap: '{recipient} got {amount:jetton:asset} back from MEV protection',
  coffee_staking_deposit: '{source} staked {amount:jetton:asset} in {pool}',
  coffee_staking_withdraw: '{source} took {amount:jetton:asset} out of {pool}',
  coffee_staking_claim_rewards: '{recipient} claimed {amount:jetton:asset} of {pool}',
  tgbtc_mint: '{amount:jetton:asset} were minted to {destination}',
  tgbtc_mint_fallback: '{amount:jetton:asset} were not minted to {destination}',
  tgbtc_burn: '{source} burned {amount:jetton:asset}',
  tgbtc_burn_fallback: '{source} did not burn {amount:jetton:asset}',
  tgbtc_new_key: '{coordinator} got a new key for a peg-out',
  tgbtc_new_key_fallback: '{coordinator} got no new key for a peg-out',
  tgbtc_dkg_log_fallback: '{coordinator} logged a failed key generation',
  layerzero_send: '{initiator} sent a LayerZero packet',
  layerzero_send_tokens: '{sender} sent {amount:jetton:asset} by LayerZero',
  layerzero_receive: '{oapp} received a LayerZero packet',
  layerzero_commit_packet: '{sender} committed a LayerZero packet',
  layerzero_dvn_verify: '{dvn} verified a LayerZero packet',
  cocoon_worker_payout: '{source} paid {amount:ton} to the worker {destination}',
  cocoon_proxy_payout: '{source} asked the proxy {destination} for a payout',
  cocoon_proxy_charge: '{source} charged {destination}',
  cocoon_client_top_up: '{source} topped {destination} up with {amount:ton}',
  cocoon_register_proxy: 'A proxy was registered at {destination}',
  cocoon_unregister_proxy: 'A proxy was removed from {destination}',
  cocoon_client_register: '{source} registered at {destination}',
  cocoon_client_change_secret_hash: '{source} changed its secret at {destination}',
  cocoon_client_request_refund: '{source} asked {destination} for a refund',
  cocoon_grant_refund: '{source} refunded[ {amount:ton}] to {destination}',
  cocoon_client_increase_stake: '{source} raised its stake at {destination}[ by {amount:ton}]',
  cocoon_client_withdraw: '{source} withdrew[ {amount:ton}] from {destination}',
  dedust_v2_claim_fees:
    '{owner} claimed fees[ of {amount_1:jetton:asset_1}][ and {amount_2:jetton:asset_2}][ of {pool}]',
  dedust_v2_claim_reward: '{owner} claimed {amount:jetton:asset}[ of {pool}]',
  unknown: 'Something that is not known as an action',
};

/** A part of a sentence. */
export type SentencePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'account'; readonly address: string }
  | { readonly kind: 'ton'; readonly nano: string }
  | { readonly kind: 'jetton'; readonly units: string; readonly asset: string | null }
  | { readonly kind: 'opcode'; readonly opcode: string }
  | { readonly kind: 'said'; readonly text: string };

type Details = Readonly<Record<string, unknown>>;

/** Of a call whose opcode says that it is a message that came back. */
const BOUNCED = '{source} sent[ {value:ton}] back to {destination}: the message bounced';

/** What bodies of messages that came back begin with. */
const BOUNCE_OPCODE = '0xffffffff';

/** The parts of the sentence of an action. Types that are not known get a sentence of their name and what they mention. */
export function actionSentence(type: string, details: Details): SentencePart[] {
  const template = templateOf(type, details);
  const parts = template === undefined ? null : partsOf(template, details);
  return parts ?? generic(type, details);
}

function templateOf(type: string, { opcode, owner, nft_collection: collection }: Details): string | undefined {
  if (type === 'call_contract' && (typeof opcode === 'string' || typeof opcode === 'number')) {
    if (opcodeHex(opcode) === BOUNCE_OPCODE) return BOUNCED;
  }
  // The owner of an item that is minted is who deployed it: mostly its collection, which the sentence names anyway.
  if (type === 'nft_mint' && owner === collection) return sentences.nft_mint?.replace(/\[ by [^\]]*\]/, '');
  return sentences[type];
}

const PIECES = /\[([^\]]*)\]|\{([^}]*)\}|[^[{]+/g;

/** Null when a member outside of brackets is missing. */
function partsOf(template: string, details: Details): SentencePart[] | null {
  const parts: SentencePart[] = [];
  for (const [whole, optional, member] of template.matchAll(PIECES)) {
    if (optional !== undefined) parts.push(...(partsOf(optional, details) ?? []));
    else if (member === undefined) parts.push({ kind: 'text', text: whole });
    else {
      const part = partOf(member, details);
      if (part === null) return null;
      parts.push(part);
    }
  }
  return parts;
}

function partOf(member: string, details: Details): SentencePart | null {
  const [path = '', kind = 'account', assetName = ''] = member.split(':');
  const value = path.split('.').reduce<unknown>((from, name) => (from as Details | null | undefined)?.[name], details);
  if (value === undefined || value === null || value === '') return null;
  const text = String(value);
  switch (kind) {
    case 'ton':
      return { kind, nano: text };
    case 'jetton': {
      const asset = details[assetName];
      return { kind, units: text, asset: typeof asset === 'string' ? asset : null };
    }
    case 'opcode':
      return { kind, opcode: text };
    case 'text':
      return { kind: 'said', text };
    default:
      return { kind: 'account', address: text };
  }
}

const ADDRESS = /^-?\d+:[0-9A-Fa-f]{64}$/;

function generic(type: string, details: Details): SentencePart[] {
  const name = type.replaceAll('_', ' ');
  const parts: SentencePart[] = [{ kind: 'said', text: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}` }];
  const mentioned = Object.values(details).filter(
    (value): value is string => typeof value === 'string' && ADDRESS.test(value),
  );
  for (const [index, address] of mentioned.slice(0, 3).entries()) {
    parts.push({ kind: 'text', text: index === 0 ? ': ' : ', ' }, { kind: 'account', address });
  }
  return parts;
}

/** The comment that came with an action; null when there is none. */
export function actionComment({ comment, encrypted, is_encrypted_comment }: Details): string | null {
  if (encrypted === true || is_encrypted_comment === true) return 'an encrypted comment';
  return typeof comment === 'string' && comment !== '' ? comment : null;
}
