import { useEffect, useRef, useState } from 'preact/hooks';
import { requestHeaders } from '../api/ask.js';
import { useNetwork } from '../live/use-network.js';

/** The stream of events of API streaming v2. */
const PATH = '/api/streaming/v2/sse';

/** How long to wait before a lost stream is opened again. */
const AGAIN_MS = 3_000;

/**
 * Calls back with every event about an account: its transactions, on their way and final. Where the server has no streams, nothing
 * comes, and pages follow new blocks alone.
 *
 * @param raw null: there is no account
 * @returns whether the stream is open
 */
export function useAccountEvents(raw: string | null, onEvent: () => void): boolean {
  const { chain } = useNetwork();
  const [isOpen, setOpen] = useState(false);
  const latest = useRef(onEvent);
  latest.current = onEvent;
  useEffect(() => {
    if (raw === null) return;
    const controller = new AbortController();
    const follow = async () => {
      while (!controller.signal.aborted) {
        const goesOn = await readEvents(raw, controller.signal, setOpen, () => latest.current()).catch(() => true);
        setOpen(false);
        if (!goesOn) return;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    };
    void follow();
    return () => controller.abort();
  }, [raw, chain]);
  return isOpen;
}

/** Reads events until the stream ends. @returns false when there is no such stream here */
async function readEvents(
  raw: string,
  signal: AbortSignal,
  setOpen: (isOpen: boolean) => void,
  onEvent: () => void,
): Promise<boolean> {
  const body = { types: ['transactions', 'actions'], addresses: [raw], min_finality: 'confirmed' };
  const response = await fetch(PATH, {
    method: 'POST',
    headers: requestHeaders(true),
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok || response.body === null) return response.status === 429 || response.status >= 500;
  setOpen(true);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    text += value;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    // What happened is read from API v3, which pages read anyway.
    if (frames.some((frame) => /^event: event$/m.test(frame))) onEvent();
  }
}
