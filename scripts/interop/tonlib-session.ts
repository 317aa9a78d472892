import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A value as JSON has it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

interface SessionLine {
  readonly id: number;
  readonly answer?: JsonObject;
  readonly failure?: string;
}

interface Waiting {
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

const program = fileURLToPath(new URL('tonlib_session.py', import.meta.url));
const TIMEOUT_S = 20;

/** The real tonlib, in a Python process of its own. */
export class TonlibSession {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  #nextId = 1;
  #errors = '';

  /**
   * @param python a Python that has pytonlib
   * @param config path of a global configuration
   * @param keystore an empty folder that tonlib may write to
   */
  constructor(python: string, config: string, keystore: string) {
    this.#child = spawn(python, [program, config, keystore], { stdio: ['pipe', 'pipe', 'pipe'] });
    const initialised = new Promise<JsonObject>((resolve, reject) => this.#waiting.set(0, { resolve, reject }));
    initialised.catch(() => {});
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#take(JSON.parse(line)));
    this.#child.stderr!.on('data', (chunk) => {
      this.#errors = `${this.#errors}${chunk}`.slice(-4000);
    });
    this.#child.stdin!.on('error', () => {});
    this.#ended = new Promise((resolve) => {
      const end = (problem: string): void => {
        const error = new Error(`tonlib ${problem}${this.#errors === '' ? '' : `:\n${this.#errors}`}`);
        for (const { reject } of this.#waiting.values()) reject(error);
        this.#waiting.clear();
        resolve();
      };
      this.#child.on('error', (error) => end(`could not be started (${error.message})`));
      this.#child.on('exit', (code, signal) => end(`has ended (${signal ?? `exit ${code}`})`));
    });
    this.initialised = initialised;
  }

  /** What tonlib said to its configuration. */
  readonly initialised: Promise<JsonObject>;

  /** What tonlib answers; its errors are answers. Rejects when it gives none in time, or has ended. */
  ask(request: JsonObject): Promise<JsonObject> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin!.write(`${JSON.stringify({ id, request, timeout: TIMEOUT_S })}\n`);
    });
  }

  /** Ends the process, by force when it takes too long. */
  async close(): Promise<void> {
    this.#child.stdin!.end();
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await this.#ended;
    clearTimeout(patience);
  }

  #take({ id, answer, failure }: SessionLine): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (answer !== undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(failure ?? 'neither answer nor failure'));
  }
}
