// A thread for the tests of kernel/worker.
import { defineErrors } from '#kernel/tern-error.js';
import type { LogMethods } from '#kernel/worker-side.js';

export const echoErrors = defineErrors('echo', {
  refused: { class: 'caller', message: (d: { what: string }) => `${d.what} is refused`, remedy: 'Send another.' },
  unexpected: { class: 'internal', message: (d: { problem: string }) => d.problem, remedy: 'Report this.' },
  lost: { class: 'internal', message: (d: { problem: string }) => d.problem, remedy: 'Start another.' },
  closed: { class: 'shutting-down', message: (_: Record<string, never>) => 'closed', remedy: 'Start another.' },
  timeout: { class: 'overloaded', message: (_: Record<string, never>) => 'too long', remedy: 'Send less.' },
});

export interface EchoMethods {
  echo(value: unknown): unknown;
  /** Empties the buffer that it got, since it moves it back. */
  reversed(bytes: Uint8Array): Uint8Array;
  refuse(what: string): never;
  fail(): never;
  /** Asks the host. */
  doubled(value: number): Promise<number>;
  loop(): void;
  exit(code: number): void;
  warn(): void;
  writeLog(): void;
}

export interface EchoHost extends LogMethods {
  double(value: number): number;
}

export interface EchoContract {
  readonly start: { readonly greeting: string; readonly fails: boolean };
  readonly host: EchoHost;
  readonly methods: EchoMethods;
  readonly ready: string;
}

export const unexpected = (problem: string, cause: unknown) => echoErrors.unexpected({ problem }, cause);
