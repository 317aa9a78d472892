import type { V2Context } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import type { Cell } from '#formats/cells/cell.js';
import type { ExternalMessage } from '#formats/tlb/external-message.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { SendDiagnosis } from '#services/contracts/contracts.js';

/** Names of error codes of liteservers, as tonlib writes them in front of a server's text. */
const ERROR_NAMES: ReadonlyMap<number, string> = new Map([
  [601, 'FAILURE'],
  [602, 'ERROR'],
  [603, 'WARNING'],
  [621, 'PROTOVIOLATION'],
  [651, 'NOTREADY'],
  [652, 'TIMEOUT'],
  [653, 'CANCELLED'],
]);

/**
 * Sends a message. When nodes refuse it, the error has the text of one of them, which clients look into, and an
 * explanation.
 * @throws v2/message-refused, chain/*, lite/*
 */
export async function sendMessage({ boc, cell }: ExternalMessage, { network, read }: V2Context): Promise<void> {
  try {
    await network.chain.send(boc, read);
  } catch (error) {
    if (!isTernError(error, 'chain/message-refused')) throw error;
    const { code, text } = error.data;
    const nodeText = `LITE_SERVER_${ERROR_NAMES.get(Number(code)) ?? 'UNKNOWN'}: ${String(text)}`;
    const { reason, explanation } = await explain(cell, String(text), { network, read });
    throw v2Errors['message-refused']({ nodeText, reason, explanation }, error);
  }
}

/** An explanation that cannot be had must not hide what the node said. */
async function explain(
  message: Cell,
  nodeText: string,
  { network, read }: Pick<V2Context, 'network' | 'read'>,
): Promise<SendDiagnosis> {
  try {
    return await network.contracts.explainRefusal(message, nodeText, read);
  } catch (error) {
    if (!isTernError(error)) throw error;
    const explanation = `What is wrong with the message could not be looked up: ${error.message}.`;
    return { reason: 'unknown', explanation };
  }
}
