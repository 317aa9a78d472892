import { Cell } from '@ton/core';
import type { JsonObject } from '../tonlib-session.js';
import type { Contents } from './contents.js';
import { answer, runGetMethod, type StackEntry } from './newcomer-checks.js';
import { count, raw, short, ton, units, type ValueWalk } from './value-walk.js';

/** The decimals in the metadata of a jetton; 9 without any. */
async function decimalsOf(url: string, address: string): Promise<number> {
  interface Masters {
    readonly metadata: Readonly<
      Record<string, { readonly token_info?: readonly { readonly extra?: { readonly decimals?: string } }[] }>
    >;
  }
  const { metadata } = await answer<Masters>(url, `/api/v3/jetton/masters?address=${address}`);
  return Number(metadata[address]?.token_info?.[0]?.extra?.decimals ?? 9);
}

/** Values of tokens are those of API v3. */
export async function walkTokens(walk: ValueWalk): Promise<void> {
  await walk.check('jettons with their holders and transfers', async () => {
    const masters = await walk.rows('jetton/masters', 'jetton_masters');
    for (const master of masters) {
      const { address } = master;
      const decimals = await decimalsOf(walk.url, address as string);
      await walk.facts(`/jetton/${address}`, {
        Supply: units(master.total_supply, decimals),
        Decimals: `${decimals}`,
        Mintable: master.mintable === true ? 'yes' : 'no',
        Admin: master.admin_address == null ? 'nobody' : [raw(master.admin_address)],
        'Code of wallets': short(master.jetton_wallet_code_hash),
      });
      const query = `jetton_address=${address}&exclude_zero_balance=true&sort=desc`;
      const holders = await walk.rowsOrNone('jetton/wallets', 'jetton_wallets', query);
      if (holders.length > 0) {
        const balances = holders.map(({ balance }) => [units(balance, decimals)]);
        await walk.table(`/jetton/${address}?show=holders`, balances, [1]);
        const owners = (await walk.page.links('.table td:first-child a')).slice(0, holders.length);
        walk.same(holders.map(({ owner }) => raw(owner)).sort(), owners.map(raw).sort(), 'holders');
      }
      const transfers = await walk.rowsOrNone(
        'jetton/transfers',
        'jetton_transfers',
        `jetton_master=${address}&sort=desc`,
      );
      if (transfers.length > 0) {
        const amounts = transfers.map(({ amount }) => [units(amount, decimals)]);
        await walk.table(`/jetton/${address}?show=transfers`, amounts, [2]);
      }
    }
    return `${masters.length} jettons`;
  });
  await walk.check('NFTs and their collections', async () => {
    const items = await walk.rows('nft/items', 'nft_items', 'include_on_sale=true');
    for (const item of items) {
      const owner = item.real_owner ?? item.owner_address;
      const sale = item.sale_contract_address ?? item.auction_contract_address;
      await walk.facts(`/nft/${item.address}`, {
        Owner: owner == null ? 'nobody' : [raw(owner), ...(sale == null ? [] : [raw(sale)])],
        Index: item.index as string,
      });
    }
    const collections = await walk.rows('nft/collections', 'nft_collections');
    for (const { address, owner_address, next_item_index } of collections) {
      await walk.facts(`/collection/${address}`, {
        Owner: owner_address == null ? 'nobody' : [raw(owner_address)],
        'Next index': next_item_index as string,
      });
      const query = `collection_address=${address}&include_on_sale=true`;
      const own = await walk.rowsOrNone('nft/items', 'nft_items', query);
      if (own.length === 0) continue;
      await walk.page.page
        .locator('.cards .nft')
        .nth(own.length - 1)
        .waitFor();
      const cards = await walk.page.page
        .locator('.cards .nft-link')
        .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).pathname.split('/').at(-1)!));
      walk.same(
        own.map((item) => raw(item.address)).sort(),
        cards.slice(0, own.length).map(raw).sort(),
        `items of ${address}`,
      );
    }
    return `${items.length} NFTs, ${collections.length} collections`;
  });
}

