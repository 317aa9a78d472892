import type { BlockHeader } from '#formats/proofs/block-header.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock/clock.js';
import { type Call, isServersFailure } from '#services/chain/call.js';
import type { Head, Trust } from '#services/chain/trust.js';

/** The newest masterchain block. Which one that is, servers say; that it is in the chain, their proof. */
export interface ChainHead {
  readonly block: BlockId;
  /** Unix seconds; `null` while there is only the zerostate. */
  readonly gen_utime: number | null;
  readonly end_lt: bigint;
  /** `null` while there is only the zerostate. */
  readonly header: BlockHeader | null;
}

export interface HeadsModules {
  readonly trust: Trust;
  readonly clock: Clock;
}

/** Servers refuse to wait for a block that is further ahead than this. */
const MAX_AHEAD = 100;

/** A wait that brought nothing is not begun again sooner, in case the servers did not wait at all. */
const PAUSE_MS = 100;

/** Reads of the newest block. */
export class Heads {
  readonly #modules: HeadsModules;

  constructor(modules: HeadsModules) {
    this.#modules = modules;
  }

  async head(call: Call): Promise<ChainHead> {
    return chainHead(await this.#modules.trust.newest(call));
  }

  /** The newest block as soon as it has this seqno or a higher one. @throws chain/deadline */
  async waitFor(call: Call, seqno: number): Promise<ChainHead> {
    const { trust, clock } = this.#modules;
    for (;;) {
      const { known } = trust;
      if (known !== null && known.id.seqno >= seqno) return chainHead(known);
      const begun = clock.now();
      let reached = -1;
      try {
        reached = (await trust.catchUp(call, Math.min(seqno, (known?.id.seqno ?? 0) + MAX_AHEAD))).id.seqno;
      } catch (error) {
        if (!isServersFailure(error)) throw error;
      }
      if (reached <= (known?.id.seqno ?? -1)) await this.#pause(Math.min(begun + PAUSE_MS - clock.now(), call.left()));
    }
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => void this.#modules.clock.schedule(ms, resolve));
  }
}

function chainHead({ id, gen_utime, end_lt, header }: Head): ChainHead {
  return { block: id, gen_utime, end_lt, header };
}
