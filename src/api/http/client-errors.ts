import type { Socket } from 'node:net';

/** Errors of Node's HTTP parser, as statuses. */
const STATUS: Readonly<Record<string, readonly [number, string, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'the headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request did not come in time'],
};

const BAD_REQUEST = [400, 'Bad Request', 'this is not a request of HTTP'] as const;

/** Answers what the parser refuses, for which there is no request object, and closes the connection. */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket, apiVersion: string): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // An answer in part or whole has gone out already: anything more would be taken for the rest of it.
  if (!socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const [status, reason, text] = STATUS[error.code ?? ''] ?? BAD_REQUEST;
  const body = JSON.stringify({ ok: false, error: text, code: status, '@extra': '_' });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nX-API-Version: ${apiVersion}\r\n` +
      `Access-Control-Allow-Origin: *\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
