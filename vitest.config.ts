import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Many tests wait for processes that they have started: there is always one more file to go on with.
    maxWorkers: 3,
    // Starting a worker for each file would take a minute. Tests change nothing that belongs to the whole process.
    isolate: false,
    setupFiles: ['test/fresh-model-health.ts', 'test/fixed-seed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
