import { OpenEntries } from '#kernel/open-entries.js';
import { isTernError, type PlainError, TernError } from '#kernel/tern-error.js';

/** Methods as the other side of a channel calls them: each returns a promise of the result. */
export type Remote<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** Methods called one way, as events: there is no result, and a failure is one of the other side. */
export type Notify<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => void
    : never;
};

/** Converts values that structured cloning would strip of their class. Applied to each argument and result. */
export interface ValueCodec {
  encode(value: unknown): unknown;
  decode(value: unknown): unknown;
}

/** Makes a {@link TernError} of an error of another kind that a method threw. */
export type UnexpectedError = (problem: string, cause: unknown) => TernError;

/** What travels between the two sides of a channel. `id: null` is a one-way call. */
export type ChannelMessage =
  | { readonly call: string; readonly id: number | null; readonly args: readonly unknown[] }
  | { readonly reply: number; readonly value: unknown }
  | { readonly reply: number; readonly error: PlainError };

export interface ChannelOptions<Ours> {
  readonly post: (message: ChannelMessage, transfer: ArrayBuffer[]) => void;
  /** What the other side may call. Calls that arrive before it is available wait for it, in their order. */
  readonly methods: Ours | Promise<Ours>;
  readonly unexpected: UnexpectedError;
  readonly values?: ValueCodec;
}

const transfers = new WeakMap<object, readonly ArrayBuffer[]>();

/** Marks buffers of an argument or result that are moved to the other thread instead of copied; they are empty here afterwards. */
export function transfer<T extends object>(value: T, buffers: readonly ArrayBuffer[]): T {
  transfers.set(value, buffers);
  return value;
}

const PLAIN: ValueCodec = { encode: (value) => value, decode: (value) => value };

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: TernError) => void;
}

/**
 * Typed calls in both directions over a message port. Errors keep code, class, data and path; what is no {@link TernError}
 * becomes one.
 */
export class Channel<Ours, Theirs> {
  readonly #options: ChannelOptions<Ours>;
  readonly #values: ValueCodec;
  readonly #pending = new OpenEntries<number, PendingCall>();
  #nextId = 0;
  #ended: TernError | null = null;
  /** Calls of the other side. They reject with its error, or with that of {@link Channel.end}. */
  readonly call: Remote<Theirs>;
  readonly notify: Notify<Theirs>;

  constructor(options: ChannelOptions<Ours>) {
    this.#options = options;
    this.#values = options.values ?? PLAIN;
    this.call = methodsOf((name, args) => this.#call(name, args)) as Remote<Theirs>;
    this.notify = methodsOf((name, args) => this.#notify(name, args)) as Notify<Theirs>;
  }

  /** Takes a message from the port. */
  receive(message: ChannelMessage): void {
    if ('call' in message) {
      void this.#serve(message.call, message.id, message.args);
      return;
    }
    const pending = this.#pending.delete(message.reply);
    if (pending === undefined) return;
    if ('error' in message) pending.reject(TernError.fromPlain(message.error));
    else pending.resolve(this.#values.decode(message.value));
  }

  /** Rejects all later calls with this error; those under way go on. */
  refuse(error: TernError): void {
    this.#ended ??= error;
  }

  /** The other side is gone: all calls under way and all later ones reject with this error. */
  end(error: TernError): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.clear()) reject(error);
  }

  #call(name: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) {
        reject(this.#ended);
        return;
      }
      const id = this.#nextId++;
      this.#send(name, id, args);
      this.#pending.set(id, { resolve, reject });
    });
  }

  #notify(name: string, args: readonly unknown[]): void {
    if (this.#ended === null) this.#send(name, null, args);
  }

  #send(call: string, id: number | null, args: readonly unknown[]): void {
    this.#options.post({ call, id, args: args.map((arg) => this.#values.encode(arg)) }, args.flatMap(buffersOf));
  }

  async #serve(name: string, id: number | null, args: readonly unknown[]): Promise<void> {
    const { methods } = this.#options;
    const run = async (): Promise<unknown> => {
      const ours = (methods instanceof Promise ? await methods : methods) as Record<
        string,
        (...each: unknown[]) => unknown
      >;
      return ours[name]!(...args.map((arg) => this.#values.decode(arg)));
    };
    if (id === null) {
      await run();
      return;
    }
    try {
      const value = await run();
      this.#options.post({ reply: id, value: this.#values.encode(value) }, buffersOf(value));
    } catch (error) {
      this.#options.post({ reply: id, error: plainError(error, this.#options.unexpected) }, []);
    }
  }
}

/** An error in the form in which it crosses threads. */
export function plainError(error: unknown, unexpected: UnexpectedError): PlainError {
  if (isTernError(error)) return error.toPlain();
  return unexpected(error instanceof Error ? (error.stack ?? error.message) : String(error), error).toPlain();
}

function buffersOf(value: unknown): ArrayBuffer[] {
  return typeof value === 'object' && value !== null ? [...(transfers.get(value) ?? [])] : [];
}

function methodsOf(call: (name: string, args: readonly unknown[]) => unknown): object {
  return new Proxy(
    {},
    {
      // A promise that resolves with this object asks for `then`.
      get: (_, name) => (name === 'then' ? undefined : (...args: readonly unknown[]) => call(String(name), args)),
    },
  );
}
