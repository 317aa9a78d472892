import type { ActionType, DetailFields, GivenDetails } from '#domain/actions/action-type.js';
import { type ActionBlock, type BlockKey, DEPLOYS } from '#domain/actions/block.js';
import type { ContractFacts, FactInterface } from '#domain/actions/trace-facts.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import type { Layout } from '#formats/tlb/codec/layout.js';

/*
 * Patterns read like the protocols that they recognise: a step is a message, or a block that another pattern recognised, with
 * what its sender and receiver are and the steps that follow from it. A pattern is a step and what it means.
 */

/** Why a pattern does not match. */
export type MissReason =
  | {
      readonly kind: 'body';
      readonly step: string;
      readonly field: string;
      readonly bit: number;
      readonly problem: string;
    }
  | { readonly kind: 'missing-step'; readonly step: string }
  | { readonly kind: 'interface'; readonly step: string; readonly address: Address; readonly wanted: string }
  | { readonly kind: 'condition'; readonly step: string; readonly problem: string };

/** What conditions and meanings of patterns may ask. All are bounded by the steps that a trace may take. */
export interface MatchContext {
  /** What a contract was at the time of the trace; null when it is not known to be anything. */
  contract(address: Address | null): ContractFacts | null;
  /** The state of a contract as one interface. */
  fact<Name extends FactInterface>(address: Address | null, name: Name): NonNullable<ContractFacts[Name]> | null;
  /** Data of an account. */
  contractData(address: Address): Cell | null;
  /** Refuses the match, with the reason. @throws actions/mismatch */
  refuse(problem: string): never;
  /** Refuses the match unless the condition holds. @throws actions/mismatch */
  check(condition: boolean, problem: string): void;
  /** Decodes the start of a cell. @throws as decoding it, which refuses the match */
  read<Data>(codec: Codec<Data>, cell: Cell): Data;
  /** As `read`; null when there is no cell, or it does not decode. */
  readIf<Data>(codec: Codec<Data>, cell: Cell | null): Data | null;
  /** The block as a step, with what follows from it; null when it does not match. */
  match<S extends Step>(step: S, block: ActionBlock | null): Matched<S> | null;
  /** The first block after this one that matches. */
  after<S extends Step>(block: ActionBlock, step: S, taken?: ReadonlySet<ActionBlock>): Matched<S> | null;
  /** All blocks after this one that match, in the order in which they follow. */
  allAfter<S extends Step>(block: ActionBlock, step: S): Matched<S>[];
  /** Counts work that a pattern does itself. @throws actions/too-complex */
  spend(steps?: number): void;
}

/** A block that must be there. `Data`: its decoded message body, or what its pattern learned. */
// biome-ignore lint/suspicious/noExplicitAny: a step of any kind
export interface Step<Data = any, Next extends Steps = any, Before extends Expectation | null = any> {
  readonly presence: 'required';
  /** Opcodes and kinds of blocks, one of which it must have. */
  readonly keys: readonly BlockKey[];
  readonly read: (block: ActionBlock) => Data;
  /** Interfaces that the sender and the receiver must have. */
  readonly from: FactInterface | null;
  readonly to: FactInterface | null;
  /** Further conditions; their names are shown when they do not hold. */
  readonly where: Readonly<Record<string, (block: ActionBlock, data: Data, context: MatchContext) => boolean>>;
  /** Blocks that follow from it, each of them a different one, in any order. */
  readonly next: Next;
  /** The block that it follows from. */
  readonly before: Before;
}

/** Alternatives: the first that matches. */
export interface OneOf<Options extends readonly Step[] = readonly Step[]> {
  readonly presence: 'one of';
  readonly options: Options;
}
export interface Optional<Of extends Step | OneOf = Step | OneOf> {
  readonly presence: 'optional';
  readonly step: Of;
}
/** Any number, zero included. */
export interface Each<Of extends Step | OneOf = Step | OneOf> {
  readonly presence: 'each';
  readonly step: Of;
}
// biome-ignore lint/suspicious/noExplicitAny: steps of all kinds
export type Expectation = Step | OneOf<any> | Optional<any> | Each<any>;
export interface Steps {
  readonly [name: string]: Expectation;
}

