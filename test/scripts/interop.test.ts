import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { toBase64 } from '#kernel/bytes.js';
import { CheckReport } from '../../scripts/interop/check-report.js';
import { prepareBrowser } from '../../scripts/interop/clients/browser.mjs';
import { findPython, preparePython } from '../../scripts/interop/python-venv.mjs';
import { questionsOf, type RecordedAnswer } from '../../scripts/interop/recorded-answers.js';
import { prepareRedis } from '../../scripts/interop/redis-server.mjs';
import { differences, expectSame } from '../../scripts/interop/same-answer.js';

type Machine = (command: string, args: readonly string[]) => { ok: boolean; output: string };

const nothing = { ok: false, output: 'spawn ENOENT' };
const silent = { ok: true, output: '' };

describe('a browser', () => {
  const machine = (commands: string[]): Machine & { ran: string[] } => {
    const ran: string[] = [];
    const run: Machine = (command, args) => {
      ran.push([command, ...args].join(' '));
      const name = args.at(-1)!;
      if (command === 'apt-get' && commands.includes(`${name} in packages`)) commands.push(name);
      return commands.includes(command) ? silent : nothing;
    };
    return Object.assign(run, { ran });
  };

  it('is the one that is there', () => {
    expect(prepareBrowser(machine(['google-chrome']), true)).toEqual({ browser: 'google-chrome' });
    expect(prepareBrowser(machine(['chromium', 'google-chrome']), false)).toEqual({ browser: 'chromium' });
  });

  it('is the one without a window where it is there or may be installed', () => {
    expect(prepareBrowser(machine(['chromium', 'chromium-headless-shell']), false)).toEqual({
      browser: 'chromium-headless-shell',
    });
    const debian = machine(['apt-get', 'chromium', 'chromium-headless-shell in packages']);
    expect(prepareBrowser(debian, true)).toEqual({ browser: 'chromium-headless-shell' });
    expect(prepareBrowser(machine(['apt-get', 'chromium', 'chromium-headless-shell in packages']), false)).toEqual({
      browser: 'chromium',
    });
    const without = machine(['apt-get', 'chromium']);
    for (let i = 0; i < 3; i++) expect(prepareBrowser(without, true)).toEqual({ browser: 'chromium' });
    expect(without.ran.filter((line) => line === 'apt-get update')).toHaveLength(1);
  });

  it('is installed where that may be done, else it is said what to install', () => {
    const debian = machine(['apt-get', 'chromium in packages']);
    expect(prepareBrowser(debian, true)).toEqual({ browser: 'chromium' });
    expect(debian.ran).toContain('apt-get update');
    const problem = { problem: expect.stringMatching(/no Chromium: install it/) };
    const user = machine(['apt-get', 'chromium in packages']);
    expect(prepareBrowser(user, false)).toEqual(problem);
    expect(user.ran.join()).not.toMatch(/install/);
    expect(prepareBrowser(machine([]), true)).toEqual(problem);
    expect(prepareBrowser(machine(['apt-get']), true)).toEqual(problem);
  });
});

