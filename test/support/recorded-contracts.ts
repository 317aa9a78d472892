import type pg from 'pg';
import { addressBytes } from '#drivers/store/keys.js';
import { parseAddress } from '#formats/address/address.js';
import { fromBase64 } from '#kernel/bytes.js';
import { readCsv } from '#test/support/csv.js';
import { insert } from '#test/support/indexed-chain.js';
import { readBytes } from '#test/support/vector-files.js';

type Row = Record<string, string>;

/**
 * Puts the domains, multisigs, orders and contracts with vesting of a reference index into an index that has none, in the order
 * in which it found them. @param network the folder of the recorded network
 */
export async function addRecordedContracts(client: pg.Client, network: string): Promise<void> {
  const table = (name: string) =>
    [...readCsv(readBytes(`${network}/v3-tables/${name}.csv.br`))].sort((a, b) => Number(a.id) - Number(b.id));
  const whitelist = table('vesting_whitelist');
  await insert(
    client,
    'dns_items',
    table('dns_entries').map((row) => ({
      ...stateOf(row, 'nft_item_address'),
      ...{ owner: address(row.nft_item_owner!), domain: row.domain! },
      ...{ dns_next_resolver: address(row.dns_next_resolver!), dns_wallet: address(row.dns_wallet!) },
      ...{ dns_site_adnl: base64(row.dns_site_adnl!), dns_storage_bag_id: base64(row.dns_storage_bag_id!) },
    })),
  );
  await insert(
    client,
    'multisigs',
    table('multisig').map((row) => ({
      ...{ ...stateOf(row), next_order_seqno: row.next_order_seqno!, threshold: row.threshold! },
      ...{ signers: addresses(row.signers!), proposers: addresses(row.proposers!) },
    })),
  );
  await insert(
    client,
    'multisig_orders',
    table('multisig_orders').map((row) => ({
      ...{ ...stateOf(row), multisig: address(row.multisig_address!), order_seqno: row.order_seqno! },
      ...{ threshold: row.threshold!, sent_for_execution: row.sent_for_execution === 't' },
      ...{ approvals_mask: row.approvals_mask!, approvals_num: row.approvals_num! },
      ...{ expiration_date: row.expiration_date!, order_boc: base64(row.order_boc!), signers: addresses(row.signers!) },
    })),
  );
  await insert(
    client,
    'vesting_contracts',
    table('vesting_contracts').map((row) => ({
      ...{ ...stateOf(row), start_time: row.vesting_start_time!, total_duration: row.vesting_total_duration! },
      ...{ unlock_period: row.unlock_period!, cliff_duration: row.cliff_duration! },
      total_amount: row.vesting_total_amount!,
      ...{ sender: address(row.vesting_sender_address!), owner: address(row.owner_address!) },
      whitelist: whitelist
        .filter((one) => one.vesting_contract_address === row.address)
        .map((one) => address(one.wallet_address!)),
    })),
  );
}

function stateOf(row: Row, name = 'address') {
  const { last_transaction_lt, code_hash = '', data_hash = '' } = row;
  return {
    ...{ address: address(row[name]!), last_trans_lt: last_transaction_lt!, mc_seqno: 1 },
    ...{ code_hash: base64(code_hash), data_hash: base64(data_hash) },
  };
}

function address(raw: string): Uint8Array | null {
  return raw === '' ? null : addressBytes(parseAddress(raw).address);
}

/** `{0:…,0:…}` */
function addresses(list: string): (Uint8Array | null)[] {
  return [...list.matchAll(/[^{},]+/g)].map(([raw]) => address(raw));
}

function base64(text: string): Uint8Array | null {
  return text === '' ? null : fromBase64(text);
}
