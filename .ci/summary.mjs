// Names the tests that failed, and prints `N passed, N failed` (and `, N skipped`), over the JSON reports of vitest that it is
// given. A report that is missing or has no test that passed is a failure.
import { readFileSync } from 'node:fs'

const read = (file) => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { testResults: [] }
  }
}

const summaryOf = ({ testResults: files }) => {
  const tests = files.flatMap((file) => file.assertionResults)
  const count = (...statuses) => tests.filter((test) => statuses.includes(test.status)).length
  // A file that could not even be loaded has no tests to fail.
  const broken = files.filter((file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')).length
  const passed = count('passed')
  return { passed, failed: count('failed') + broken + (passed > 0 ? 0 : 1), skipped: count('skipped', 'pending', 'todo', 'disabled') }
}

const failuresOf = ({ testResults: files }) =>
  files.flatMap((file) => {
    const failed = file.assertionResults.filter((test) => test.status === 'failed')
    if (failed.length === 0) return file.status === 'failed' ? [`${file.name}\n${file.message ?? ''}`] : []
    return failed.map((test) => `${file.name} > ${test.fullName}\n${test.failureMessages.join('\n')}`)
  })

const reports = process.argv.slice(2).map(read)
// The reports of the runs are far above.
for (const failure of reports.flatMap(failuresOf)) process.stdout.write(`::: failed: ${failure.slice(0, 1_500)}\n`)

const summaries = reports.map(summaryOf)
const sum = (key) => summaries.reduce((total, summary) => total + summary[key], 0)
const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]

process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
process.exitCode = passed > 0 && failed === 0 ? 0 : 1
