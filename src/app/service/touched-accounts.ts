import type { Address } from '#formats/address/address.js';
import type { RunningNode } from '#localnet/node/local-node.js';

/** Accounts that were brought, or of which there are none: so many are remembered. */
const MOST = 65_536;

/**
 * Accounts of a local network that is a fork: before one is read for the first time, it is brought from the forked
 * network. An account that is here once is not asked for again.
 */
export class TouchedAccounts {
  readonly #node: Pick<RunningNode, 'touch'>;
  /** The masterchain block since which an account is here; null for one that is neither here nor there. */
  readonly #known = new Map<string, number | null>();
  readonly #touching = new Map<string, Promise<number | null>>();

  constructor(node: Pick<RunningNode, 'touch'>) {
    this.#node = node;
  }

  /**
   * @returns a masterchain block since which the account is here; null: there is none that could be brought
   * @throws fork/unreachable
   */
  async bring(address: Address): Promise<number | null> {
    const key = address.toRaw();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    let touching = this.#touching.get(key);
    if (touching === undefined) {
      touching = this.#touch(key, address).finally(() => this.#touching.delete(key));
      this.#touching.set(key, touching);
    }
    return touching;
  }

  async #touch(key: string, address: Address): Promise<number | null> {
    const mined = await this.#node.touch(address);
    const seqno = mined?.block.seqno ?? null;
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.set(key, seqno);
    return seqno;
  }
}
