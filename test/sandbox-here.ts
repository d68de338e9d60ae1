import { spawnSync } from 'node:child_process'

// Suites that need bubblewrap: their files end in `.sandbox.test.ts`, `npm run test:sandbox` runs exactly those, and
// `test/architecture.test.ts` keeps the name and the import of this module together. Where bubblewrap is missing,
// `npm test` skips them and names the reason; `npm run test:sandbox` fails.

/** Why the tests that need a sandbox cannot run here; undefined where they can. */
export const noSandboxHere = whyNot()

if (process.env.TROUPE_TEST_SANDBOX && noSandboxHere) throw new Error(`These tests need a sandbox: ${noSandboxHere}.`)

/** The name of a suite or test, with the reason where it is skipped. */
export const sandboxed = (name: string, missing: string | undefined = noSandboxHere): string =>
  missing === undefined ? name : `${name} (skipped: ${missing})`

function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'it is not Linux'
  const flags = ['--unshare-all', '--as-pid-1', '--ro-bind', '/', '/', '--proc', '/proc', '--size', '1000000', '--tmpfs', '/tmp', 'true']
  const { error, status, stderr } = spawnSync('bwrap', flags, { encoding: 'utf8' })
  if (error) return 'bubblewrap (bwrap) is not installed'
  return status === 0 ? undefined : `this system does not let bubblewrap work: ${stderr.trim()}`
}
