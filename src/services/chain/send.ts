import { wholeCell } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { LiteServerSendMessage } from '#formats/tl/lite-api.js';
import { readExternalInMessage } from '#formats/tlb/message.js';
import { isTernError, TernError } from '#kernel/tern-error.js';
import { chainErrors } from '#services/chain/errors.js';
import type { ReadContext } from '#services/chain/read-context.js';

/** A message accepted by at least one server. This does not imply that a block includes it. */
export interface SentExternalMessage {
  /** Hash of the sent message cell. */
  readonly hash: Uint8Array;
}

/** Size limit of servers. */
const MAX_BYTES = 65_535;

/** Depth limit of servers. */
const MAX_DEPTH = 511;

/** Sends external-in messages. */
export class MessageSender {
  readonly #fanOut: number;

  constructor(fanOut: number) {
    this.#fanOut = fanOut;
  }

  /**
   * Sends a message to several servers at once.
   * @param body BoC of the message
   * @throws chain/message, chain/message-refused with the error of a node, lite/*
   */
  async send(context: ReadContext, body: Uint8Array): Promise<SentExternalMessage> {
    const hash = checkMessage(body).hash();
    try {
      await context.fanOut(
        {
          fn: LiteServerSendMessage,
          query: { body },
          need: { kind: 'head' },
          verify: ({ status }) => {
            if (status !== 1)
              throw chainErrors['incomplete-answer']({ problem: `the status of the message is ${status}` });
            return status;
          },
        },
        this.#fanOut,
      );
    } catch (error) {
      if (!isTernError(error, 'lite/answer-error')) throw error;
      const { code, text } = error.data;
      throw chainErrors['message-refused']({ code: Number(code), text: String(text) }, error);
    }
    return { hash };
  }
}

/** @throws chain/message */
function checkMessage(body: Uint8Array): Cell {
  if (body.length > MAX_BYTES) {
    throw chainErrors.message({ problem: `the size is ${body.length} bytes; at most ${MAX_BYTES} are allowed` });
  }
  try {
    const root = wholeCell(body);
    if (root.depth() > MAX_DEPTH) {
      throw chainErrors.message({ problem: `the depth is ${root.depth()} cells; at most ${MAX_DEPTH} are allowed` });
    }
    return readExternalInMessage(root, body).cell;
  } catch (error) {
    if (!(error instanceof TernError) || isTernError(error, chainErrors.message.code)) throw error;
    throw chainErrors.message({ problem: error.message }, error);
  }
}
