import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import type { Account, ShardAccount } from '#formats/tlb/account.js';
import { fromBase64, toBase64, toHex } from '#kernel/bytes.js';
import { transactionsByAccount } from '#test/support/chain-facts.js';
import { tonlibId } from './block-checks.js';
import { type ChainTruth, spreadOver } from './chain-truth.js';
import type { CheckReport } from './check-report.js';
import { expectSame } from './same-answer.js';
import type { JsonObject, TonlibSession } from './tonlib-session.js';

/** Accounts that are asked about, of each shard. */
const ACCOUNTS = 150;
const HISTORIES = 6;
/** Transactions of a history at most: those of the elector go on and on. */
const HISTORY = 200;

/** tonlib on the state after the head: accounts, their histories, configuration, get-methods, libraries, queues. */
export async function checkStates(tonlib: TonlibSession, truth: ChainTruth, report: CheckReport): Promise<void> {
  await report.check('account states', async () => {
    let count = 0;
    for (const { id, state } of truth.states) {
      for (const [key, account] of spreadOver([...state.accounts.value], ACCOUNTS)) {
        await checkAccount(tonlib, `${id.workchain}:${toHex(key)}`, account, truth);
        count++;
      }
    }
    return `${count} accounts`;
  });
  await report.check('transactions of accounts', () => checkHistories(tonlib, truth));
  await report.check('configuration: each parameter, and the whole', () => checkConfiguration(tonlib, truth));
  await report.check('get-methods of elector and configuration contract', () => checkGetMethods(tonlib, truth));
  await report.check('libraries', () => checkLibraries(tonlib, truth));
  await report.check('sizes of message queues', async () => {
    const answer = await tonlib.ask({ '@type': 'blocks.getOutMsgQueueSizes', mode: 0 });
    const shards = truth.states.map(({ id, state }) => ({
      '@type': 'blocks.outMsgQueueSize',
      id: tonlibId(id),
      size: [...state.out_msg_queue_info.value.out_queue].length,
    }));
    expectSame(shards, answer.shards, 'shards');
    return `of ${shards.length} shards`;
  });
}

async function ask(tonlib: TonlibSession, request: JsonObject, what: string): Promise<JsonObject> {
  const answer = await tonlib.ask(request);
  if (answer['@type'] === 'error') throw new Error(`${what}: ${answer.message}`);
  return answer;
}

async function checkAccount(
  tonlib: TonlibSession,
  address: string,
  { account: lazy, last_trans_hash, last_trans_lt }: ShardAccount,
  truth: ChainTruth,
): Promise<void> {
  const account: Account = lazy.value;
  if (account.kind === 'account_none') return;
  const { balance, state } = account.storage;
  const parts = state.kind === 'account_active' ? state.state_init : null;
  const found = await ask(tonlib, accountRequest('raw.getAccountState', address), address);
  const expected = {
    balance: `${balance.grams}`,
    code: rootHash(parts?.code ?? null),
    data: rootHash(parts?.data ?? null),
    frozen_hash: state.kind === 'account_frozen' ? toBase64(state.state_hash) : '',
    last_transaction_id: { '@type': 'internal.transactionId', lt: `${last_trans_lt}`, hash: toBase64(last_trans_hash) },
    block_id: tonlibId(truth.head.id),
    sync_utime: truth.head.gen_utime,
    currencies: [...balance.other].map(([id, amount]) => `${id | 0} ${amount}`).sort(),
  };
  const currencies = found.extra_currencies as readonly JsonObject[];
  expectSame(
    expected,
    {
      balance: found.balance,
      code: bagRootHash(found.code as string),
      data: bagRootHash(found.data as string),
      frozen_hash: found.frozen_hash,
      last_transaction_id: found.last_transaction_id,
      block_id: found.block_id,
      sync_utime: found.sync_utime,
      currencies: currencies.map(({ id, amount }) => `${id} ${amount}`).sort(),
    },
    address,
  );
}

function accountRequest(type: string, account_address: string): JsonObject {
  return { '@type': type, account_address: { '@type': 'accountAddress', account_address } };
}

function rootHash(cell: Cell | null): string {
  return cell === null ? '' : toHex(cell.hash());
}

function bagRootHash(base64: string): string {
  return base64 === '' ? '' : rootHash(parseBocRoot(fromBase64(base64)!));
}