/** Values of other contracts are those of API v3 and of their get-methods. */
export async function walkContracts(walk: ValueWalk, { multisigs, vesting, pools, domain }: Contents): Promise<void> {
  await walk.check('multisigs with their orders', async () => {
    let orders = 0;
    for (const address of multisigs) {
      const [multisig] = await walk.rows('multisig/wallets', 'multisigs', `address=${address}`);
      const { threshold, signers, proposers } = multisig!;
      await walk.facts(`/multisig/${address}`, {
        Threshold: `${count(threshold)} of ${(signers as string[]).length} signers`,
        Signers: (signers as string[]).map(raw),
        Proposers: (proposers as string[]).map(raw),
      });
      const listed = await walk.rows('multisig/orders', 'orders', `multisig_address=${address}&parse_actions=true`);
      for (const order of listed) {
        const shown = walk.page.page
          .locator('.order')
          .filter({ has: walk.page.page.locator(`h3:text("Order ${order.order_seqno} ")`) });
        const text = await shown.innerText();
        const state =
          order.sent_for_execution === true ? 'executed' : `${order.approvals_num} of ${order.threshold} approvals`;
        walk.same(true, text.includes(state), `"${state}" in ${text.slice(0, 200)}`);
        for (const { value } of order.actions as readonly JsonObject[]) {
          walk.same(true, text.includes(ton(value)), `${ton(value)} in ${text.slice(0, 200)}`);
        }
      }
      orders += listed.length;
    }
    return `${multisigs.length} multisigs, ${orders} orders`;
  });
  await walk.check('a vesting contract with its schedule', async () => {
    const [row] = await walk.rows('vesting', 'vesting_contracts', `contract_address=${vesting}`);
    const { total_amount, owner_address, sender_address, whitelist, start_time, unlock_period, total_duration } = row!;
    const [begin, period, length] = [start_time, unlock_period, total_duration].map(Number) as [number, number, number];
    const now = () => Math.floor(Date.now() / 1000);
    const gone = (at: number) => Math.floor((at - begin) / period) * period;
    const total = BigInt(total_amount as string);
    const before = gone(now());
    await walk.facts(`/vesting/${vesting}`, {
      Amount: ton(total),
      Owner: [raw(owner_address)],
      Sender: [raw(sender_address)],
      Whitelist: (whitelist as string[]).map(raw),
    });
    const locked = (await walk.page.facts()).get('Locked now')!.text;
    const allowed = [before, gone(now())].map((seconds) => ton(total - (total * BigInt(seconds)) / BigInt(length)));
    walk.same(true, allowed.includes(locked), `${locked} among ${allowed.join(', ')}`);
    return 'one contract';
  });
  await walk.check('a domain with its records', async () => {
    const [record] = await walk.rows('dns/records', 'records', `domain=${domain}`);
    await walk.facts(`/dns/${domain}`, {
      NFT: [raw(record!.nft_item_address)],
      Owner: [raw(record!.nft_item_owner)],
      Wallet: [raw(record!.dns_wallet)],
    });
    return domain;
  });
  await walk.check('pools as their get-methods have them', async () => {
    for (const [heading, address] of Object.entries(pools)) {
      const path = `/api/v2/getAddressBalance?address=${address}`;
      const { result } = await answer<{ readonly result: string }>(walk.url, path);
      await walk.facts(`/pool/${address}`, { 'Balance of the contract': ton(result) });
      await walk.page.page.getByRole('heading', { name: heading, exact: true }).waitFor();
      walk.same(0, await walk.page.page.locator('.notice-warning').count(), `warnings on ${address}`);
      for (const [method, index, name, form] of POOL_VALUES[heading] ?? []) {
        const stack = await runGetMethod(walk.url, address, method);
        // Behind an amount of a jetton stands its link.
        const shown = (await walk.page.facts()).get(name)?.text.split('\n')[0]?.trim();
        walk.same(form(stack[index]!.value as string), shown ?? null, `${name} of ${address}`);
      }
      if (heading === 'Single nominator') {
        const roles = await runGetMethod(walk.url, address, 'get_roles');
        for (const [index, name] of ['Owner', 'Validator'].entries()) {
          const whole = Cell.fromBase64(roles[index]!.value as string)
            .beginParse()
            .loadAddress();
          const shown = (await walk.page.facts())
            .get(name)
            ?.links.filter((link) => link !== '')
            .map(raw);
          walk.same([raw(whole.toRawString())], shown ?? [], `${name} of ${address}`);
        }
      }
      if (heading !== 'Nominator pool') continue;
      const [list] = await runGetMethod(walk.url, address, 'list_nominators');
      const members = (list!.value as readonly StackEntry[]).map(({ value }) => value as readonly StackEntry[]);
      walk.same(
        members.map((each) => ton(each[1]!.value)).sort(),
        (await walk.page.rows()).map(([, stake]) => stake!).sort(),
        'nominators',
      );
    }
    return `${Object.keys(pools).length} pools`;
  });
}

const inJetton = (value: string) => units(value, 9);

/** By the heading of the page: values of get-methods, and where they stand on it. */
const POOL_VALUES: Readonly<
  Record<string, readonly (readonly [method: string, index: number, name: string, form: (value: string) => string])[]>
> = {
  'Nominator pool': [
    ['get_pool_data', 1, 'Nominators', count],
    ['get_pool_data', 3, 'Of the validator', ton],
    ['get_pool_data', 8, 'Minimum stake of a nominator', ton],
  ],
  'Liquid staking pool': [
    ['get_pool_full_data', 2, 'Total balance', ton],
    ['get_pool_full_data', 13, 'Supply', inJetton],
  ],
  'Nominator pool (Whales)': [
    ['get_pool_status', 0, 'Balance of the members', ton],
    ['get_params', 2, 'Minimum stake', ton],
  ],
};
