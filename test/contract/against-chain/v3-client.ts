import { expect } from 'vitest';
import type { Recorded } from '#test/support/recorded-v3.js';

/** An answer of API v3. */
export type Json = Recorded;

/** Asks the mount of the live dialect. */
export class V3Client {
  readonly #base: string;
  /** How many requests were sent. */
  asked = 0;

  /** @param url `http://127.0.0.1:40000` */
  constructor(url: string) {
    this.#base = `${url}/toncenter/api/v3/`;
  }

  async send(request: string, init: RequestInit = {}): Promise<Response> {
    this.asked++;
    return fetch(this.#base + request, init);
  }

  /** What is answered, and the cursor of what is behind it. */
  async ask(request: string): Promise<{ readonly body: Json; readonly next: string | null }> {
    const answer = await this.send(request);
    const text = await answer.text();
    expect([answer.status, answer.status === 200 ? '' : text], request).toEqual([200, '']);
    return { body: JSON.parse(text), next: answer.headers.get('x-tern-next') };
  }

  /** Status and error of a request that must fail. */
  async refused(request: string, init: RequestInit = {}): Promise<{ readonly status: number; readonly error: string }> {
    const answer = await this.send(request, init);
    const body = (await answer.json()) as Json;
    expect(Object.keys(body), request).toEqual(['error']);
    return { status: answer.status, error: body.error };
  }

  /** All pages of a list, by cursors. @param request with a `?` and parameters */
  async all(request: string, list: string, limit = 1000): Promise<Json[]> {
    const items: Json[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body, next }: { body: Json; next: string | null } = await this.ask(
        `${request}&limit=${limit}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      items.push(...(list === '' ? body : body[list]));
      cursor = next;
    }
    return items;
  }
}