async function checkHistories(tonlib: TonlibSession, truth: ChainTruth): Promise<string> {
  const histories = [
    ...transactionsByAccount({ masterchain: [truth.head, ...truth.masterchain], shards: truth.shards }),
  ];
  const reached = new Set(
    truth.states.flatMap(({ state }) => [...state.accounts.value].map(([, a]) => toHex(a.last_trans_hash))),
  );
  const whole = histories.filter(([, list]) => reached.has(list[0]!.hash)).sort(([, a], [, b]) => b.length - a.length);
  let count = 0;
  const chosen = spreadOver(whole, HISTORIES);
  for (const [address, list] of chosen) {
    const expected = list
      .slice(0, HISTORY)
      .map(({ lt, hash }) => `${lt} ${Buffer.from(hash, 'hex').toString('base64')}`);
    const found: string[] = [];
    let from: JsonObject = { lt: `${list[0]!.lt}`, hash: Buffer.from(list[0]!.hash, 'hex').toString('base64') };
    while (found.length < expected.length) {
      const request = {
        ...accountRequest('raw.getTransactionsV2', address),
        from_transaction_id: { '@type': 'internal.transactionId', ...from },
        count: 16,
        try_decode_messages: false,
      };
      const page = await ask(tonlib, request, address);
      const ids = (page.transactions as readonly JsonObject[]).map((each) => each.transaction_id as JsonObject);
      if (ids.length === 0) break;
      found.push(...ids.map(({ lt, hash }) => `${lt} ${hash}`));
      from = page.previous_transaction_id as JsonObject;
    }
    expectSame(expected, found.slice(0, HISTORY), address);
    count += expected.length;
  }
  return `${count} transactions of ${chosen.length} accounts, newest first`;
}

async function checkConfiguration(tonlib: TonlibSession, { extra }: ChainTruth): Promise<string> {
  const { config } = extra.config;
  let count = 0;
  for (const [param, cell] of config) {
    const answer = await ask(tonlib, { '@type': 'getConfigParam', mode: 0, param }, `parameter ${param}`);
    expectSame(rootHash(cell), bagRootHash((answer.config as JsonObject).bytes as string), `parameter ${param}`);
    count++;
  }
  const all = await ask(tonlib, { '@type': 'getConfigAll', mode: 0 }, 'all');
  expectSame(rootHash(config.root), bagRootHash((all.config as JsonObject).bytes as string), 'all');
  return `${count} parameters`;
}

/** What the two contracts answer is also written in their data, in places that are known. */
async function checkGetMethods(tonlib: TonlibSession, { extra, states }: ChainTruth): Promise<string> {
  const configAddress = extra.config.config_addr;
  const electorAddress = openCell(extra.config.config.get(1)!).loadBytes(32);
  const data = (address: Uint8Array): Cell => {
    const account = states[0]!.state.accounts.value.get(address)!.account.value;
    if (account.kind !== 'account' || account.storage.state.kind !== 'account_active') throw new Error('no contract');
    return account.storage.state.state_init.data!;
  };
  // Configuration: ^dictionary seqno:uint32 …; elector: elect:(Maybe ^[elect_at:uint32 …]) credits:(HashmapE 256 Grams) …
  const seqno = openCell(data(configAddress)).loadUint(32);
  const elector = openCell(data(electorAddress));
  const elect = loadMaybeRef(elector);
  const active = elect === null ? 0 : openCell(elect).loadUint(32);
  const credits = loadMaybeRef(elector);
  const wanted = [
    { address: configAddress, method: 'seqno', stack: [], expected: `${seqno}` },
    { address: electorAddress, method: 'active_election_id', stack: [], expected: `${active}` },
  ];
  if (credits === null) {
    const wallet = { '@type': 'tvm.stackEntryNumber', number: { '@type': 'tvm.numberDecimal', number: '1' } };
    wanted.push({
      address: electorAddress,
      method: 'compute_returned_stake',
      stack: [wallet] as never[],
      expected: '0',
    });
  }
  for (const { address, method, stack, expected } of wanted) {
    const loaded = await ask(tonlib, accountRequest('smc.load', `-1:${toHex(address)}`), method);
    const name = { '@type': 'smc.methodIdName', name: method };
    const answer = await ask(tonlib, { '@type': 'smc.runGetMethod', id: loaded.id, method: name, stack }, method);
    expectSame(0, answer.exit_code, `exit code of ${method}`);
    const [entry] = answer.stack as readonly JsonObject[];
    expectSame(expected, (entry?.number as JsonObject | undefined)?.number, method);
  }
  return wanted.map(({ method, expected }) => `${method} = ${expected}`).join(', ');
}

function loadMaybeRef(slice: Slice): Cell | null {
  return slice.loadBit() ? slice.loadRef() : null;
}

async function checkLibraries(tonlib: TonlibSession, { states }: ChainTruth): Promise<string> {
  const libraries = [...states[0]!.state.totals.value.libraries];
  const absent = new Uint8Array(32).fill(7);
  for (let at = 0; at <= libraries.length; at += 15) {
    const part = libraries.slice(at, at + 15);
    const library_list = [...part.map(([hash]) => toBase64(hash)), toBase64(absent)];
    const answer = await ask(tonlib, { '@type': 'smc.getLibraries', library_list }, 'getLibraries');
    const found = (answer.result as readonly JsonObject[]).map(
      ({ hash, data }) => `${hash} ${bagRootHash(data as string)}`,
    );
    expectSame(part.map(([hash, { lib }]) => `${toBase64(hash)} ${rootHash(lib)}`).sort(), found.sort(), 'libraries');
  }
  return `${libraries.length} that are there, and one that is not`;
}
