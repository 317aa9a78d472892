import { Cell } from '@ton/core';
import { parseValidatorSet } from '@ton/ton';
import type { JsonObject } from '../tonlib-session.js';
import { answer } from './newcomer-checks.js';
import { count, hex, short, ton, type ValueWalk } from './value-walk.js';

/** Readings of what changes with blocks, after the first one. */
const READINGS = 4;

/** Values of blocks, transactions, accounts and validators are those of the APIs. */
export async function walkChain(walk: ValueWalk): Promise<void> {
  await walk.check('blocks and their transactions', async () => {
    const refs = (await walk.rows('transactions', 'transactions', 'workchain=0&sort=asc')).map(
      ({ block_ref }) => block_ref as { readonly workchain: number; readonly shard: string; readonly seqno: number },
    );
    const some = refs.filter(({ seqno }, index) => seqno !== refs[index - 1]?.seqno).slice(0, 5);
    for (const { workchain, shard: decimal, seqno } of some) {
      const named = `workchain=${workchain}&shard=${decimal}&seqno=${seqno}`;
      const block = (await walk.rows('blocks', 'blocks', named))[0]!;
      const shard = BigInt.asUintN(64, BigInt(block.shard as string))
        .toString(16)
        .padStart(16, '0');
      const path = `/block/${block.workchain}/${shard}/${block.seqno}`;
      const transactions = await walk.rows('transactions', 'transactions', `${named}&sort=asc`);
      await walk.facts(path, {
        'Block id': `(${block.workchain},${shard},${block.seqno})`,
        Transactions: count(block.tx_count),
        'Logical time': `${block.start_lt} … ${block.end_lt}`,
        'Root hash': short(block.root_hash),
        'File hash': short(block.file_hash),
      });
      const values = transactions.map(({ hash, in_msg }) => {
        const value = (in_msg as JsonObject | null)?.value;
        return [short(hash), value == null ? '' : ton(value)];
      });
      await walk.table(path, values, [0, 3]);
    }
    return `${some.length} blocks`;
  });
  await walk.check('transactions phase by phase', async () => {
    const all = await walk.rows('transactions', 'transactions', 'workchain=0&sort=asc');
    const transactions = all.filter((_, index) => index % 5 === 0);
    for (const transaction of transactions) {
      const { hash, lt, total_fees, orig_status, end_status, description, in_msg, out_msgs } = transaction;
      await walk.facts(`/tx/${hex(hash)}`, {
        'Logical time': lt as string,
        'Total fees': ton(total_fees),
        'Account status': orig_status === end_status ? String(end_status) : `${orig_status} → ${end_status}`,
      });
      const text = await walk.page.text();
      const compute = (description as JsonObject).compute_ph as JsonObject | null;
      const messages = [in_msg, ...(out_msgs as readonly JsonObject[])] as readonly (JsonObject | null)[];
      for (const part of [
        ...(compute?.exit_code == null ? [] : [`exit code ${compute.exit_code}`]),
        ...messages.flatMap((message) => (message?.value == null ? [] : [ton(message.value)])),
        ...messages.flatMap((message) => (message?.fwd_fee == null ? [] : [ton(message.fwd_fee)])),
      ]) {
        walk.same(true, text.includes(part), `${part} on /tx/${hex(hash)}`);
      }
    }
    return `${transactions.length} transactions`;
  });
  await walk.check('the history of an account', async () => {
    const [newest] = await walk.rows('jetton/wallets', 'jetton_wallets', 'exclude_zero_balance=true');
    const account = newest!.owner as string;
    const transactions = await walk.rows('transactions', 'transactions', `account=${account}&sort=desc`);
    await walk.table(
      `/account/${account}?show=transactions`,
      transactions.slice(0, 30).map(({ hash }) => [short(hash)]),
      [0],
    );
    const actions = (await walk.rows('actions', 'actions', `account=${account}&sort=desc`)).slice(0, 30);
    await walk.page.go(`/account/${account}?show=history`);
    await walk.page.page
      .locator('.action')
      .nth(actions.length - 1)
      .waitFor();
    const traces = (await walk.page.links('.action-side a')).slice(0, actions.length);
    walk.same(
      actions.map(({ trace_id }) => `Trace ${hex(trace_id)}`),
      traces,
      'traces of the actions',
    );
    return account.slice(0, 10);
  });
  await walk.check('the largest balances', async () => {
    // Between the two readings a block may change some: then they are read again.
    for (let reading = 0; ; reading++) {
      const top = await answer<readonly JsonObject[]>(walk.url, '/api/v3/topAccountsByBalance?limit=20');
      const balances = top.map(({ balance }) => [ton(balance)]);
      const isLast = reading === READINGS;
      const isSame = await walk.table('/top', balances, [2]).then(
        () => true,
        (error: unknown) => (isLast ? Promise.reject(error) : false),
      );
      if (isSame) return `${top.length} accounts`;
    }
  });
  await walk.check('validators', async () => {
    interface Param {
      readonly result: { readonly config: { readonly bytes: string } };
    }
    const { result } = await answer<Param>(walk.url, '/api/v2/getConfigParam?param=34');
    const set = parseValidatorSet(Cell.fromBase64(result.config.bytes).beginParse());
    if (set === null) throw new Error('there is no set of validators');
    await walk.table(
      '/validators',
      [...set.list.values()].map(({ publicKey }, index) => [`${index}`, short(publicKey.toString('base64'))]),
      [0, 1],
    );
    return `${set.list.size} validators`;
  });
}
