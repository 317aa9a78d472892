import { Agent, request } from 'node:http';

/** One request: GET, or POST when there is a body. */
export interface HttpCall {
  readonly path: string;
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

/** Asks one server on this machine over connections that stay open. */
export class KeepAliveClient {
  readonly #agent: Agent;
  readonly #host: string;
  readonly #port: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #addresses: number;
  #asked = 0;

  /**
   * @param headers that go with every request
   * @param addresses of the loopback interface from which it asks in turn: to the server, each is another client
   */
  constructor(url: string, connections: number, headers: Readonly<Record<string, string>> = {}, addresses = 1) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
    this.#headers = headers;
    this.#addresses = addresses;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections });
  }

  ask({ path, body }: HttpCall): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const headers: Record<string, string | number> = { ...this.#headers };
      if (body !== undefined) {
        headers['content-type'] = 'application/json';
        headers['content-length'] = Buffer.byteLength(body);
      }
      const method = body === undefined ? 'GET' : 'POST';
      const options = { agent: this.#agent, host: this.#host, port: this.#port, method, path, headers };
      const from = this.#addresses === 1 ? {} : { localAddress: `127.0.0.${1 + (this.#asked++ % this.#addresses)}` };
      const sent = request({ ...options, ...from }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString();
          resolve({ status: answer.statusCode!, text, retryAfter: answer.headers['retry-after'] });
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
