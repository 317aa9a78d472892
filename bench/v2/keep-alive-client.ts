import { Agent, request } from 'node:http';

/** One request: GET, or POST when there is a body. */
export interface HttpCall {
  readonly path: string;
  readonly body?: string;
}

/** Asks one server over connections that stay open. */
export class KeepAliveClient {
  readonly #agent: Agent;
  readonly #host: string;
  readonly #port: number;

  constructor(url: string, connections: number) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections });
  }

  /** The body of the answer. @throws when the status is not 200 */
  ask({ path, body }: HttpCall): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers =
        body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const method = body === undefined ? 'GET' : 'POST';
      const options = { agent: this.#agent, host: this.#host, port: this.#port, method, path, headers };
      const sent = request(options, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString();
          if (answer.statusCode === 200) resolve(text);
          else reject(new Error(`${path}: ${answer.statusCode} ${text.slice(0, 300)}`));
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
