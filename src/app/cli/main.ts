import process from 'node:process';
import { runCommandLine } from '#app/cli/command-line.js';

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
// biome-ignore lint/style/noProcessEnv: the only place that reads the environment
process.exitCode = await runCommandLine(process.argv.slice(2), output, process.env);
