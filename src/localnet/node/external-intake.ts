import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { type BlockLoop, MAX_MC_BLOCKS } from '#localnet/node/block-loop.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { ExternalMessageCheck, ExternalMessagePool } from '#localnet/node/external-messages.js';
import type { PendingExternalIn } from '#localnet/producer/block-request.js';

/** Receives external-in messages: checks them and adds them to the pool. */
export class ExternalMessageIntake {
  readonly #check: ExternalMessageCheck;
  readonly #pool: ExternalMessagePool;
  readonly #loop: BlockLoop;
  readonly #onPooled: (message: Uint8Array) => void;

  /** @param onPooled called with the BoC of each message that was accepted */
  constructor(
    check: ExternalMessageCheck,
    pool: ExternalMessagePool,
    loop: BlockLoop,
    onPooled: (message: Uint8Array) => void = () => {},
  ) {
    this.#check = check;
    this.#pool = pool;
    this.#loop = loop;
    this.#onPooled = onPooled;
  }

  /** Number of messages that wait for a block. */
  get waiting(): number {
    return this.#pool.size;
  }

  /** Drops all messages that wait. */
  clear(): void {
    this.#pool.clear();
  }

  /** Accepts a message that a client sends; a pending duplicate is ignored. @throws liteserver/*, tvm/* */
  async accept(body: Uint8Array): Promise<void> {
    const message = this.#check.parse(body);
    if (this.#pool.has(message)) return;
    await this.#check.requireAccepted(message);
    if (this.#pool.has(message)) return;
    this.#pool.add(message);
    this.#onPooled(body);
    this.#loop.wake();
  }

  /**
   * Accepts a message and produces blocks until one includes it.
   * @returns the masterchain block that commits it
   * @throws liteserver/*, localnet/not-made, localnet/no-block
   */
  async sendAndMine(message: PendingExternalIn): Promise<BlockId> {
    await this.#check.requireAccepted(message);
    let problem: string | null = null;
    let included = false;
    this.#pool.add(message, (outcome) => {
      included = outcome?.kind === 'included';
      if (outcome?.kind !== 'included') problem = outcome?.problem ?? 'the message was forgotten';
    });
    this.#onPooled(serializeBoc(message.message));
    for (let bundles = 0; bundles < MAX_MC_BLOCKS; bundles++) {
      const { masterchain } = await this.#loop.nextBlock();
      if (included) return masterchain.id;
      if (problem !== null) throw localnetErrors['not-made']({ wanted: 'the transfer', problem });
    }
    throw localnetErrors['no-block']({ wanted: 'the message', blocks: MAX_MC_BLOCKS });
  }
}
