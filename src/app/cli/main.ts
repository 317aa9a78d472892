import process from 'node:process';
import { runCommandLine } from '#app/cli/command-line.js';

// `tern … | head` closes our output early; that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

// In a checkout this process was started by another one, `bin/tern.js`. When that is killed, nobody can end this one any more.
process.on('disconnect', () => process.exit(1));
process.channel?.unref();

const output = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};
// biome-ignore lint/style/noProcessEnv: this is where the environment comes in; everything else is given it
process.exitCode = await runCommandLine(process.argv.slice(2), output, process.env);
