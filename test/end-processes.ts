import { afterAll } from 'vitest'
import { startedProcesses } from './started-processes.ts'

// Runs for each test file. A hook of a helper would belong to the first file only that imports it.
afterAll(() => {
  for (const child of startedProcesses) child.kill('SIGKILL')
  startedProcesses.clear()
})
