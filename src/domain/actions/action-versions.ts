/** Types by the version that introduced them; a version includes the earlier ones. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  v1: [
    ...[
      'call_contract',
      'contract_deploy',
      'ton_transfer',
      'stake_deposit',
      'stake_withdrawal',
      'stake_withdrawal_request',
    ],
    ...[
      'dex_deposit_liquidity',
      'jetton_transfer',
      'nft_transfer',
      'nft_mint',
      'jetton_burn',
      'jetton_mint',
      'jetton_swap',
    ],
    ...[
      'change_dns',
      'delete_dns',
      'renew_dns',
      'subscribe',
      'dex_withdraw_liquidity',
      'unsubscribe',
      'election_deposit',
    ],
    ...['election_recover', 'auction_bid', 'tick_tock'],
  ],
  v2: [
    ...[
      'multisig_create_order',
      'multisig_approve',
      'multisig_execute',
      'vesting_send_message',
      'vesting_add_whitelist',
    ],
    ...['evaa_supply', 'evaa_withdraw', 'evaa_liquidate', 'jvault_stake', 'jvault_unstake', 'jvault_claim'],
    ...[
      'jvault_unstake_request',
      'nft_discovery',
      'tonco_deploy_pool',
      'coffee_create_vault',
      'coffee_create_pool_creator',
    ],
    ...['coffee_create_pool', 'coffee_mev_protect_hold_funds', 'coffee_mev_protect_failed_swap'],
    ...['coffee_staking_claim_rewards', 'coffee_staking_deposit', 'coffee_staking_withdraw', 'unknown'],
  ],
  v3: [
    ...[
      'nft_put_on_sale',
      'nft_put_on_auction',
      'auction_outbid',
      'nft_cancel_sale',
      'nft_purchase',
      'nft_cancel_auction',
    ],
    ...['nft_finish_auction', 'teleitem_start_auction', 'teleitem_cancel_auction', 'nft_update_sale', 'dns_purchase'],
    ...['dns_release', 'layerzero_send', 'layerzero_send_tokens', 'layerzero_receive', 'layerzero_commit_packet'],
    'layerzero_dvn_verify',
  ],
  v4: [
    ...['cocoon_worker_payout', 'cocoon_proxy_payout', 'cocoon_proxy_charge', 'cocoon_client_top_up'],
    ...[
      'cocoon_register_proxy',
      'cocoon_unregister_proxy',
      'cocoon_client_register',
      'cocoon_client_change_secret_hash',
    ],
    ...[
      'cocoon_client_request_refund',
      'cocoon_grant_refund',
      'cocoon_client_increase_stake',
      'cocoon_client_withdraw',
    ],
  ],
  v5: ['dedust_v2_claim_fees', 'dedust_v2_claim_reward'],
};

/** Versions by name, oldest first, with all their types. The types of tgBTC belong to none. */
const ACTION_VERSIONS: Readonly<Record<string, readonly string[]>> = versions();

function versions(): Readonly<Record<string, readonly string[]>> {
  const known: Record<string, readonly string[]> = {};
  let all: readonly string[] = [];
  for (const [version, added] of Object.entries(ADDED)) {
    all = [...all, ...added];
    known[version] = all;
  }
  return { ...known, latest: all };
}

/** Names for several types together. */
const ACTION_SHORTCUTS: Readonly<Record<string, readonly string[]>> = {
  staking: ['stake_deposit', 'stake_withdrawal', 'stake_withdrawal_request'],
  jettons: ['jetton_transfer', 'jetton_burn', 'jetton_mint'],
  nft: ['nft_transfer', 'nft_mint', 'auction_bid'],
  'nft.v3': [
    ...['nft_transfer', 'nft_mint', 'auction_bid', 'nft_put_on_sale', 'nft_put_on_auction', 'auction_outbid'],
    ...['nft_cancel_sale', 'nft_purchase', 'nft_cancel_auction', 'nft_finish_auction', 'teleitem_start_auction'],
    ...['teleitem_cancel_auction', 'nft_update_sale', 'dns_purchase', 'dns_release'],
  ],
  dns: ['change_dns', 'delete_dns', 'renew_dns', 'dns_purchase', 'dns_release'],
  'dns.v2': ['change_dns', 'delete_dns', 'renew_dns', 'dns_purchase', 'dns_release'],
  multisig: ['multisig_create_order', 'multisig_approve', 'multisig_execute'],
  vesting: ['vesting_send_message', 'vesting_add_whitelist'],
  evaa: ['evaa_supply', 'evaa_withdraw', 'evaa_liquidate'],
  jvault: ['jvault_stake', 'jvault_unstake', 'jvault_claim', 'jvault_unstake_request'],
  coffee: [
    ...['coffee_create_vault', 'coffee_create_pool_creator', 'coffee_create_pool', 'coffee_mev_protect_hold_funds'],
    ...['coffee_staking_claim_rewards', 'coffee_staking_deposit', 'coffee_staking_withdraw'],
  ],
  tgbtc: [
    ...['tgbtc_dkg_log_fallback', 'tgbtc_new_key', 'tgbtc_new_key_fallback', 'tgbtc_burn', 'tgbtc_burn_fallback'],
    ...['tgbtc_mint', 'tgbtc_mint_fallback'],
  ],
  layerzero: [
    ...['layerzero_send', 'layerzero_send_tokens', 'layerzero_receive', 'layerzero_commit_packet'],
    'layerzero_dvn_verify',
  ],
  cocoon: ADDED.v4!,
};

/**
 * The types that a client supports: versions and shortcuts are expanded, other words are types. All clients support `v1`.
 */
export function expandActionTypes(words: readonly string[]): ReadonlySet<string> {
  const types = new Set(ACTION_VERSIONS.v1);
  for (const word of words) {
    for (const type of named(ACTION_VERSIONS, word) ?? named(ACTION_SHORTCUTS, word) ?? [word]) types.add(type);
  }
  return types;
}

function named(names: Readonly<Record<string, readonly string[]>>, word: string): readonly string[] | null {
  return Object.hasOwn(names, word) ? names[word]! : null;
}

const SIMPLE = new Set(ADDED.v1);

/** Whether clients of the first version do not know it: such actions are stored with those that they are made of. */
export function isCompound(type: string): boolean {
  return !SIMPLE.has(type);
}
