import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOCKET = '.s.PGSQL.5432';

/** Of the first message of a connection, which has no type: the end of a connection that only cancels. */
const CANCEL_REQUEST = 80_877_102;

/** A moment in the conversation with the database. */
export interface Moment {
  /** What is asked: the name of a prepared statement, else its first words; `copied rows of X` for data of a COPY. */
  readonly label: string;
  /** It is the first time after so many transactions of the process were ended by COMMIT. */
  readonly commits: number;
  /** Whether the database still hears it. Whoever asked hears nothing any more in any case. */
  readonly heard: boolean;
}

interface Watched extends Moment {
  readonly reach: () => void;
}

/**
 * A socket before that of a PostgreSQL server, which knows what is being asked and can cut all that is said at a moment of
 * the conversation: before the server hears it, or after that and before it answers.
 */
export class DatabaseTap {
  readonly #folder: string;
  readonly #upstream: string;
  readonly #server = createServer((socket) => this.#onClient(socket));
  readonly #conversations = new Set<Conversation>();
  readonly #known = new Map<string, number>();
  #commits = 0;
  #watched: Watched | null = null;

  private constructor(folder: string, upstream: string) {
    this.#folder = folder;
    this.#upstream = upstream;
  }

  /** @param url of the server, by a Unix socket */
  static async listen(url: string): Promise<DatabaseTap> {
    const upstream = new URL(url.replace('@/', '@socket/')).searchParams.get('host')!;
    const tap = new DatabaseTap(await mkdtemp(join(tmpdir(), 'tern-tap-')), join(upstream, SOCKET));
    tap.#server.listen(join(tap.#folder, SOCKET));
    await once(tap.#server, 'listening');
    return tap;
  }

  /** The same database, by way of the tap. */
  urlOf(url: string): string {
    return url.replace(/host=[^&]+/, `host=${encodeURIComponent(this.#folder)}`);
  }

  /** All that was ever asked, each with the greatest number of commits that it came after. */
  get known(): ReadonlyMap<string, number> {
    return this.#known;
  }

  /** A process begins. */
  begin(): void {
    this.#commits = 0;
  }

  /** What is being asked now. */
  get underWay(): readonly string[] {
    return [...this.#conversations].map(({ current }) => current).filter((label) => label !== null);
  }

  /** When the moment comes, nothing is passed on any more on all connections that are open, and `reach` is called. */
  watch(moment: Moment, reach: () => void): void {
    this.#watched = { ...moment, reach };
  }

  unwatch(): void {
    this.#watched = null;
  }

  /** Passes nothing on any more on the connections that are open. */
  cut(): void {
    for (const conversation of this.#conversations) conversation.cut();
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const conversation of this.#conversations) conversation.end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #onClient(client: Socket): void {
    const conversation = new Conversation(client, connect(this.#upstream), (label) => this.#asked(label));
    this.#conversations.add(conversation);
    client.once('close', () => this.#conversations.delete(conversation));
  }

  /** @returns whether the server is to hear it */
  #asked(label: string): boolean {
    const commits = this.#commits;
    if (label === 'COMMIT') this.#commits++;
    this.#known.set(label, Math.max(commits, this.#known.get(label) ?? 0));
    const watched = this.#watched;
    if (watched === null || watched.label !== label || commits < watched.commits) return true;
    this.#watched = null;
    this.cut();
    watched.reach();
    return watched.heard;
  }
}

/** One connection. */
class Conversation {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #asked: (label: string) => boolean;
  readonly #names = new Map<string, string>();
  #rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #begun = false;
  #isCut = false;
  current: string | null = null;

  constructor(client: Socket, server: Socket, asked: (label: string) => boolean) {
    this.#client = client;
    this.#server = server;
    this.#asked = asked;
    client.on('error', () => {});
    server.on('error', () => {});
    client.on('data', (bytes) => this.#hear(bytes));
    server.on('data', (bytes) => {
      if (this.#isCut) return;
      // `ReadyForQuery` ends each answer.
      if (bytes.length >= 6 && bytes.readUInt8(bytes.length - 6) === 0x5a) this.current = null;
      client.write(bytes);
    });
    client.on('close', () => server.destroySoon());
    server.on('close', () => client.destroy());
  }

  cut(): void {
    this.#isCut = true;
  }

  end(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #hear(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const typed = this.#begun ? 1 : 0;
      if (this.#rest.length < typed + 4) return;
      const length = typed + this.#rest.readInt32BE(typed);
      if (this.#rest.length < length) return;
      const message = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      if (this.#isCut) continue;
      const isHeard = this.#begun ? this.#read(message) : this.#begin(message);
      if (isHeard) this.#server.write(message);
    }
  }

  #begin(message: Buffer): boolean {
    this.#begun = message.readInt32BE(4) !== CANCEL_REQUEST;
    return true;
  }

  #read(message: Buffer): boolean {
    const label = this.#labelOf(message);
    if (label === null) return true;
    this.current = label;
    return this.#asked(label);
  }

  /** Null for what asks nothing by itself. */
  #labelOf(message: Buffer): string | null {
    switch (String.fromCharCode(message[0]!)) {
      case 'Q':
        return firstWords(textAt(message, 5));
      case 'P': {
        const name = textAt(message, 5);
        const text = textAt(message, 6 + Buffer.byteLength(name));
        this.#names.set(name, name === '' ? firstWords(text) : name);
        return null;
      }
      case 'B': {
        const portal = textAt(message, 5);
        return this.#names.get(textAt(message, 6 + Buffer.byteLength(portal))) ?? 'unknown';
      }
      case 'd':
        return `copied rows of ${this.current?.replace(/^.*COPY /, '')}`.replace(
          /^(copied rows of )+/,
          'copied rows of ',
        );
      default:
        return null;
    }
  }
}

/** A text that ends with a zero. */
function textAt(message: Buffer, at: number): string {
  return message.toString('utf8', at, message.indexOf(0, at));
}

function firstWords(sql: string): string {
  return sql
    .trim()
    .replace(/[\s"]+/g, ' ')
    .split(' ')
    .slice(0, sql.includes('COPY') ? 3 : 4)
    .join(' ')
    .trim()
    .replace(/ \($/, '');
}
