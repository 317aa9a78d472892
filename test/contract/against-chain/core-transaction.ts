import {
  beginCell,
  type Cell,
  type CurrencyCollection,
  loadMessage,
  loadTransaction,
  type Message,
  storeStateInit,
  type Transaction,
  type TransactionActionPhase,
  type TransactionBouncePhase,
  type TransactionComputePhase,
  type TransactionCreditPhase,
  type TransactionDescription,
  type TransactionStoragePhase,
} from '@ton/core';

/** An answer of API v3 in the dialect of the live service, as far as `@ton/core` alone tells it. */
export type Expected = Record<string, unknown>;

const base64 = (hash: Buffer): string => hash.toString('base64');
const base64Of = (hash: bigint): string => Buffer.from(hash.toString(16).padStart(64, '0'), 'hex').toString('base64');
const raw = (workchain: number, id: bigint): string =>
  `${workchain}:${id.toString(16).padStart(64, '0').toUpperCase()}`;
const decimal = (value: bigint | number): string => value.toString();

/** Members that are there only when there is a value. */
function present(members: Record<string, unknown>): Expected {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

const maybe = (value: bigint | null | undefined): string | undefined => (value == null ? undefined : decimal(value));

function currencies({ other }: CurrencyCollection): Record<string, string> {
  return Object.fromEntries([...(other ?? [])].map(([id, amount]) => [String(id), decimal(amount)]));
}

const STATUS = { uninitialized: 'uninit', active: 'active', frozen: 'frozen', 'non-existing': 'nonexist' } as const;

/** What the block of a transaction says of it, and what follows from other blocks. */
export interface TransactionPlace {
  readonly mc_block_seqno: number;
  readonly block_ref: { readonly workchain: number; readonly shard: string; readonly seqno: number };
  readonly globalVersion: number;
}

/** A transaction and its messages without what bodies mean: `decoded` and `decoded_opcode`. */
export interface CoreTransaction {
  readonly hash: string;
  readonly json: Expected;
  readonly in_msg: CoreMessage | null;
  readonly out_msgs: readonly CoreMessage[];
}

export interface CoreMessage {
  readonly hash: string;
  readonly hash_norm: string;
  readonly json: Expected;
  readonly body: Cell;
}

/** Without `trace_id` and the states before and after, of which the hashes are there. */
export function coreTransaction(
  cell: Cell,
  { globalVersion, mc_block_seqno, block_ref }: TransactionPlace,
): CoreTransaction {
  const transaction: Transaction = loadTransaction(cell.beginParse());
  const messages = messageCells(cell);
  const in_msg = messages.in === null ? null : coreMessage(messages.in, globalVersion);
  const out_msgs = messages.out.map((message) => coreMessage(message, globalVersion));
  if (out_msgs.length !== transaction.outMessages.size) throw new TypeError('messages are missing');
  const hash = base64(cell.hash());
  const json = {
    account: raw(block_ref.workchain, transaction.address),
    hash,
    lt: decimal(transaction.lt),
    now: transaction.now,
    mc_block_seqno,
    prev_trans_hash: base64Of(transaction.prevTransactionHash),
    prev_trans_lt: decimal(transaction.prevTransactionLt),
    orig_status: STATUS[transaction.oldStatus],
    end_status: STATUS[transaction.endStatus],
    total_fees: decimal(transaction.totalFees.coins),
    total_fees_extra_currencies: currencies(transaction.totalFees),
    description: description(transaction.description),
    block_ref,
    in_msg: in_msg?.json ?? null,
    out_msgs: out_msgs.map((message) => message.json),
    account_state_before: { hash: base64(transaction.stateUpdate.oldHash) },
    account_state_after: { hash: base64(transaction.stateUpdate.newHash) },
    emulated: false,
    finality: 'finalized',
  };
  return { hash, json, in_msg, out_msgs };
}

/** The cells of the messages: `in_msg:(Maybe ^(Message Any)) out_msgs:(HashmapE 15 ^(Message Any))` in the first reference. */
function messageCells(transaction: Cell): { readonly in: Cell | null; readonly out: readonly Cell[] } {
  const slice = transaction.refs[0]!.beginParse();
  const received = slice.loadBit() ? slice.loadRef() : null;
  const root = slice.loadBit() ? slice.loadRef() : null;
  return { in: received, out: root === null ? [] : leaves(root, 15) };
}

/** The references of the leaves of a dictionary, by rising keys. */
function leaves(cell: Cell, bits: number): Cell[] {
  const slice = cell.beginParse();
  const left = bits - labelLength(slice, bits);
  if (left === 0) return [slice.loadRef()];
  return [...leaves(slice.loadRef(), left - 1), ...leaves(slice.loadRef(), left - 1)];
}

/** Reads over a `HmLabel`. */
export function labelLength(slice: ReturnType<Cell['beginParse']>, most: number): number {
  const size = 32 - Math.clz32(most);
  if (!slice.loadBit()) {
    let length = 0;
    while (slice.loadBit()) length++;
    slice.skip(length);
    return length;
  }
  if (!slice.loadBit()) {
    const length = slice.loadUint(size);
    slice.skip(length);
    return length;
  }
  slice.skip(1);
  return slice.loadUint(size);
}

function coreMessage(cell: Cell, globalVersion: number): CoreMessage {
  const message = loadMessage(cell.beginParse());
  const { info, body } = message;
  const hash = base64(cell.hash());
  const hash_norm = info.type === 'external-in' ? base64(normalized(message).hash()) : hash;
  const opcode = body.bits.length < 32 ? null : `0x${body.beginParse().preloadUint(32).toString(16).padStart(8, '0')}`;
  const init = message.init == null ? null : beginCell().store(storeStateInit(message.init)).endCell();
  const json = {
    hash,
    ...header(message, globalVersion),
    opcode,
    message_content: { hash: base64(body.hash()) },
    init_state: init === null ? null : { hash: base64(init.hash()), decoded: null },
    ...(hash_norm === hash ? {} : { hash_norm }),
  };
  return { hash, hash_norm, json, body };
}

const NOTHING = {
  value: null,
  value_extra_currencies: null,
  fwd_fee: null,
  ihr_fee: null,
  extra_flags: null,
  ihr_disabled: null,
  bounce: null,
  bounced: null,
  import_fee: null,
};

function header({ info }: Message, globalVersion: number): Expected {
  const address = (of: { workChain: number; hash: Buffer }) =>
    `${of.workChain}:${of.hash.toString('hex').toUpperCase()}`;
  switch (info.type) {
    case 'external-in':
      return {
        ...NOTHING,
        ...{ source: null, destination: address(info.dest), created_lt: null, created_at: null },
        import_fee: decimal(info.importFee),
      };
    case 'external-out':
      return {
        ...NOTHING,
        ...{ source: address(info.src), destination: null },
        ...{ created_lt: decimal(info.createdLt), created_at: decimal(info.createdAt) },
      };
    case 'internal':
      return {
        ...NOTHING,
        ...{ source: address(info.src), destination: address(info.dest) },
        ...{ created_lt: decimal(info.createdLt), created_at: decimal(info.createdAt) },
        ...{ value: decimal(info.value.coins), value_extra_currencies: currencies(info.value) },
        fwd_fee: decimal(info.forwardFee),
        // From version 12 on the slot of the fee has flags, and nobody delivers messages at once.
        ihr_fee: globalVersion >= 12 ? '0' : decimal(info.ihrFee),
        extra_flags: globalVersion >= 12 ? decimal(info.ihrFee) : null,
        ihr_disabled: globalVersion >= 12 || info.ihrDisabled,
        bounce: info.bounce,
        bounced: info.bounced,
      };
  }
}

/** TEP-467: without source, fee and state, the body in a reference. */
function normalized({ info, body }: Message): Cell {
  if (info.type !== 'external-in') throw new TypeError('not from outside');
  return beginCell()
    .storeUint(0b10, 2)
    .storeUint(0, 2)
    .storeAddress(info.dest)
    .storeCoins(0)
    .storeBit(0)
    .storeBit(1)
    .storeRef(body)
    .endCell();
}

function description(of: TransactionDescription): Expected {
  switch (of.type) {
    case 'generic':
      return present({
        ...{ type: 'ord', aborted: of.aborted, destroyed: of.destroyed, credit_first: of.creditFirst },
        ...{
          storage_ph: of.storagePhase && storage(of.storagePhase),
          credit_ph: of.creditPhase && credit(of.creditPhase),
        },
        ...{ compute_ph: compute(of.computePhase), action: of.actionPhase && action(of.actionPhase) },
        bounce: of.bouncePhase && bounce(of.bouncePhase),
      });
    case 'tick-tock':
      return present({
        ...{ type: 'tick_tock', aborted: of.aborted, destroyed: of.destroyed, is_tock: of.isTock },
        ...{ storage_ph: storage(of.storagePhase), compute_ph: compute(of.computePhase) },
        action: of.actionPhase && action(of.actionPhase),
      });
    default:
      throw new TypeError(`there is a transaction of the kind ${of.type}`);
  }
}

function storage(phase: TransactionStoragePhase): Expected {
  return present({
    storage_fees_collected: decimal(phase.storageFeesCollected),
    storage_fees_due: maybe(phase.storageFeesDue),
    status_change: phase.statusChange,
  });
}

function credit({ dueFeesColelcted, credit: amount }: TransactionCreditPhase): Expected {
  const other = currencies(amount);
  return present({
    due_fees_collected: maybe(dueFeesColelcted),
    credit: decimal(amount.coins),
    credit_extra_currencies: Object.keys(other).length === 0 ? undefined : other,
  });
}

function compute(phase: TransactionComputePhase): Expected {
  if (phase.type === 'skipped') return { skipped: true, reason: phase.reason.replaceAll('-', '_') };
  return present({
    ...{ skipped: false, success: phase.success, msg_state_used: phase.messageStateUsed },
    ...{
      account_activated: phase.accountActivated,
      gas_fees: decimal(phase.gasFees),
      gas_used: decimal(phase.gasUsed),
    },
    ...{ gas_limit: decimal(phase.gasLimit), gas_credit: maybe(phase.gasCredit), mode: phase.mode },
    ...{ exit_code: phase.exitCode, exit_arg: phase.exitArg, vm_steps: phase.vmSteps },
    vm_init_state_hash: base64Of(phase.vmInitStateHash),
    vm_final_state_hash: base64Of(phase.vmFinalStateHash),
  });
}

function action(phase: TransactionActionPhase): Expected {
  return present({
    ...{ success: phase.success, valid: phase.valid, no_funds: phase.noFunds, status_change: phase.statusChange },
    ...{ total_fwd_fees: maybe(phase.totalFwdFees), total_action_fees: maybe(phase.totalActionFees) },
    ...{ result_code: phase.resultCode, result_arg: phase.resultArg, tot_actions: phase.totalActions },
    ...{ spec_actions: phase.specActions, skipped_actions: phase.skippedActions, msgs_created: phase.messagesCreated },
    action_list_hash: base64Of(phase.actionListHash),
    tot_msg_size: size(phase.totalMessageSize),
  });
}

function bounce(phase: TransactionBouncePhase): Expected {
  switch (phase.type) {
    case 'negative-funds':
      return { type: 'negfunds' };
    case 'no-funds':
      return { type: 'nofunds', msg_size: size(phase.messageSize), req_fwd_fees: decimal(phase.requiredForwardFees) };
    case 'ok':
      return {
        ...{ type: 'ok', msg_size: size(phase.messageSize), msg_fees: decimal(phase.messageFees) },
        fwd_fees: decimal(phase.forwardFees),
      };
  }
}

function size({ cells, bits }: { readonly cells: bigint; readonly bits: bigint }): Expected {
  return { cells: decimal(cells), bits: decimal(bits) };
}
