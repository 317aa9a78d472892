import type { IncomingMessage } from 'node:http';
import { httpErrors } from '#api/http/errors.js';

interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxBodiesBytes: number;
}

/** Reads bodies, as many at a time as memory is set aside for. */
export class BodyReader {
  readonly #limits: BodyLimits;
  #held = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Bytes of bodies that have come in part. */
  get heldBytes(): number {
    return this.#held;
  }

  /**
   * The whole body.
   *
   * @throws http/body-too-large, http/overloaded when too much is being received, http/client-left
   */
  read(message: IncomingMessage): Promise<Buffer> {
    const { maxBodyBytes, maxBodiesBytes } = this.#limits;
    return new Promise((resolve, reject) => {
      if (Number(message.headers['content-length']) > maxBodyBytes) {
        reject(httpErrors['body-too-large']({ maxBytes: maxBodyBytes }));
        return;
      }
      const chunks: Buffer[] = [];
      let length = 0;
      const end = (): void => {
        message.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
        this.#held -= length;
      };
      const onData = (chunk: Buffer): void => {
        length += chunk.length;
        this.#held += chunk.length;
        if (length > maxBodyBytes) {
          end();
          reject(httpErrors['body-too-large']({ maxBytes: maxBodyBytes }));
        } else if (this.#held > maxBodiesBytes) {
          end();
          reject(httpErrors.overloaded({ limit: 'too many bodies are being received' }));
        } else {
          chunks.push(chunk);
        }
      };
      const onEnd = (): void => {
        end();
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length));
      };
      const onGone = (): void => {
        end();
        message.on('error', () => {});
        reject(httpErrors['client-left']({}));
      };
      message.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    });
  }
}
