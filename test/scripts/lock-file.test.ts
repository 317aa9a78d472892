import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, LockedPackage>;
};
const paths = Object.keys(packages);

it('holds every package that another one names, those of other platforms too: npm ci refuses it otherwise', () => {
  for (const [path, { dependencies, optionalDependencies }] of Object.entries(packages)) {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = paths.some((other) => other.endsWith(`node_modules/${name}`));
      expect(found, `${name}, named by ${path || 'package.json'}`).toBe(true);
    }
  }
});

it('names no registry: each machine has its own', () => {
  expect(paths.filter((path) => packages[path]?.resolved !== undefined)).toEqual([]);
  expect(readFileSync('.npmrc', 'utf8')).not.toMatch(/registry\s*=\s*\w+:/);
});

it('pins what package.json asks for', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const [name, wanted] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    // A second version of a package is there under a name of its own: `npm:package@version`.
    const version = String(wanted).replace(/^npm:[\w-]+@/, '');
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(packages[`node_modules/${name}`]?.version, name).toBe(version);
  }
});
