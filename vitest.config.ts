import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'

/** Tests with a browser, whose processes take all the time that a machine has. */
const browser = ['test/web/**/*.test.ts', 'test/server/browser.test.ts', 'test/kernel/serve-extensions.test.ts']

/** They need a server: `npm run test:postgres`. */
const postgres = ['**/*.postgres.test.ts']
const withPostgres = Boolean(process.env.TROUPE_TEST_WITH_POSTGRES)

export default defineConfig({
  test: {
    // Many tests wait for processes that they have started: there is always one more file to go on with.
    maxWorkers: 3,
    // Starting a worker for each file would take a minute. Tests change nothing that belongs to the whole process.
    isolate: false,
    // For the processes that tests start: Node keeps compiled code there, and starts a quarter faster.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'troupe-test-compile-cache') },
    globalSetup: withPostgres ? ['test/postgres/global-server.ts'] : [],
    setupFiles: ['test/fresh-model-health.ts', 'test/fixed-seed.ts', 'test/end-processes.ts'],
    testTimeout: process.env.TROUPE_FULL ? 300_000 : 60_000,
    hookTimeout: 60_000,
    // One after the other: with a browser beside them, tests of terminals and deadlines would fail.
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...browser, ...(withPostgres ? [] : postgres)],
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'browser', include: browser, sequence: { groupOrder: 2 } } },
    ],
  },
})
