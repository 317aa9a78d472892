import { connect, type Socket } from 'node:net';

/** What came back: the length of the body is enough for most. */
export interface SocketAnswer {
  readonly status: number;
  readonly bytes: number;
  readonly body: Buffer;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * One connection that asks one thing at a time. It takes a fifth of the time of an HTTP client of Node, so that the service
 * has the processors.
 */
export class SocketClient {
  readonly #socket: Socket;
  readonly #host: string;
  #received: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #missing = 0;
  #status = 0;
  #waiting: { readonly resolve: (answer: SocketAnswer) => void; readonly reject: (error: Error) => void } | null = null;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.on('data', (part: Buffer) => this.#receive(part));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  static async open(url: string): Promise<SocketClient> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new SocketClient(socket, host);
  }

  get(path: string): Promise<SocketAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n\r\n`);
    });
  }

  close(): void {
    this.#waiting = null;
    this.#socket.destroy();
  }

  #receive(part: Buffer): void {
    if (this.#status !== 0) {
      this.#take(part);
      return;
    }
    this.#received = this.#received.length === 0 ? part : Buffer.concat([this.#received, part]);
    const end = this.#received.indexOf(END_OF_HEAD);
    if (end < 0) return;
    const head = this.#received.toString('latin1', 0, end);
    const length = /\r\ncontent-length: (\d+)/i.exec(head);
    if (length === null) {
      this.#fail(new Error(`an answer without a length: ${head}`));
      return;
    }
    this.#status = Number(head.slice(9, 12));
    this.#missing = Number(length[1]);
    const rest = this.#received.subarray(end + 4);
    this.#received = Buffer.alloc(0);
    this.#take(rest);
  }

  #take(part: Buffer): void {
    this.#parts.push(part);
    this.#missing -= part.length;
    if (this.#missing > 0) return;
    const body = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    const answer = { status: this.#status, bytes: body.length, body };
    const waiting = this.#waiting;
    this.#status = 0;
    this.#parts = [];
    this.#waiting = null;
    waiting?.resolve(answer);
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}
