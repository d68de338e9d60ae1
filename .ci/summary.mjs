// Prints `N passed, N failed` (and `, N skipped`) from vitest's JSON report. A run without tests is a failure.
import { readFileSync } from 'node:fs'

const read = (file) => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { testResults: [] }
  }
}

const files = read(process.argv[2]).testResults
const tests = files.flatMap((file) => file.assertionResults)
const count = (...statuses) => tests.filter((test) => statuses.includes(test.status)).length

// A file that could not even be loaded has no tests to fail.
const broken = files.filter((file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')).length
const passed = count('passed')
const failed = count('failed') + broken
const skipped = count('skipped', 'pending', 'todo', 'disabled')

process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
process.exitCode = passed > 0 && failed === 0 ? 0 : 1
