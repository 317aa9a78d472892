import type { Action } from '#domain/actions/action-registry.js';
import { isWrappedTon } from '#domain/actions/protocols/jettons.js';
import type { ContractFacts, TraceFacts } from '#domain/actions/trace-facts.js';
import type { TracedMessage, TracedTransaction, TraceInput } from '#domain/actions/trace-input.js';
import { JettonBurn, JettonInternalTransfer, JettonTransfer } from '#domain/tokens/token-messages.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import type { Layout } from '#formats/tlb/codec/layout.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { isTernError } from '#kernel/tern-error.js';
import type { KnownFacts } from '#test/support/recorded-actions.js';

/*
 * Real traces that somebody changes to make others believe that tokens moved: bodies, receivers and parts are exchanged, and wallets are
 * not those of the master that they name. What a verified jetton wallet does stays what its code does.
 */

/** A message with the transaction that received it, and what this sent. */
interface TraceNode {
  account: Address | null;
  body: Cell;
  readonly message: TracedMessage | null;
  readonly transaction: TracedTransaction | null;
  aborted: boolean;
  next: TraceNode[];
}

/** Numbers from 0 to below a bound. */
type Below = (bound: number) => number;

function treeOf({ transactions }: TraceInput): TraceNode {
  const nodes = new Map<string, TraceNode>();
  const key = (hash: Uint8Array) => Buffer.from(hash).toString('hex');
  const roots: TraceNode[] = [];
  const ordered = [...transactions].sort((a, b) => (a.lt < b.lt ? -1 : 1));
  for (const transaction of ordered) {
    const { in_msg: message, account, aborted } = transaction;
    const node: TraceNode = { account, body: message?.body as Cell, message, transaction, aborted, next: [] };
    const sender = message === null ? undefined : nodes.get(key(message.hash));
    if (sender === undefined) roots.push(node);
    else sender.next.push(node);
    for (const out of transaction.out_msgs) {
      if (out.destination !== null) nodes.set(key(out.hash), node);
      else node.next.push({ account: null, body: out.body, message: out, transaction: null, aborted: false, next: [] });
    }
  }
  return roots[0]!;
}

function nodesOf(root: TraceNode): TraceNode[] {
  const all: TraceNode[] = [];
  const left = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    all.push(node);
    left.push(...node.next);
  }
  return all;
}

function mutate(root: TraceNode, below: Below): void {
  for (let times = 1 + below(4); times > 0; times--) {
    const nodes = nodesOf(root).filter(({ message }) => message?.source != null);
    if (nodes.length === 0) return;
    const any = () => nodes[below(nodes.length)]!;
    const [one, other] = [any(), any()];
    switch (below(6)) {
      case 0:
        one.body = other.body;
        break;
      case 1:
        if (one.account !== null && other.account !== null) one.account = other.account;
        break;
      case 2:
        one.aborted = !one.aborted;
        break;
      case 3:
        one.next = [];
        break;
      case 4:
        if (!nodesOf(other).includes(one) && one.account !== null && nodesOf(other).length < 30)
          one.next.push(copyOf(other));
        break;
      default:
        for (const node of nodesOf(root))
          if (node !== root && node.account !== null && node.account === one.account) node.account = other.account;
    }
  }
}

function copyOf(node: TraceNode): TraceNode {
  return { ...node, next: node.next.map(copyOf) };
}

