import { traceOfAnswer } from '#app/cli/explain-source.js';
import { PATTERNS } from '#domain/actions/action-registry.js';
import { type Classification, classify } from '#domain/actions/classify.js';
import type { ContractFacts } from '#domain/actions/trace-facts.js';
import type { TracedMessage, TracedTransaction, TraceInput } from '#domain/actions/trace-input.js';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { GOLDEN_ACTIONS, goldenFacts } from '#test/support/golden-actions.js';
import { falseClaims, mastersOf, mutatedTrace, WithoutWallets } from '#test/support/hostile-mutations.js';
import { factsOfCase, mainnetTraceCases, traceOfCase } from '#test/support/mainnet-traces.js';
import { KnownFacts, recordedFacts, recordedTraces } from '#test/support/recorded-actions.js';

/** Numbers from 0 to below a bound, the same for the same seed. */
function seeded(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

export function madeAddress(number: number): Address {
  const hash = new Uint8Array(32);
  new DataView(hash.buffer).setUint32(28, number);
  return Address.ofParts(0, hash);
}

function madeHash(kind: number, number: number): Uint8Array {
  const hash = new Uint8Array(32);
  hash[0] = kind;
  // Among the first bits, by which hashes are looked up: real ones differ there.
  new DataView(hash.buffer).setUint32(1, number);
  return hash;
}

/** A transaction of a made-up trace. */
export interface MadeStep {
  /** The step that sends its message; null: an external message. */
  readonly sender: number | null;
  readonly account: number;
  readonly body: Cell;
  readonly value?: bigint;
  readonly aborted?: boolean;
  readonly init?: Cell;
  readonly deploys?: boolean;
}

/** A trace of these transactions, in their order. Senders stand before receivers. */
export function madeTrace(steps: readonly MadeStep[]): TraceInput {
  const messages = steps.map(
    ({ sender, account, body, value = 10n ** 9n, init }, i): TracedMessage => ({
      hash: madeHash(1, i),
      source: sender === null ? null : madeAddress(steps[sender]!.account),
      destination: madeAddress(account),
      value: sender === null ? null : value,
      currencies: new Map(),
      bounce: true,
      bounced: false,
      created_lt: sender === null ? null : BigInt(i * 2 + 1),
      created_at: sender === null ? null : 1_700_000_000,
      body,
      init: init ?? null,
    }),
  );
  const sent = new Map<number, TracedMessage[]>();
  steps.forEach(({ sender }, i) => {
    if (sender === null) return;
    const known = sent.get(sender);
    if (known === undefined) sent.set(sender, [messages[i]!]);
    else known.push(messages[i]!);
  });
  const transactions = steps.map(
    ({ account, aborted = false, deploys = false }, i): TracedTransaction => ({
      hash: madeHash(2, i),
      account: madeAddress(account),
      lt: BigInt(i * 2 + 2),
      utime: 1_700_000_000,
      mc_seqno: 1,
      kind: 'ordinary',
      aborted,
      exit_code: aborted ? 1 : 0,
      skipped: null,
      orig_status: deploys ? 'nonexist' : 'active',
      end_status: 'active',
      in_msg: messages[i]!,
      out_msgs: sent.get(i) ?? [],
    }),
  );
  return { trace_id: transactions[0]!.hash, transactions };
}

/** A body that starts with this opcode and goes on with bits and references by chance. */
function fuzzedBody(opcode: number, below: (bound: number) => number, depth = 0): Cell {
  const builder = new Builder().storeUint(opcode, 32);
  if (below(3) > 0) builder.storeUint(BigInt(below(2 ** 31)), 64);
  for (let i = below(12); i > 0; i--) {
    const kind = below(4);
    if (kind === 0) builder.storeUint(below(2 ** 16), 16);
    else if (kind === 1) builder.storeUint(1, 4).storeUint(below(256), 8);
    else if (kind === 2 && builder.bits < 600) {
      builder
        .storeUint(4, 3)
        .storeUint(0, 8)
        .storeBytes(madeAddress(below(30)).hash);
    } else if (builder.refs < 4 && depth < 3) builder.storeRef(fuzzedBody(below(2 ** 31), below, depth + 1));
  }
  return builder.endCell();
}

export function opcodeBody(opcode: number): Cell {
  return new Builder().storeUint(opcode, 32).storeUint(0, 64).endCell();
}

const NO_BODY: Cell = EMPTY_CELL;

/** Opcodes that any pattern starts with or expects. */
function opcodesOfPatterns(): readonly number[] {
  const found = new Set<number>([0, 1, 2, 3, 0xd53276db, 0xffffffff]);
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (Array.isArray(value)) for (const one of value) typeof one === 'number' ? found.add(one) : visit(one);
    else for (const one of Object.values(value)) visit(one);
  };
  for (const { step } of PATTERNS) visit(step);
  return [...found];
}

export const OPCODES = opcodesOfPatterns();

