import { createHash } from 'node:crypto';
import { type Action, type ActionTypeName, FINISHERS, PATTERNS } from '#domain/actions/action-registry.js';
import type { ActionType, DetailFields, FieldRole } from '#domain/actions/action-type.js';
import { isCompound } from '#domain/actions/action-versions.js';
import {
  type ActionBlock,
  type BlockAction,
  endOf,
  type LooseAction,
  type MessageNode,
  startOf,
} from '#domain/actions/block.js';
import { actionsErrors } from '#domain/actions/errors.js';
import { Matcher } from '#domain/actions/matcher.js';
import { basicBlock, unknownAction } from '#domain/actions/protocols/basic.js';
import { intendedActions } from '#domain/actions/protocols/wallets.js';
import { BlockTree, byStart, type NearMiss } from '#domain/actions/recognise.js';
import type { FactRequest, TraceFacts } from '#domain/actions/trace-facts.js';
import type { TraceInput } from '#domain/actions/trace-input.js';
import { HashMap } from '#domain/traces/hash-map.js';
import { Address } from '#formats/address/address.js';
import { toBase64 } from '#kernel/bytes.js';

/** Raised with each change of what traces are classified as: actions of an older version are derived anew. */
export const CLASSIFIER_VERSION = 5;

/** What a trace means. */
export interface Classification {
  /**
   * - `ok`;
   * - `broken`: some contract contradicts the messages, such as a jetton wallet with another owner than they say;
   * - `failed`: a defect, or a trace that is too complex: the actions are the basic ones, and `failure` says why.
   */
  readonly state: 'ok' | 'broken' | 'failed';
  /** By start and end; their ids are distinct. */
  readonly actions: readonly Action[];
  /** At most 100. */
  readonly nearMisses: readonly NearMiss[];
  readonly failure: { readonly pattern: string | null; readonly error: unknown } | null;
  /** When it is not empty the result is preliminary: classify again with these facts. */
  readonly wanted: readonly FactRequest[];
  /** Blocks that are no part of others, in order of their start: for explanations. */
  readonly blocks: readonly ActionBlock[];
}