function loadIf<Body>(layout: Layout<Body>, body: Cell): Body | null {
  try {
    return layout.load(openCell(body));
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

/** Tokens that verified wallets received or burnt: amounts by raw address of the master. */
type Moved = Map<string, Set<bigint>>;

/**
 * Lets verified wallets and their masters act as their code does: wallets take transfers from their master and from other verified wallets
 * of it, and orders from their owner; masters mint into their wallets. Everything else fails, and nothing follows from it.
 */
function enforceWallets(root: TraceNode, { facts, masters }: VerifiedTokens): Moved {
  const moved: Moved = new Map();
  const note = (master: Address, units: bigint): void => {
    const key = master.toRaw();
    moved.set(key, (moved.get(key) ?? new Set()).add(units));
  };
  const left: { readonly node: TraceNode; readonly from: Address | null }[] = [{ node: root, from: null }];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const { node, from } = one;
    const wallet = node.account === null ? null : facts.contract(node.account)?.jetton_wallet;
    if (wallet && node.message !== null && node.body !== undefined) {
      const internal = loadIf(JettonInternalTransfer, node.body);
      const burn = loadIf(JettonBurn, node.body);
      const transfer = loadIf(JettonTransfer, node.body);
      const sender = from === null ? null : facts.contract(from)?.jetton_wallet;
      const isOwn = from?.equals(wallet.owner) === true;
      const isOfMaster = from?.equals(wallet.jetton) === true || sender?.jetton.equals(wallet.jetton) === true;
      if ((internal !== null && !isOfMaster) || ((burn ?? transfer) !== null && !isOwn)) node.aborted = true;
      if (node.aborted) node.next = [];
      const units = internal?.amount ?? burn?.amount ?? null;
      if (!node.aborted && units !== null) note(wallet.jetton, units);
      // Wallets of wrapped TON pay the receiver in TON.
      if (!node.aborted && transfer !== null && isWrappedTon(wallet.jetton)) note(wallet.jetton, transfer.amount);
      // What its code sends: to the receiver's wallet what was ordered, to its owner the rest.
      if (transfer !== null) {
        const to = accountOf(transfer.destination);
        node.next = node.next.filter(({ body, account }) => {
          const sent = body === undefined ? null : loadIf(JettonInternalTransfer, body);
          if (sent === null) return false;
          const receiver = account === null ? null : facts.contract(account)?.jetton_wallet;
          if (!receiver?.jetton.equals(wallet.jetton)) return true;
          return sent.amount === transfer.amount && to?.equals(receiver.owner) === true;
        });
      }
    }
    if (node.account !== null && masters.has(node.account.toRaw())) {
      node.next = node.next.filter(({ body, account }) => {
        if (body === undefined || loadIf(JettonInternalTransfer, body) === null) return true;
        const receiver = account === null ? null : facts.contract(account)?.jetton_wallet;
        return receiver?.jetton.equals(node.account!) === true;
      });
    }
    for (const next of node.next) left.push({ node: next, from: node.account });
  }
  return moved;
}

/** What is verified. */
interface VerifiedTokens {
  readonly facts: TraceFacts;
  /** Raw addresses of the masters of all verified wallets. */
  readonly masters: ReadonlySet<string>;
}

export function mastersOf(facts: KnownFacts): ReadonlySet<string> {
  const masters = new Set<string>();
  for (const { jetton_wallet: wallet } of facts.contracts.values()) if (wallet) masters.add(wallet.jetton.toRaw());
  return masters;
}

/** Facts in which some wallets are none: they claim to be of a master that does not confirm them. */
export class WithoutWallets implements TraceFacts {
  readonly #facts: TraceFacts;
  readonly #hidden: ReadonlySet<string>;

  constructor(facts: TraceFacts, hidden: ReadonlySet<string>) {
    this.#facts = facts;
    this.#hidden = hidden;
  }

  contract(address: Address): ContractFacts | null | undefined {
    const known = this.#facts.contract(address);
    return known && this.#hidden.has(address.toRaw()) ? { ...known, jetton_wallet: null } : known;
  }

  data(address: Address): Cell | null | undefined {
    return this.#facts.data(address);
  }
}

let serial = 0;
function newHash(kind: number): Uint8Array {
  const hash = new Uint8Array(32);
  hash[0] = kind;
  new DataView(hash.buffer).setUint32(4, ++serial);
  return hash;
}

/** The trace of a tree, with hashes and times of its own. */
function traceOf(root: TraceNode): TraceInput {
  serial = 0;
  const transactions: TracedTransaction[] = [];
  let lt = 1_000n;
  const queue: { readonly node: TraceNode; readonly message: TracedMessage | null }[] = [
    { node: root, message: root.message },
  ];
  for (let at = 0; at < queue.length; at++) {
    const { node, message } = queue[at]!;
    const own = ++lt;
    const out_msgs = node.next.map((next): TracedMessage => {
      const sent = {
        ...next.message!,
        ...{ hash: newHash(1), source: node.account, destination: next.account, body: next.body, created_lt: ++lt },
      };
      if (next.account !== null) queue.push({ node: next, message: sent });
      return sent;
    });
    transactions.push({
      ...node.transaction!,
      ...{ hash: newHash(2), account: node.account!, lt: own, aborted: node.aborted, in_msg: message, out_msgs },
    });
  }
  return { trace_id: transactions[0]!.hash, transactions };
}

/** A changed trace, with the tokens that really moved in it. */
export function mutatedTrace(
  trace: TraceInput,
  verified: VerifiedTokens,
  below: Below,
): { readonly trace: TraceInput; readonly moved: Moved } {
  const root = treeOf(trace);
  mutate(root, below);
  const moved = enforceWallets(root, verified);
  return { trace: traceOf(root), moved };
}

/** Fields that name a token with the field of its amount. */
const CLAIMS: readonly (readonly [asset: string, amount: string])[] = [
  ['asset', 'amount'],
  ['asset_1', 'amount_1'],
  ['asset_2', 'amount_2'],
  ['source_asset', 'amount'],
];
/** Types of which `amount` is not in units of `asset`: it is TON, or tokens that stand for it. */
const OTHER_UNITS = new Set(['stake_deposit', 'stake_withdrawal', 'jvault_unstake']);
/** Types that say what is to happen, or what another trace paid. */
const NOT_YET: ReadonlySet<string> = new Set([
  'jvault_unstake_request',
  'stake_withdrawal_request',
  'coffee_create_pool',
]);

/** What successful actions say of verified tokens that did not move. */
export function falseClaims(actions: readonly Action[], masters: ReadonlySet<string>, moved: Moved): string[] {
  const problems: string[] = [];
  const check = (type: string, values: Readonly<Record<string, unknown>>, isWhole: boolean) => {
    for (const [asset, amount] of CLAIMS) {
      const [master, units] = [values[asset], values[amount]];
      if (!(master instanceof Address) || typeof units !== 'bigint' || units === 0n) continue;
      if (!masters.has(master.toRaw())) continue;
      const least = isWhole && asset === 'asset' && OTHER_UNITS.has(type) ? 1n : units;
      if ([...(moved.get(master.toRaw()) ?? [])].some((each) => each >= least)) continue;
      problems.push(`${type}: ${units} of ${master.toRaw()} (${asset}) did not move`);
    }
  };
  for (const { type, success, details } of actions) {
    if (!success || NOT_YET.has(type)) continue;
    const values = details as Readonly<Record<string, unknown>>;
    check(type, values, true);
    for (const name of ['dex_incoming_transfer', 'dex_outgoing_transfer']) {
      if (typeof values[name] === 'object' && values[name] !== null)
        check(`${type}.${name}`, values[name] as Readonly<Record<string, unknown>>, false);
    }
  }
  return problems;
}