/** What a step matched, with what its further steps matched under their names. */
export type Matched<S> =
  S extends Step<infer Data, infer Next, infer Before>
    ? { readonly block: ActionBlock; readonly data: Data } & {
        readonly [Name in keyof Next]: MatchedBy<Next[Name]>;
      } & (Before extends null ? unknown : { readonly before: MatchedBy<Before> })
    : never;
export type MatchedBy<E> =
  E extends Optional<infer Of>
    ? MatchedBy<Of> | null
    : E extends Each<infer Of>
      ? readonly MatchedBy<Of>[]
      : E extends OneOf<infer Options>
        ? Matched<Options[number]>
        : Matched<E>;

/** Conditions of a step. */
export interface StepOptions<Data, Next extends Steps, Before extends Expectation | null> {
  readonly from?: FactInterface;
  readonly to?: FactInterface;
  readonly where?: Readonly<Record<string, (block: ActionBlock, data: Data, context: MatchContext) => boolean>>;
  readonly next?: Next;
  readonly before?: Before;
}

// biome-ignore lint/complexity/noBannedTypes: no further steps
type NoSteps = {};

function step<Data, Next extends Steps, Before extends Expectation | null>(
  keys: readonly BlockKey[],
  read: (block: ActionBlock) => Data,
  options: StepOptions<Data, Next, Before>,
): Step<Data, Next, Before> {
  const { from = null, to = null, where = {}, next = {} as Next, before = null as Before } = options;
  return { presence: 'required', keys, read, from, to, where, next, before };
}

const NOTHING = (): null => null;

/** Decodes the body of the first message. */
function bodyReader<Data>(codec: Codec<Data>): (block: ActionBlock) => Data {
  return (block) => codec.load(openCell(block.message!.body));
}

/** A message with this body; what follows the last field of the layout is not read. */
export function call<Data, Next extends Steps = NoSteps, Before extends Expectation | null = null>(
  body: Layout<Data>,
  options: StepOptions<Data, Next, Before> = {},
): Step<Data, Next, Before> {
  return step([body.tag], bodyReader(body), options);
}

/** A message with one of these opcodes, of which the body does not matter. */
export function callOf<Next extends Steps = NoSteps, Before extends Expectation | null = null>(
  opcodes: number | readonly number[],
  options: StepOptions<null, Next, Before> = {},
): Step<null, Next, Before> {
  return step(typeof opcodes === 'number' ? [opcodes] : opcodes, NOTHING, options);
}

/** Any message with an opcode, or an external one, that is not understood otherwise. */
export function anyCall<Next extends Steps = NoSteps, Before extends Expectation | null = null>(
  options: StepOptions<null, Next, Before> = {},
): Step<null, Next, Before> {
  return step(['call_contract'], NOTHING, options);
}

/** The data of a transfer of coins: its comment. */
export interface TransferData {
  readonly text: string | null;
  readonly encrypted: boolean;
}

/** A transfer of coins. */
export function coinTransfer<Next extends Steps = NoSteps, Before extends Expectation | null = null>(
  options: StepOptions<TransferData, Next, Before> = {},
): Step<TransferData, Next, Before> {
  return step(['ton_transfer'], (block) => block.data as TransferData, options);
}

/** A block in which exactly one account became active. */
export function deployment<Next extends Steps = NoSteps, Before extends Expectation | null = null>(
  options: StepOptions<null, Next, Before> = {},
): Step<null, Next, Before> {
  return step([DEPLOYS], NOTHING, options);
}

