import type { LocalStatus, MasterchainInfo, Readiness } from '../api/answers.js';
import { ApiProblem, ask, askV2 } from '../api/ask.js';

/** What the pages know of the network that they show. */
export interface NetworkState {
  /** `opening` until the first answer. */
  readonly connection: 'opening' | 'open' | 'lost';
  /** Newest masterchain seqno; 0 before the first answer. */
  readonly head: number;
  /** When the head was seen to change: milliseconds of `performance.now()`. */
  readonly headAt: number;
  /** Masterchain blocks per second, over what was seen; null: not known yet. */
  readonly rate: number | null;
  /** Counts chains: it rises when the network was reset or another chain took its place. Everything is loaded anew then. */
  readonly chain: number;
  /** Whether the chain that is shown took the place of another one while the page was open. */
  readonly wasReset: boolean;
  /** Null: not a local network. Undefined: not known yet. */
  readonly local: LocalStatus | null | undefined;
  readonly readiness: Readiness | null;
  /** Whether API v3 is served. */
  readonly hasIndex: boolean;
  /** Root hash of the zerostate: tells networks apart. */
  readonly zerostate: string | null;
}

const FIRST: NetworkState = {
  connection: 'opening',
  head: 0,
  headAt: 0,
  rate: null,
  chain: 0,
  wasReset: false,
  local: undefined,
  readiness: null,
  hasIndex: true,
  zerostate: null,
};

/** How often the head is asked for: often enough for a local network, rarely while nobody looks. */
const POLL_MS = 700;
const HIDDEN_MS = 15_000;
/** While the server does not answer. */
const LOST_MS = 1_500;
/** Of `/readyz` and the local network. */
const STATUS_MS = 3_000;
/** Heads from which the rate is taken. */
const SAMPLES = 12;

/** Follows the head of the network, and notices when the connection or the chain changes. */
class NetworkWatch {
  #state = FIRST;
  #timer = 0;
  #isStarted = false;
  #statusAt = Number.NEGATIVE_INFINITY;
  #samples: { readonly seqno: number; readonly at: number }[] = [];
  readonly #listeners = new Set<(state: NetworkState) => void>();

  get state(): NetworkState {
    return this.#state;
  }

  /** Calls the listener at every change. @returns what ends that */
  listen(listener: (state: NetworkState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.pollNow();
    });
    addEventListener('online', () => this.pollNow());
    void this.#poll();
  }

  /** Asks at once, with the status of a local network: after something was changed there. */
  pollNow(): void {
    clearTimeout(this.#timer);
    this.#statusAt = Number.NEGATIVE_INFINITY;
    void this.#poll();
  }

  async #poll(): Promise<void> {
    let wait = document.hidden ? HIDDEN_MS : POLL_MS;
    try {
      const info = await askV2<MasterchainInfo>('getMasterchainInfo', {});
      this.#noteHead(info);
      if (performance.now() - this.#statusAt >= STATUS_MS) {
        this.#statusAt = performance.now();
        await this.#askStatus();
      }
    } catch (error) {
      const isBusy = error instanceof ApiProblem && error.kind !== 'unreachable';
      wait = isBusy ? Math.max(wait, (error.retryAfter ?? 1) * 1_000) : LOST_MS;
      // While a chain is replaced, the server answers 503.
      if (!isBusy || error.status >= 500) this.#set({ connection: 'lost' });
      this.#samples = [];
    }
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#poll(), wait);
  }

  #noteHead({ last, init }: MasterchainInfo): void {
    const { head, zerostate, chain, connection } = this.#state;
    const isOther = (zerostate !== null && zerostate !== init.root_hash) || last.seqno < head;
    if (isOther) this.#samples = [];
    const now = performance.now();
    const isNew = isOther || last.seqno !== head;
    if (isNew) this.#samples = [...this.#samples.slice(1 - SAMPLES), { seqno: last.seqno, at: now }];
    if (!isNew && connection === 'open') return;
    const [oldest] = this.#samples;
    const seconds = oldest === undefined ? 0 : (now - oldest.at) / 1000;
    this.#set({
      connection: 'open',
      head: last.seqno,
      headAt: isNew ? now : this.#state.headAt,
      rate: seconds < 1 ? this.#state.rate : (last.seqno - oldest!.seqno) / seconds,
      zerostate: init.root_hash,
      ...(isOther ? { chain: chain + 1, wasReset: true } : {}),
    });
  }

  async #askStatus(): Promise<void> {
    const readiness = await readinessOf();
    const local = await localStatus(this.#state.local);
    const before = this.#state.local;
    const isOther = local != null && before != null && local.chain !== before.chain;
    const hasIndex = indexOf(readiness) !== false;
    this.#set({ readiness, local, hasIndex, ...(isOther ? { chain: this.#state.chain + 1, wasReset: true } : {}) });
  }

  #set(change: Partial<NetworkState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener(this.#state);
  }
}

/** `/readyz` has an answer in both cases. */
async function readinessOf(): Promise<Readiness | null> {
  const response = await fetch('/readyz');
  const value = (await response.json()) as Partial<Readiness>;
  return value.networks === undefined ? null : (value as Readiness);
}

/** The status of the local network; null where there is none, which does not change. */
async function localStatus(before: LocalStatus | null | undefined): Promise<LocalStatus | null> {
  if (before === null) return null;
  try {
    return (await ask<LocalStatus>('/localnet/status')).value;
  } catch (error) {
    if (error instanceof ApiProblem && error.kind === 'busy') return before ?? null;
    if (error instanceof ApiProblem && error.status >= 400 && error.status < 500) return null;
    throw error;
  }
}

/** Whether there is an index; null: not known. */
function indexOf(readiness: Readiness | null): boolean | null {
  const details = Object.values(readiness?.networks ?? {})[0]?.details;
  const index = details?.index;
  return typeof index === 'string' ? !index.startsWith('none') : null;
}

/** The watch of this page. */
export const networkWatch = new NetworkWatch();