/** Thirty accounts, each of which may be several things at once, in cycles. */
function cyclicFacts(below: (bound: number) => number): KnownFacts {
  const facts = new KnownFacts();
  const any = () => madeAddress(below(30));
  for (let account = 0; account < 30; account++) {
    const all: Partial<ContractFacts> = {
      jetton_wallet: { owner: any(), jetton: any() },
      nft_item: { index: BigInt(below(9)), collection: any(), owner: any(), content_uri: 'https://nft.fragment.com/x' },
      nft_sale: { nft: any(), nft_owner: any(), marketplace: any(), full_price: 5n },
      nft_auction: { nft: any(), nft_owner: any(), marketplace: any(), last_bid: 5n },
      multisig_order: { multisig: any(), signers: [any()] },
      nominator_pool: true,
      dex_pool: { dex: 'dedust', asset_1: null, asset_2: any() },
    };
    const kept = Object.entries(all).filter(() => below(2) === 0);
    facts.add(madeAddress(account).toRaw(), Object.fromEntries(kept));
  }
  return facts;
}

function fuzzedTrace(below: (bound: number) => number): TraceInput {
  const steps: MadeStep[] = [{ sender: null, account: below(30), body: fuzzedBody(below(2 ** 31), below) }];
  for (let i = below(14); i > 0; i--) {
    const body = below(8) === 0 ? NO_BODY : fuzzedBody(OPCODES[below(OPCODES.length)]!, below);
    const value = BigInt(below(4)) * 10n ** 9n;
    const flags = { aborted: below(6) === 0, deploys: below(6) === 0 };
    steps.push({ sender: below(steps.length), account: below(30), body, value, ...flags });
  }
  return madeTrace(steps);
}

/** As many ids as actions, and all facts known: what holds for each classification. */
function problemOf(trace: TraceInput, { actions, failure, wanted }: Classification): string | null {
  if (failure !== null) return `failed in ${failure.pattern}: ${failure.error}`;
  if (wanted.length > 0) return 'wants facts that are known';
  const ids = new Set(actions.map(({ action_id }) => Buffer.from(action_id).toString('hex')));
  if (ids.size !== actions.length) return 'ids are repeated';
  for (const { transactions } of actions)
    if (transactions.some((at) => trace.transactions[at] === undefined)) return 'a transaction is none of the trace';
  return null;
}

interface RealTrace {
  readonly trace: TraceInput;
  readonly facts: KnownFacts;
  readonly masters: ReadonlySet<string>;
}

let real: RealTrace[] | null = null;

/** Recorded traces of protocols, those of mainnet, and the made ones. */
export function realTraces(): readonly RealTrace[] {
  if (real !== null) return real;
  real = [];
  const add = (trace: TraceInput, facts: KnownFacts, masters = mastersOf(facts)) => {
    if (trace.transactions[0]!.kind === 'ordinary') real!.push({ trace, facts, masters });
  };
  const recorded = recordedFacts();
  const masters = mastersOf(recorded);
  for (const each of recordedTraces())
    if (each.actions.some(({ type }) => !PLAIN.has(type))) add(traceOfAnswer(each), recorded, masters);
  for (const each of mainnetTraceCases()) add(traceOfCase(each), factsOfCase(each));
  for (const { trace } of GOLDEN_ACTIONS) add(trace, goldenFacts());
  return real;
}

const PLAIN = new Set(['ton_transfer', 'call_contract', 'contract_deploy', 'extra_currency_transfer', 'unknown']);

/** A real trace that somebody changed, with some wallets that their master does not confirm. */
function changedTraceProblem(below: (bound: number) => number): string | null {
  const all = realTraces();
  const { trace: original, facts: known, masters } = all[below(all.length)]!;
  const accounts = original.transactions.map(({ account }) => account.toRaw());
  const hidden = new Set(accounts.filter(() => below(8) === 0));
  const facts = new WithoutWallets(known, hidden);
  const { trace, moved } = mutatedTrace(original, { facts, masters }, below);
  const classification = classify(trace, facts);
  return problemOf(trace, classification) ?? falseClaims(classification.actions, masters, moved)[0] ?? null;
}

/** What is wrong with the classification of the trace of a seed: even ones are made by chance, odd ones from real traces. */
export function hostileTraceProblem(seed: number): string | null {
  const below = seeded(seed);
  if (seed % 2 === 1) return changedTraceProblem(below);
  const trace = fuzzedTrace(below);
  return problemOf(trace, classify(trace, cyclicFacts(below)));
}

export function fan(transactions: number, opcode: number): TraceInput {
  const child = { sender: 0, body: opcodeBody(opcode) };
  const children = Array.from({ length: transactions - 1 }, (_, i) => ({ ...child, account: i + 1 }));
  return madeTrace([{ sender: null, account: 0, body: opcodeBody(1) }, ...children]);
}

export function chain(transactions: number, opcode: number): TraceInput {
  const body = opcodeBody(opcode);
  const step = (i: number): MadeStep => ({ sender: i === 0 ? null : i - 1, account: i % 30, body });
  return madeTrace(Array.from({ length: transactions }, (_, i) => step(i)));
}

/** What fails with the traces of these seeds. */
export function fuzzingProblems(from: number, to: number): string[] {
  const problems: string[] = [];
  for (let seed = from; seed <= to; seed++) {
    const problem = hostileTraceProblem(seed);
    if (problem !== null) problems.push(`seed ${seed}: ${problem}`);
  }
  return problems;
}

/** Opcodes with which such a trace needs more steps than it may take, or has no action. */
export function tooComplexWith(make: (opcode: number) => TraceInput, opcodes: readonly number[]): number[] {
  const facts = cyclicFacts(seeded(1));
  return opcodes.filter((opcode) => {
    const { failure, actions } = classify(make(opcode), facts);
    return failure !== null || actions.length === 0;
  });
}
