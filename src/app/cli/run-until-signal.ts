import process from 'node:process';

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

/** Something that runs until it is closed, or until it has ended by itself, as `ended` tells; it is closed then, too. */
interface Closable {
  readonly ended?: Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts something and closes it at the first SIGINT or SIGTERM, also while it still starts. A second signal ends the
 * process at once.
 *
 * @param onRunning is called when it has started, unless it is to end already
 * @returns whether it ended by itself
 */
export async function runUntilSignal<Running extends Closable>(
  start: () => Promise<Running>,
  onRunning: (running: Running) => void,
): Promise<boolean> {
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
    let hasEnded = false;
    try {
      if (!isEnding) {
        onRunning(running);
        const { ended } = running;
        await Promise.race(ended === undefined ? [ending] : [ending, ended]);
        hasEnded = !isEnding;
      }
    } finally {
      await running.close();
    }
    return hasEnded;
  } finally {
    for (const signal of Object.keys(SIGNALS)) process.off(signal, onSignal);
  }
}
