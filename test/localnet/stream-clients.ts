import { type ClientRequest, request } from 'node:http';
import { WebSocket } from 'ws';

// biome-ignore lint/suspicious/noExplicitAny: events of all types
export type StreamEvent = any;

/** A subscription as a client writes it. */
export type SubscriptionFields = Readonly<Record<string, unknown>>;

/** A client of `/api/streaming/v2` that keeps what it gets. */
export interface StreamClient {
  /** All events in the order of arrival, without replies. */
  readonly events: readonly StreamEvent[];
  /** The newest cursor. */
  readonly cursor: string | null;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** A WebSocket client. */
export class WebSocketClient implements StreamClient {
  readonly events: StreamEvent[] = [];
  cursor: string | null = null;
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #replies: StreamEvent[] = [];
  readonly #waiting: ((reply: StreamEvent) => void)[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('message', (data) => this.#take(JSON.parse(data.toString())));
    socket.on('error', () => {});
  }

  /** Connects. @param url of Tern */
  static async open(url: string): Promise<WebSocketClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/streaming/v2/ws`);
    const client = new WebSocketClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return client;
  }

  /** Connects and subscribes; throws when that is refused. */
  static async subscribe(url: string, fields: SubscriptionFields): Promise<WebSocketClient> {
    const client = await WebSocketClient.open(url);
    const reply = await client.ask({ operation: 'subscribe', ...fields });
    if (reply.status !== 'subscribed') throw new Error(`refused: ${JSON.stringify(reply)}`);
    return client;
  }

  /** Sends a message and resolves with the reply to it. @param message text as it is, or an object as JSON */
  ask(message: string | object): Promise<StreamEvent> {
    const reply = this.#replies.shift() ?? new Promise((resolve) => this.#waiting.push(resolve));
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    return Promise.resolve(reply);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  async close(): Promise<void> {
    this.#socket.terminate();
    await this.closed;
  }

  #take(event: StreamEvent): void {
    if (event.cursor !== undefined) this.cursor = event.cursor;
    if (event.type !== undefined) {
      this.events.push(event);
      return;
    }
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#replies.push(event);
    else waiting(event);
  }
}

/** A client of Server-Sent Events. */
export class SseClient implements StreamClient {
  readonly events: StreamEvent[] = [];
  /** Names of the frames, comments left out. */
  readonly names: string[] = [];
  cursor: string | null = null;
  readonly closed: Promise<void>;
  readonly #sent: ClientRequest;
  #resume: () => void = () => {};

  private constructor(sent: ClientRequest) {
    this.#sent = sent;
    this.closed = new Promise((resolve) => sent.once('close', resolve));
    sent.on('error', () => {});
  }

  /**
   * Connects; resolves with the first frame, or at once when it does not read.
   *
   * @param lastEventId a cursor; null: begins now
   * @param reads false: reads nothing until {@link read}
   */
  static async subscribe(
    url: string,
    fields: SubscriptionFields,
    lastEventId: string | null = null,
    reads = true,
  ): Promise<SseClient> {
    const sent = request(`${url}/api/streaming/v2/sse`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
      },
      agent: false,
    });
    const client = new SseClient(sent);
    sent.end(JSON.stringify(fields));
    await new Promise<void>((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', (response) => {
        if (response.statusCode !== 200) {
          reject(new Error(`refused: ${response.statusCode}`));
          return;
        }
        const begin = () => {
          let rest = '';
          response.on('data', (part: Buffer) => {
            rest += part.toString();
            for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
              client.#take(rest.slice(0, end));
              rest = rest.slice(end + 2);
              resolve();
            }
          });
        };
        response.on('error', () => {});
        if (reads) {
          begin();
          return;
        }
        client.#resume = begin;
        resolve();
      });
    });
    return client;
  }

  /** Begins to read. */
  read(): void {
    this.#resume();
  }

  async close(): Promise<void> {
    this.#sent.destroy();
    await this.closed;
  }

  #take(frame: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1];
    const [name, data, id] = [field('event'), field('data'), field('id')];
    if (name === undefined) return;
    this.names.push(name);
    if (id !== undefined) this.cursor = id;
    if (name === 'event') this.events.push(JSON.parse(data!));
  }
}