/** A block that one of these patterns recognised. */
export function recognised<Data, Next extends Steps = NoSteps, Before extends Expectation | null = null>(
  patterns: Pattern<Data> | readonly Pattern<Data>[],
  options: StepOptions<Data, Next, Before> = {},
): Step<Data, Next, Before> {
  const all = 'kinds' in patterns ? [patterns] : patterns;
  return step(
    all.flatMap(({ kinds }) => kinds),
    (block) => block.data as Data,
    options,
  );
}

/** A transfer of coins, or a message with one of these opcodes. */
export function transferOrCallOf<Next extends Steps = NoSteps, Before extends Expectation | null = null>(
  opcodes: readonly number[],
  options: StepOptions<null, Next, Before> = {},
): Step<null, Next, Before> {
  return step(['ton_transfer', ...opcodes], NOTHING, options);
}

/** Any block. */
export function anything<Next extends Steps = NoSteps, Before extends Expectation | null = null>(
  options: StepOptions<null, Next, Before> = {},
): Step<null, Next, Before> {
  return step([], NOTHING, options);
}

export function anyOf<const Options extends readonly Step[]>(...options: Options): OneOf<Options> {
  return { presence: 'one of', options };
}

export function optionally<Of extends Step | OneOf>(of: Of): Optional<Of> {
  return { presence: 'optional', step: of };
}

export function each<Of extends Step | OneOf>(of: Of): Each<Of> {
  return { presence: 'each', step: of };
}

/** What the blocks of a match mean. */
export interface Meaning<Data = unknown> {
  readonly type: ActionType;
  readonly details: GivenDetails<DetailFields>;
  /** For patterns that build on this one. */
  readonly data: Data;
  readonly failed?: boolean;
  /** A contract contradicts the messages. */
  readonly broken?: boolean;
  /** Blocks that belong to it in addition to those that matched. */
  readonly also?: readonly (ActionBlock | null | undefined)[];
  /** Blocks that matched and do not belong to it. */
  readonly without?: readonly (ActionBlock | null | undefined)[];
  /** Participants in addition to the accounts of its transactions and to sources and destinations. */
  readonly parties?: readonly (Address | null | undefined)[];
  /** The transaction that sent the first message belongs to it, though it is made of several messages of that transaction. */
  readonly sender?: boolean;
  /** Kind of the block, when the pattern makes several. */
  readonly kind?: string;
}

/** The meaning of a match, with details that fit the type. */
export function meaning<Name extends string, Fields, Data = null>(
  type: ActionType<Name, Fields>,
  details: GivenDetails<Fields>,
  more: Partial<Omit<Meaning<Data>, 'type' | 'details'>> = {},
): Meaning<Data> {
  return {
    data: null as Data,
    ...more,
    type: type as unknown as ActionType,
    details: details as GivenDetails<DetailFields>,
  };
}

/** A pattern: blocks that mean something together. */
export interface Pattern<Data = unknown> {
  readonly name: string;
  /** Kinds of the blocks that it makes. They enter ids of actions. */
  readonly kinds: readonly string[];
  readonly step: Step;
  readonly build: (match: never, context: MatchContext) => Meaning<Data>;
  /**
   * Whether what its first message bounces belongs to it. What its other messages bounce, and excesses that directly follow,
   * always does.
   */
  readonly takesBounced: boolean;
}

export interface PatternOptions {
  /** By default its name. */
  readonly kinds?: readonly string[];
  /** By default false. */
  readonly takesBounced?: boolean;
}

/**
 * Declares a pattern.
 *
 * @param name under which its near misses are reported and counted
 * @param step what it looks for; the blocks with the keys of this step are tried
 * @param build what the match means; refuses it with `context.refuse`
 */
export function pattern<S extends Step, Data>(
  name: string,
  anchor: S,
  build: (match: Matched<S>, context: MatchContext) => Meaning<Data>,
  { kinds = [name], takesBounced = false }: PatternOptions = {},
): Pattern<Data> {
  return { name, kinds, step: anchor, build: build as Pattern<Data>['build'], takesBounced };
}
