import type { BlockId } from '#formats/proofs/block-id.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { MessageCheck } from '#localnet/node/message-check.js';
import type { MessagePool } from '#localnet/node/message-pool.js';
import { MOST_ROUNDS, type RoundLoop } from '#localnet/node/round-loop.js';
import type { ExternalMessage } from '#localnet/producer/round-request.js';

/** How messages from outside come in: looked at, then put among those that wait. */
export class MessageIntake {
  readonly #check: MessageCheck;
  readonly #pool: MessagePool;
  readonly #loop: RoundLoop;

  constructor(check: MessageCheck, pool: MessagePool, loop: RoundLoop) {
    this.#check = check;
    this.#pool = pool;
    this.#loop = loop;
  }

  /** How many wait for a block. */
  get waiting(): number {
    return this.#pool.size;
  }

  /** Takes a message that a client sends; one that waits already once only. @throws liteserver/*, tvm/* */
  async take(body: Uint8Array): Promise<void> {
    const message = this.#check.parse(body);
    if (this.#pool.has(message)) return;
    await this.#check.requireAccepted(message);
    if (!this.#pool.has(message)) this.#pool.add(message);
  }

  /**
   * Takes a message, and makes rounds until it is in one.
   * @returns the masterchain block in which it is
   * @throws liteserver/*, localnet/not-made, localnet/no-block
   */
  async sendAndMine(message: ExternalMessage): Promise<BlockId> {
    await this.#check.requireAccepted(message);
    let problem: string | null = null;
    let included = false;
    this.#pool.add(message, (outcome) => {
      included = outcome?.kind === 'included';
      if (outcome?.kind !== 'included') problem = outcome?.problem ?? 'the message was forgotten';
    });
    for (let rounds = 0; rounds < MOST_ROUNDS; rounds++) {
      const { masterchain } = await this.#loop.round();
      if (included) return masterchain.id;
      if (problem !== null) throw localnetErrors['not-made']({ wanted: 'the transfer', problem });
    }
    throw localnetErrors['no-block']({ wanted: 'the message', blocks: MOST_ROUNDS });
  }
}
