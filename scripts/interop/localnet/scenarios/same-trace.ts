import type { Cell, ExtraCurrency } from '@ton/core';
import { expectSame } from '../../same-answer.js';
import type { Json, JsonObject } from '../../tonlib-session.js';
import { base64, flatten, type LedgerMessage, type LedgerTransaction } from './ledger.js';

/** Statuses of accounts that @ton/core names in another way than API v3. */
const STATUS: Readonly<Record<string, string>> = { 'non-existing': 'nonexist', uninitialized: 'uninit' };

/** Compares a trace of API v3 with the blocks: its tree, and each transaction with its phases, fees and messages. */
export function expectSameTrace(root: LedgerTransaction, trace: JsonObject): void {
  const all = flatten(root);
  expectSame(treeOf(root), treeInV3(trace.trace as JsonObject), 'the tree of the trace');
  const found = trace.transactions as JsonObject;
  expectSame(all.map(({ hash }) => hash).sort(), Object.keys(found).sort(), 'the transactions of the trace');
  for (const each of all) expectSameTransaction(each, found[each.hash] as JsonObject);
  const seqnos = all.map(({ masterchainSeqno }) => masterchainSeqno);
  expectSame(
    [root.hash, `${Math.min(...seqnos)}`, `${Math.max(...seqnos)}`, all.length],
    [trace.trace_id, trace.mc_seqno_start, trace.mc_seqno_end, (trace.trace_info as JsonObject).transactions] as Json,
    'the extent of the trace',
  );
}

function treeOf({ hash, incoming, children }: LedgerTransaction): Json {
  return [hash, base64(incoming!.cell), children.map(treeOf).sort(byFirst)];
}

function treeInV3({ tx_hash, in_msg_hash, children }: JsonObject): Json {
  return [tx_hash!, in_msg_hash!, (children as readonly JsonObject[]).map(treeInV3).sort(byFirst)];
}

function byFirst(a: Json, b: Json): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** Compares a transaction of API v3 with that in the block. */
export function expectSameTransaction(expected: LedgerTransaction, found: JsonObject): void {
  const { account, hash, transaction, block, masterchainSeqno, incoming, outgoing } = expected;
  const base = {
    ...{ account, hash, lt: `${transaction.lt}`, now: transaction.now, mc_block_seqno: masterchainSeqno },
    prev_trans_hash: Buffer.from(transaction.prevTransactionHash.toString(16).padStart(64, '0'), 'hex').toString(
      'base64',
    ),
    prev_trans_lt: `${transaction.prevTransactionLt}`,
    orig_status: STATUS[transaction.oldStatus] ?? transaction.oldStatus,
    end_status: STATUS[transaction.endStatus] ?? transaction.endStatus,
    total_fees: `${transaction.totalFees.coins}`,
    block_ref: {
      workchain: block.id.workchain,
      shard: `${BigInt.asIntN(64, block.id.shard)}`,
      seqno: block.id.seqno,
    },
    account_state_before: { hash: transaction.stateUpdate.oldHash.toString('base64') },
    account_state_after: { hash: transaction.stateUpdate.newHash.toString('base64') },
    description: description(expected),
  };
  const name = `transaction ${hash}`;
  expectSame(base, pick(found, base), name);
  if (incoming === null) expectSame(true, found.in_msg === undefined || found.in_msg === null, `${name}: no message`);
  else expectSameMessage(incoming, found.in_msg as JsonObject, `${name}: the message in`);
  const sent = [...(found.out_msgs as readonly JsonObject[])].sort(byLt);
  expectSame(outgoing.length, sent.length, `${name}: messages out`);
  for (const [i, message] of outgoing.entries()) expectSameMessage(message, sent[i]!, `${name}: message ${i} out`);
}

function byLt(a: JsonObject, b: JsonObject): number {
  return Number(BigInt((a.created_lt ?? '0') as string) - BigInt((b.created_lt ?? '0') as string));
}

/** What of an answer an expected value names. */
function pick(found: Json | undefined, wanted: Json): Json {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return found ?? null;
  const of = (found ?? {}) as JsonObject;
  return Object.fromEntries(Object.entries(wanted).map(([key, value]) => [key, pick(of[key], value!)]));
}

