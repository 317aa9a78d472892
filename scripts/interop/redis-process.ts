import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const START_MS = 10_000;

/** A Redis server on a port of this machine that keeps nothing on the disk; it can be ended, stopped and started again. */
export class RedisProcess {
  readonly #command: string;
  readonly #folder: string;
  readonly port: number;
  #child: ChildProcess | null = null;

  private constructor(command: string, folder: string, port: number) {
    this.#command = command;
    this.#folder = folder;
    this.port = port;
  }

  static async start(command: string, folder: string): Promise<RedisProcess> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const redis = new RedisProcess(command, folder, port);
    await redis.start();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const options = { bind: '127.0.0.1', port: this.port, save: '', appendonly: 'no', dir: this.#folder };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    this.#child = spawn(this.#command, args, { stdio: 'ignore' });
    this.#child.on('error', () => {});
    for (const end = Date.now() + START_MS; Date.now() < end; await delay(20)) {
      if ((await this.ask('PING')).startsWith('+PONG')) return;
    }
    throw new Error(`${this.#command} did not start within ${START_MS / 1000} s`);
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Lets it hang: it keeps its connections and answers nothing. */
  suspend(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** What it answers to one command, in its protocol; empty when it does not. */
  async ask(command: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write(`${command}\r\n`));
      socket.setTimeout(1000, () => socket.destroy());
      socket.once('data', (data) => {
        resolve(data.toString('latin1'));
        socket.destroy();
      });
      socket.once('error', () => {});
      socket.once('close', () => resolve(''));
    });
  }
}