describe('a Python for tonlib', () => {
  const pythonOf =
    (version: string, venv = true): Machine =>
    (command, [, code]) => {
      if (command !== 'python3') return nothing;
      if (code?.includes('version_info') === true) return { ok: true, output: version };
      return venv ? silent : { ok: false, output: "No module named 'ensurepip'" };
    };

  it('is one that is new enough and can make virtual environments', () => {
    expect(findPython(pythonOf('3 11'))).toEqual({ command: 'python3' });
  });

  it.each<[string, Machine, RegExp]>([
    ['none', () => nothing, /no Python 3\.9 or newer: install python3/],
    ['an old one', pythonOf('3 8'), /no Python 3\.9 or newer: install python3/],
    ['Python 2', pythonOf('2 7'), /no Python 3\.9 or newer/],
    ['one without venv', pythonOf('3 11', false), /install its venv and pip .*python3-venv/],
  ])('says what to install where there is %s', (_, machine, problem) => {
    expect(findPython(machine)).toEqual({ problem: expect.stringMatching(problem) });
  });

  describe('in a folder of its own', () => {
    let scratch = '';
    beforeEach(() => {
      scratch = mkdtempSync(join(tmpdir(), 'tern-venv-'));
      writeFileSync(join(scratch, 'wanted.txt'), 'pytonlib==0\n');
    });
    afterEach(() => rmSync(scratch, { recursive: true, force: true }));

    function prepare(pip: { ok: boolean; output: string }, uv: { ok: boolean; output: string } = silent) {
      const ran: string[] = [];
      const machine: Machine = (command, args) => {
        ran.push(args.slice(0, 3).join(' '));
        if (args[1] === 'uv') return uv;
        if (args[1] === 'pip') return pip;
        return pythonOf('3 11')(command === 'python3' ? command : 'python3', args);
      };
      const folder = join(scratch, 'venv');
      return { ran, folder, result: preparePython(folder, join(scratch, 'wanted.txt'), machine) };
    }

    it('is made once, and again when other packages are wanted', () => {
      expect(prepare(silent).result).toEqual({ python: expect.stringContaining('venv') });
      expect(prepare(silent).ran).toEqual(['-c pass']);
      writeFileSync(join(scratch, 'wanted.txt'), 'pytonlib==1\n');
      const again = prepare(silent);
      expect(again.ran).toContain('-m uv pip');
      expect(again.ran).not.toContain('-m pip install');
      expect(prepare(silent).ran).toEqual(['-c pass']);
    });

    it('is made by pip where uv fails', () => {
      const made = prepare(silent, { ok: false, output: 'no such module' });
      expect(made.result).toEqual({ python: expect.stringContaining('venv') });
      expect(made.ran.at(-1)).toBe('-m pip install');
      expect(prepare(silent).ran).toEqual(['-c pass']);
    });

    it('is not taken for ready when pip failed', () => {
      mkdirSync(join(scratch, 'venv'));
      const noRoute = { ok: false, output: 'no route to host' };
      const failed = prepare(noRoute, noRoute);
      expect(failed.result).toEqual({ problem: expect.stringMatching(/^pip could not install .*no route to host$/s) });
      expect(existsSync(join(failed.folder, 'requirements.txt'))).toBe(false);
    });
  });
});

describe('a Redis', () => {
  /** A machine on which a package comes with the second attempt to install it, if at all. */
  function machine(packages: 'installed' | 'apt' | 'apt after update' | 'apt fails' | 'no apt') {
    const ran: string[] = [];
    let [installed, updated] = [packages === 'installed', packages === 'apt'];
    const run: Machine = (command, args) => {
      ran.push([command, ...args].join(' '));
      if (command === 'redis-server') return installed ? silent : nothing;
      if (command === 'apt-get' && args[0] === '--version') return packages === 'no apt' ? nothing : silent;
      if (command === 'apt-get') updated = packages === 'apt after update';
      if (command !== 'env') return command === 'apt-get' ? silent : nothing;
      installed = updated;
      return installed ? silent : { ok: false, output: 'E: no such package' };
    };
    return { run, ran };
  }

  it.each(['installed', 'apt', 'apt after update'] as const)('is found or installed (%s)', (packages) => {
    expect(prepareRedis(machine(packages).run, true)).toEqual({ command: 'redis-server' });
  });

  it.each<[Parameters<typeof machine>[0], boolean, RegExp]>([
    ['no apt', true, /^there is no redis-server: install it/],
    ['apt', false, /^there is no redis-server: install it/],
    ['apt fails', true, /apt-get could not:\nE: no such package$/],
  ])('is asked for when it cannot be installed (%s, root: %s)', (packages, isRoot, problem) => {
    expect(prepareRedis(machine(packages).run, isRoot)).toEqual({ problem: expect.stringMatching(problem) });
  });

  it('is not installed by somebody who is not root', () => {
    const { run, ran } = machine('apt');
    prepareRedis(run, false);
    expect(ran.filter((each) => each.includes('install'))).toEqual([]);
  });
});