function description({ transaction }: LedgerTransaction): JsonObject {
  const phases = transaction.description;
  if (phases.type !== 'generic' && phases.type !== 'tick-tock') throw new Error(`a transaction is ${phases.type}`);
  const { storagePhase, computePhase, actionPhase } = phases;
  const said: Record<string, Json> = {
    type: phases.type === 'generic' ? 'ord' : 'tick_tock',
    aborted: phases.aborted,
    destroyed: phases.destroyed,
    storage_ph: {
      storage_fees_collected: `${storagePhase?.storageFeesCollected}`,
      status_change: storagePhase?.statusChange ?? null,
      ...(storagePhase?.storageFeesDue ? { storage_fees_due: `${storagePhase.storageFeesDue}` } : {}),
    },
    compute_ph: compute(computePhase),
  };
  if (storagePhase === null || storagePhase === undefined) delete said.storage_ph;
  if (phases.type === 'generic') {
    if (phases.creditPhase) said.credit_ph = { credit: `${phases.creditPhase.credit.coins}` };
    if (phases.bouncePhase) said.bounce = bounce(phases.bouncePhase);
  }
  if (actionPhase) {
    said.action = {
      ...{ success: actionPhase.success, valid: actionPhase.valid, no_funds: actionPhase.noFunds },
      ...{ result_code: actionPhase.resultCode, tot_actions: actionPhase.totalActions },
      ...{ spec_actions: actionPhase.specActions, skipped_actions: actionPhase.skippedActions },
      msgs_created: actionPhase.messagesCreated,
      ...(actionPhase.totalFwdFees ? { total_fwd_fees: `${actionPhase.totalFwdFees}` } : {}),
      ...(actionPhase.totalActionFees ? { total_action_fees: `${actionPhase.totalActionFees}` } : {}),
    };
  }
  return said;
}

type Generic = Extract<LedgerTransaction['transaction']['description'], { type: 'generic' }>;

function compute(phase: Generic['computePhase']): JsonObject {
  if (phase.type === 'skipped') return { skipped: true, reason: phase.reason.replace('-', '_') };
  return {
    ...{ skipped: false, success: phase.success, account_activated: phase.accountActivated },
    ...{ gas_fees: `${phase.gasFees}`, gas_used: `${phase.gasUsed}`, gas_limit: `${phase.gasLimit}` },
    ...{ exit_code: phase.exitCode, vm_steps: phase.vmSteps, mode: phase.mode },
    ...(phase.exitArg === undefined || phase.exitArg === null ? {} : { exit_arg: phase.exitArg }),
  };
}

function bounce(phase: NonNullable<Generic['bouncePhase']>): JsonObject {
  if (phase.type === 'ok') return { type: 'ok', msg_fees: `${phase.messageFees}`, fwd_fees: `${phase.forwardFees}` };
  return { type: phase.type === 'no-funds' ? 'no_funds' : 'negfunds' };
}

function expectSameMessage({ cell, message }: LedgerMessage, found: JsonObject, name: string): void {
  const { info, body } = message;
  const said: Record<string, Json> = {
    hash: base64(cell),
    message_content: { hash: base64(body), body: body.toBoc().toString('base64') },
  };
  if (info.type === 'internal') {
    Object.assign(said, {
      source: raw(info.src.toRawString()),
      destination: raw(info.dest.toRawString()),
      value: `${info.value.coins}`,
      value_extra_currencies: currencies(info.value.other),
      ...{ fwd_fee: `${info.forwardFee}`, created_lt: `${info.createdLt}`, created_at: `${info.createdAt}` },
      ...{ bounce: info.bounce, bounced: info.bounced },
    });
  } else if (info.type === 'external-in') {
    Object.assign(said, { destination: raw(info.dest.toRawString()), import_fee: `${info.importFee}` });
  }
  expectSame(said, pick(found, said), name);
  const opcode = opcodeOf(body);
  const other = found.opcode ?? null;
  expectSame(opcode, other === null ? null : Number(other) >>> 0, `${name}: opcode`);
}

/** The first 32 bits of a body. */
function opcodeOf(body: Cell): number | null {
  return body.bits.length < 32 ? null : body.beginParse().loadUint(32);
}

function raw(address: string): string {
  return address.toUpperCase();
}

/** Amounts of other currencies by their ids, as API v3 gives them. */
export function currencies(
  amounts: Iterable<readonly [number, bigint]> | ExtraCurrency | null | undefined,
): JsonObject {
  if (amounts === null || amounts === undefined) return {};
  const pairs = Symbol.iterator in amounts ? [...amounts] : Object.entries(amounts);
  return Object.fromEntries(pairs.map(([id, amount]) => [`${id}`, `${amount}`]));
}
