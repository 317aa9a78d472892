import { expect } from 'vitest';

export type Params = Readonly<Record<string, unknown>>;

interface Envelope {
  readonly ok: boolean;
  readonly result?: unknown;
  readonly error: string;
  readonly code?: number;
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly '@extra': string;
}

/** The part of a listed transaction that names it. */
export interface NamedTransaction {
  readonly transaction_id: { readonly lt: string; readonly hash: string };
}

/** How a call is made. */
type Form = 'GET' | 'POST' | 'jsonRPC';

/** What is asked over HTTP, one call after another in each of the forms that a method has. */
export class V2Client {
  /** How often each method was asked, by form. */
  readonly asked = new Map<string, Map<Form, number>>();
  readonly #api: string;
  readonly #postOnly: ReadonlySet<string>;

  constructor(api: string, postOnly: readonly string[]) {
    this.#api = api;
    this.#postOnly = new Set(postOnly);
  }

  /** The result, whatever it is; anything but success fails the test. */
  async ask<Result = unknown>(method: string, params: Params = {}): Promise<Result> {
    const { status, body, form } = await this.#send(method, params);
    const call = `${form} ${method} ${JSON.stringify(params)}`;
    expect({ status, ok: body.ok, error: body.error }, call).toEqual({ status: 200, ok: true, error: undefined });
    return body.result as Result;
  }

  /** Status and error of a call that must fail. */
  async refused(method: string, params: Params = {}): Promise<{ readonly status: number; readonly error: string }> {
    const { status, body, form } = await this.#send(method, params);
    const call = `${form} ${method} ${JSON.stringify(params)}`;
    expect({ ok: body.ok, code: body.code, result: body.result }, call).toEqual({
      ok: false,
      code: status,
      result: undefined,
    });
    return { status, error: body.error };
  }

  async #send(method: string, params: Params) {
    const counts = this.asked.get(method) ?? new Map<Form, number>();
    this.asked.set(method, counts);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const forms: readonly Form[] = this.#postOnly.has(method) ? ['POST', 'jsonRPC'] : ['GET', 'POST', 'jsonRPC'];
    const form = forms[total % forms.length]!;
    counts.set(form, (counts.get(form) ?? 0) + 1);
    const extra = `${method}:${total}`;
    const response = await this.#request(form, method, params, extra, total);
    const body = (await response.json()) as Envelope;
    expect(body['@extra'], method).toBe(extra);
    expect([body.jsonrpc, body.id], method).toEqual(form === 'jsonRPC' ? ['2.0', total] : [undefined, undefined]);
    expect(response.headers.get('x-api-version')).toMatch(/^v2\.2\./);
    return { status: response.status, body, form };
  }

  #request(form: Form, method: string, params: Params, extra: string, id: number): Promise<Response> {
    if (form === 'GET') {
      const query = new URLSearchParams({ '@extra': extra });
      for (const [name, value] of Object.entries(params)) {
        for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each));
      }
      return fetch(`${this.#api}/${method}?${query}`);
    }
    const isRpc = form === 'jsonRPC';
    const body = isRpc
      ? { jsonrpc: '2.0', id, method, params: { ...params, '@extra': extra } }
      : { ...params, '@extra': extra };
    return fetch(`${this.#api}/${isRpc ? form : method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }
}