describe('answers', () => {
  const cell = new Builder().storeUint(5, 8).storeRef(new Builder().storeUint(7, 9).endCell()).endCell();
  const bag = toBase64(serializeBoc(cell));
  const otherBag = toBase64(serializeBoc(new Builder().storeUint(6, 8).endCell()));

  it('are the same when all their fields are', () => {
    expect(differences({ a: [1, { b: 'x' }], c: null }, { c: null, a: [1, { b: 'x' }] })).toEqual([]);
  });

  it.each([
    ['a value', { a: [1, { b: 'x' }] }, { a: [1, { b: 'y' }] }, 'a[1].b: "x", "y"'],
    ['a type', { a: 1 }, { a: '1' }, 'a: 1, "1"'],
    ['a missing field', { a: 1 }, {}, 'a: 1, nothing'],
    ['a further field', {}, { a: 1 }, 'a: nothing, 1'],
    ['a length', { a: [1] }, { a: [1, 2] }, 'a: 1 items, 2 items'],
    ['null', { a: null }, { a: {} }, 'a: null, {}'],
  ])('differ by %s', (_, expected, found, line) => {
    expect(differences(expected, found)).toEqual([line]);
    expect(() => expectSame(expected, found, 'what')).toThrow(line);
  });

  it('may hold the same cells in other bags', () => {
    const withIndex = toBase64(serializeBoc(cell, { index: true, crc32c: true }));
    expect(withIndex).not.toBe(bag);
    expect(differences({ code: bag }, { code: withIndex })).toEqual([]);
    expect(differences({ code: bag }, { code: otherBag })).toHaveLength(1);
    expect(differences({ code: bag }, { code: `${bag.slice(0, 8)}AAAA` })).toHaveLength(1);
  });

  it('may have fields that are free', () => {
    expect(differences({ id: 1, a: 2 }, { id: 7, a: 2 }, ['id'])).toEqual([]);
  });
});

describe('recorded answers', () => {
  const block = (seqno: number) => ({ '@type': 'ton.blockIdExt', seqno });
  let n = 0;
  const recorded = (group: string, request: object, response: object | null): RecordedAnswer => {
    n++;
    return { n, group, desc: '', request, response } as RecordedAnswer;
  };

  it('to questions about the head become answers about the block that was the head', () => {
    const state = { '@type': 'raw.getAccountState' };
    const cell = { '@type': 'getShardAccountCell' };
    const load = { '@type': 'smc.load' };
    const run = { '@type': 'smc.runGetMethod', id: 1 };
    const lookup = { '@type': 'blocks.lookupBlock' };
    const proof = { '@type': 'blocks.getShardBlockProof', mode: 0 };
    const questions = questionsOf([
      recorded('account', state, { block_id: block(5) }),
      recorded('account', cell, { bytes: '' }),
      recorded('smc', load, { id: 1 }),
      recorded('smc', run, { stack: [] }),
      recorded('smc', { '@type': 'smc.getRawFullAccountState', id: 1 }, { block_id: block(6) }),
      recorded('lookupBlock', lookup, block(3)),
      recorded('shardproof', proof, { from: block(7) }),
      recorded('mc', { '@type': 'blocks.getMasterchainInfo' }, {}),
      recorded('config', { '@type': 'getConfigParam' }, null),
    ]);
    const at = (seqno: number, inner: object) => ({ '@type': 'withBlock', id: block(seqno), function: inner });
    expect(questions.map(({ request }) => request)).toEqual([
      at(5, state),
      at(5, cell),
      at(6, load),
      run,
      { '@type': 'smc.getRawFullAccountState', id: 1 },
      lookup,
      { ...proof, mode: 1, from: block(7) },
    ]);
  });

  it('are refused when nothing says what the head was', () => {
    expect(() => questionsOf([recorded('config', { '@type': 'getConfigAll' }, {})])).toThrow(
      'which block was the head',
    );
  });
});

it('counts checks, and says what was wrong', async () => {
  const lines: string[] = [];
  const report = new CheckReport((line) => lines.push(line));
  await report.check('one', async () => 'fine');
  await report.check('two', async () => {
    throw new Error('not so');
  });
  expect(lines).toEqual(['ok    one: fine', 'FAIL  two: not so']);
  expect(report.summary).toBe('1 passed, 1 failed');
});
