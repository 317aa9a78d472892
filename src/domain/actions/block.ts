import type { ActionType, DetailFields, DetailValues } from '#domain/actions/action-type.js';
import type { TracedMessage, TracedTransaction } from '#domain/actions/trace-input.js';
import type { Address } from '#formats/address/address.js';

/** A message of the trace, or a transaction without one, with the transaction that received it. */
export interface MessageNode {
  /** Null: a tick-tock transaction. */
  readonly message: TracedMessage | null;
  /** Null: the message left the chain, as an event. */
  readonly transaction: TracedTransaction | null;
  /** The node of the transaction that sent the message. */
  readonly sender: MessageNode | null;
  /** Position of the transaction, or of the sender's for events, in the trace. */
  readonly position: number;
}

/** An action that a block stands for. */
export interface BlockAction {
  readonly type: ActionType;
  readonly details: DetailValues<DetailFields>;
  /** Participants in addition to the accounts of the transactions and to sources and destinations. */
  readonly parties: readonly Address[];
}

/** Blocks are found by opcode, or by kind; those that deploy accounts also by this key. */
export const DEPLOYS = 'deploys';
export type BlockKey = number | string;

/** A part of a trace that is understood as one thing: first each message, then what patterns make of several blocks. */
export class ActionBlock {
  /** Enters the ids of actions: one of the kinds of its pattern, or that of a message. */
  readonly kind: string;
  /** Of a message that is not understood further; else null. */
  readonly opcode: number | null;
  readonly nodes: readonly MessageNode[];
  /** The blocks that it was made from. */
  readonly parts: readonly ActionBlock[];
  /** Blocks that follow from it. */
  readonly next = new Set<ActionBlock>();
  previous: ActionBlock | null = null;
  /** The block that contains it. */
  parent: ActionBlock | null = null;
  failed = false;
  /** It failed because it carried nothing, so that its receiver could not run; its sender does not count on that. */
  isNotice = false;
  /** Contracts contradict what its messages say. */
  broken = false;
  /** It was made of several blocks that follow from the same one: the sender of its first message is no part of it. */
  hasSiblings = false;
  /** What the pattern learned, for patterns that build on it. */
  data: unknown = null;
  /** Name of the pattern that made it; null: it is a message. */
  pattern: string | null = null;
  /** Null: a block without an action of its own. */
  action: BlockAction | null = null;
  /** Accounts that became active in it. */
  readonly deployments: readonly ActionBlock[];
  #first: MessageNode | null = null;

  constructor(
    kind: string,
    opcode: number | null,
    nodes: readonly MessageNode[],
    parts: readonly ActionBlock[],
    deployments: readonly ActionBlock[],
  ) {
    this.kind = kind;
    this.opcode = opcode;
    this.nodes = nodes;
    this.parts = parts;
    this.deployments = deployments;
  }

  /** The node with the smallest lt: the message that started it. */
  get first(): MessageNode {
    this.#first ??= this.nodes.reduce((least, node) => (startOf(node) < startOf(least) ? node : least));
    return this.#first;
  }

  /** Message of its first node. Null: a tick-tock transaction. */
  get message(): TracedMessage | null {
    return this.first.message;
  }

  get source(): Address | null {
    return this.message?.source ?? null;
  }

  get destination(): Address | null {
    return this.message?.destination ?? null;
  }

  /** Nanotons of its first message. */
  get value(): bigint {
    return this.message?.value ?? 0n;
  }

  /** The transaction that received its first message was aborted. */
  get aborted(): boolean {
    return this.first.transaction?.aborted ?? false;
  }

  /** Whether it leaves the chain, as an event. */
  get isEvent(): boolean {
    return this.nodes.length === 1 && this.first.transaction === null;
  }
}

/** Logical time of the message, or else of the transaction. */
export function startOf({ message, transaction }: MessageNode): bigint {
  return message?.created_lt ?? transaction?.lt ?? 0n;
}

/** Logical time of the transaction, or of the event. */
export function endOf({ message, transaction }: MessageNode): bigint {
  return transaction?.lt ?? message?.created_lt ?? 0n;
}

/** An action that no block stands for: what was intended, or that nothing is known. */
export interface LooseAction {
  readonly action_id: Uint8Array;
  readonly type: ActionType;
  readonly details: DetailValues<DetailFields>;
  readonly success: boolean;
  /** Null: those of the action's sources, and all transactions. */
  readonly accounts: readonly Address[] | null;
}
