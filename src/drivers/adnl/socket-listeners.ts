import type { Socket } from 'node:net';

/** Adds listeners to a socket, and gives what takes them away again. */
export function listen(socket: Socket, listeners: Record<string, (value: never) => void>): () => void {
  const entries = Object.entries(listeners) as [string, (...values: unknown[]) => void][];
  for (const [event, listener] of entries) socket.on(event, listener);
  return () => {
    for (const [event, listener] of entries) socket.off(event, listener);
  };
}

/** Destroys a socket on which nobody listens any more; errors that it may still report are of no interest. */
export function discard(socket: Socket): void {
  socket.on('error', ignore);
  socket.destroy();
}

function ignore(): void {}