/** Says what happened in a complete trace. Pure. @throws actions/trace-empty */
export function classify(trace: TraceInput, facts: TraceFacts): Classification {
  const steps = classification(trace, facts);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same in steps, between which a thread that serves others may do something else. */
export function* classification(trace: TraceInput, facts: TraceFacts): Generator<void, Classification> {
  if (trace.transactions.length === 0) throw actionsErrors['trace-empty']({});
  const nodes = traceNodes(trace);
  const matcher = new Matcher(facts, trace.transactions.length);
  const tree = new BlockTree(linkedBlocks(nodes), matcher);
  const writer = new ActionWriter(trace);
  try {
    for (const pattern of PATTERNS) {
      tree.apply(pattern);
      yield;
    }
    for (const finish of FINISHERS) finish(tree.blocks, matcher);
    const blocks = topBlocks(tree.blocks);
    const state = blocks.some(({ broken }) => broken) ? 'broken' : 'ok';
    const actions = isTickTock(trace) ? [] : yield* writer.write(blocks);
    const { nearMisses } = tree;
    const given = actions.length > 0 ? actions : writer.writeWithoutBlocks(intendedActions(trace, matcher));
    return { state, actions: given, nearMisses, failure: null, wanted: matcher.wanted, blocks };
  } catch (error) {
    const failure = { pattern: tree.pattern, error };
    const blocks = linkedBlocks(nodes);
    const actions = yield* new ActionWriter(trace).write(blocks);
    return { state: 'failed', actions, nearMisses: tree.nearMisses, failure, wanted: [], blocks };
  }
}

/** All messages of a trace with their receivers, and the transactions without a message, in order of their start. */
function traceNodes({ transactions }: TraceInput): readonly MessageNode[] {
  const order = transactions
    .map((_, i) => i)
    .sort((a, b) => compare(transactions[a]!.lt, transactions[b]!.lt) || a - b);
  const sent = new HashMap<MessageNode>();
  const nodes: MessageNode[] = [];
  for (const position of order) {
    const transaction = transactions[position]!;
    const message = transaction.in_msg;
    const sender = message === null ? null : (sent.get(message.hash) ?? null);
    const node: MessageNode = { message, transaction, sender, position };
    nodes.push(node);
    for (const out of transaction.out_msgs) {
      if (out.destination === null) nodes.push({ message: out, transaction: null, sender: node, position });
      else sent.set(out.hash, node);
    }
  }
  return nodes;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The blocks before any pattern is applied, linked by what follows from what. */
function linkedBlocks(nodes: readonly MessageNode[]): ActionBlock[] {
  const blocks = new Map<MessageNode, ActionBlock>();
  for (const node of nodes) blocks.set(node, basicBlock(node));
  const linked = [...blocks.values()].sort(byStart);
  for (const block of linked) {
    const { sender } = block.first;
    if (sender === null) continue;
    const previous = blocks.get(sender)!;
    block.previous = previous;
    previous.next.add(block);
  }
  return linked;
}

function topBlocks(blocks: readonly ActionBlock[]): ActionBlock[] {
  return blocks.filter(({ parent }) => parent === null).sort(byStart);
}

/** Each block has such traces: they are no news. */
function isTickTock({ transactions }: TraceInput): boolean {
  return transactions.length === 1 && transactions[0]!.kind === 'tick_tock';
}

/** Writes blocks as actions. */
class ActionWriter {
  readonly #trace: TraceInput;
  readonly #actions: Action[] = [];
  readonly #ids = new HashMap<true>();

  constructor(trace: TraceInput) {
    this.#trace = trace;
  }

  *write(blocks: readonly ActionBlock[]): Generator<void, Action[]> {
    for (const block of blocks) {
      this.#add(block, null, []);
      for (const deployment of block.deployments) this.#add(deployment, null, []);
      yield;
    }
    return this.#actions.sort((a, b) => compare(a.start_lt, b.start_lt) || compare(a.end_lt, b.end_lt));
  }

  /** Blocks may be nested deeply: no recursion. */
  #add(top: ActionBlock, parent: Uint8Array | null, around: readonly ActionTypeName[]): void {
    const left = [{ block: top, parent, around }];
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      const { block, parent: parent_action_id, around: ancestor_types } = one;
      const { action } = block;
      if (action === null) continue;
      const action_id = actionId(block);
      this.#push({ action_id, block, action, parent_action_id, ancestor_types });
      if (!isCompound(action.type.name)) continue;
      const within = [...ancestor_types, action.type.name as ActionTypeName];
      for (const part of block.parts) {
        if (part.kind !== 'contract_deploy') left.push({ block: part, parent: action_id, around: within });
      }
    }
  }

  #push(given: {
    readonly action_id: Uint8Array;
    readonly block: ActionBlock;
    readonly action: BlockAction;
    readonly parent_action_id: Uint8Array | null;
    readonly ancestor_types: readonly ActionTypeName[];
  }): void {
    const { action_id, block, action, parent_action_id, ancestor_types } = given;
    if (this.#ids.get(action_id) !== undefined) {
      throw actionsErrors['repeated-id']({ type: action.type.name, id: toBase64(action_id) });
    }
    this.#ids.set(action_id, true);
    const { transactions } = this.#trace;
    const positions = new Set<number>();
    const accounts = new DistinctAccounts();
    const span = new Span();
    for (const node of block.nodes) {
      positions.add(node.position);
      span.add(node);
      if (node.transaction !== null) accounts.add(node.transaction.account);
    }
    addParticipants(action, accounts);
    const { sender } = block.first;
    if (sender !== null && !block.hasSiblings) {
      positions.add(sender.position);
      accounts.add(transactions[sender.position]!.account);
    }
    this.#actions.push({
      action_id,
      type: action.type.name,
      details: action.details,
      success: !block.failed || block.isNotice,
      ...span.values(),
      transactions: [...positions].sort((a, b) => compare(transactions[a]!.lt, transactions[b]!.lt) || a - b),
      accounts: accounts.list,
      parent_action_id,
      ancestor_types,
    } as unknown as Action);
  }

  /** Actions about the trace as a whole. */
  writeWithoutBlocks(loose: readonly LooseAction[] | null): Action[] {
    const { trace_id, transactions } = this.#trace;
    if (isTickTock(this.#trace)) return [];
    const success = transactions.every(({ aborted }) => !aborted);
    const details = {};
    const unknown = { action_id: trace_id, type: unknownAction as ActionType, details, success, accounts: null };
    return (loose ?? [unknown]).map((one) => {
      const span = new Span();
      const accounts = new DistinctAccounts();
      transactions.forEach((transaction, position) => {
        span.add({ message: transaction.in_msg, transaction, sender: null, position });
        accounts.add(transaction.account);
      });
      for (const account of one.accounts ?? []) accounts.add(account);
      return {
        action_id: one.action_id,
        type: one.type.name,
        details: one.details,
        success: one.success,
        ...span.values(),
        transactions: transactions.map((_, i) => i).sort((a, b) => compare(transactions[a]!.lt, transactions[b]!.lt)),
        accounts: accounts.list,
        parent_action_id: null,
        ancestor_types: [],
      } as unknown as Action;
    });
  }
}

/** `sha256` of the base64 of the message hash and the kind; of the transaction hash where there is no message. */
function actionId({ first: { message, transaction }, kind }: ActionBlock): Uint8Array {
  return idOf((message ?? transaction)!.hash, kind);
}

function idOf(hash: Uint8Array, kind: string): Uint8Array {
  return createHash('sha256')
    .update(`${toBase64(hash)}${kind}`)
    .digest();
}

const PARTICIPANTS: ReadonlySet<FieldRole | null> = new Set([
  'source',
  'source_secondary',
  'destination',
  'destination_secondary',
]);

function addParticipants({ type, details, parties }: BlockAction, accounts: DistinctAccounts): void {
  addFields(type.fields, details, accounts);
  for (const party of parties) accounts.add(party);
}

function addFields(fields: DetailFields, values: Readonly<Record<string, unknown>>, accounts: DistinctAccounts): void {
  for (const [name, field] of Object.entries(fields)) {
    if (field.kind === 'record') addFields(field.fields, values[name] as Readonly<Record<string, unknown>>, accounts);
    else if (field.kind === 'address' && PARTICIPANTS.has(field.role)) {
      const value = values[name];
      if (value instanceof Address) accounts.add(value);
    }
  }
}

/** Accounts, each once. */
class DistinctAccounts {
  readonly list: Address[] = [];
  readonly #known = new Set<string>();

  add(account: Address): void {
    const key = account.toRaw();
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.list.push(account);
  }
}

/** Time from the first message to the last transaction. */
class Span {
  #start_lt: bigint | null = null;
  #end_lt = 0n;
  #start_utime = Number.POSITIVE_INFINITY;
  #end_utime = 0;
  #mc_seqno_end = 0;

  add(node: MessageNode): void {
    const { message, transaction } = node;
    const start = startOf(node);
    if (this.#start_lt === null || start < this.#start_lt) this.#start_lt = start;
    const end = endOf(node);
    if (end > this.#end_lt) this.#end_lt = end;
    this.#start_utime = Math.min(this.#start_utime, message?.created_at ?? transaction?.utime ?? this.#start_utime);
    this.#end_utime = Math.max(this.#end_utime, transaction?.utime ?? message?.created_at ?? 0);
    this.#mc_seqno_end = Math.max(this.#mc_seqno_end, transaction?.mc_seqno ?? 0);
  }

  values() {
    return {
      start_lt: this.#start_lt ?? 0n,
      end_lt: this.#end_lt,
      start_utime: this.#start_utime,
      end_utime: this.#end_utime,
      mc_seqno_end: this.#mc_seqno_end,
    };
  }
}
