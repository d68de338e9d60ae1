import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Many tests wait for processes that they have started: there is always one more file to go on with.
    maxWorkers: 3,
    // Starting a worker for each file would take a minute. Tests change nothing that belongs to the whole process.
    isolate: false,
    // For the processes that tests start: Node keeps compiled code there, and starts a quarter faster.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'troupe-test-compile-cache') },
    setupFiles: ['test/fresh-model-health.ts', 'test/fixed-seed.ts', 'test/end-processes.ts'],
    testTimeout: process.env.TROUPE_FULL ? 300_000 : 60_000,
    hookTimeout: 60_000,
  },
})
