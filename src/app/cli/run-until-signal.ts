import process from 'node:process';

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

/** Something that runs until it is closed. */
interface Closable {
  close(): Promise<void>;
}

/**
 * Starts something and closes it at the first SIGINT or SIGTERM, also while it still starts. A second signal ends the
 * process at once.
 *
 * @param start is given the signal to begin to end
 * @param onRunning is called when it has started, unless it is to end already
 */
export async function runUntilSignal<Running extends Closable>(
  start: () => Promise<Running>,
  onRunning: (running: Running) => void,
): Promise<void> {
  let isEnding = false;
  let end = (): void => {};
  const ending = new Promise<void>((resolve) => {
    end = resolve;
  });
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isEnding) process.exit(128 + SIGNALS[signal as keyof typeof SIGNALS]);
    isEnding = true;
    end();
  };
  for (const signal of Object.keys(SIGNALS)) process.on(signal, onSignal);
  try {
    const running = await start();
    if (!isEnding) {
      onRunning(running);
      await ending;
    }
    await running.close();
  } finally {
    for (const signal of Object.keys(SIGNALS)) process.off(signal, onSignal);
  }
}
