import process from 'node:process';
import { errorLine } from '#app/cli/errors.js';
import { allocateYoung, configurePlatformThreads, limitHeapGrowth } from '#app/cli/v8-runtime.js';
import { processLimits, requireProcessLimits } from '#app/service/process-limits.js';
import { isTernError } from '#kernel/tern-error.js';

// `tern … | head` closes the output early; this is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

// In a checkout `bin/tern.js` may be the parent of this process: exit when the parent is killed.
process.on('disconnect', () => process.exit(1));
process.channel?.unref();

const output = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};
allocateYoung();
configurePlatformThreads();
limitHeapGrowth();
try {
  requireProcessLimits(processLimits());
  // Loaded after the check: with few open files, reading all modules fails.
  const { runCommandLine } = await import('#app/cli/command-line.js');
  // biome-ignore lint/style/noProcessEnv: the only place that reads the environment
  process.exitCode = await runCommandLine(process.argv.slice(2), output, process.env);
} catch (error) {
  if (!isTernError(error)) throw error;
  output.err(`${errorLine(error)}\n`);
  process.exitCode = 1;
}
