import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runCommandLine } from '#app/cli/command-line.js';

async function run(...args: string[]) {
  let out = '';
  let err = '';
  const code = await runCommandLine(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

it('prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await run('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
});

it('prints the help', async () => {
  const { code, out, err } = await run('--help');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('Usage: tern');
});

it('prints the help of a command', async () => {
  expect(await run('help')).toEqual(await run('--help'));
  expect(await run('help', 'decode')).toEqual(await run('decode', '--help'));
  expect(await run('help', 'keys', 'create')).toEqual(await run('keys', 'create', '--help'));
  expect((await run('help', 'nope')).err).toMatch(/^tern: cli\/usage: unknown command "nope"/);
});

it('prints the help when called without a command', async () => {
  expect(await run()).toEqual(await run('--help'));
});

it('names what has no effect on a recorded chain', async () => {
  const { code, err } = await run(
    ...['dev', '--replay', 'vectors/recorded-chain', '--block-time', '400', '--mining', 'steady', '--reset'],
  );
  expect(code).toBe(1);
  expect(err).toMatch(
    /^tern: cli\/usage: --replay serves a recorded chain as it is: leave out --mining, --block-time, --reset/,
  );
});

it('answers an unknown command or option with one line and exit code 1', async () => {
  for (const args of [['nope'], ['nope', 'more'], ['--nope']]) {
    const { code, out, err } = await run(...args);
    expect({ code, out }, args.join(' ')).toEqual({ code: 1, out: '' });
    expect(err, args.join(' ')).toMatch(/^tern: cli\/usage: [^\n]+\n$/);
  }
});
