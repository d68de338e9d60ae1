import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { desk, source } from './live-window.ts'

const { program } = await desk()
const teams = JSON.stringify(pathToFileURL(join(import.meta.dirname, 'teams.ts')).href)

/** A team in a process of its own, whose scouts come back when the process is told so. */
const team = `
  import { followRun } from ${source('cli/commands/run/follow-run.ts')}
  import { processHost } from ${source('cli/terminal/process-host.ts')}
  import { Interruption } from ${source('cli/terminal/interruption.ts')}
  import { reportRun } from ${source('cli/commands/run/report-run.ts')}
  import { threeLevels } from ${teams}
  const told = new Promise((resolve) => process.once('SIGUSR2', resolve))
  const { runtime } = threeLevels(async () => {
    await told
    return { text: 'found', usage: { input: 10, output: 2 } }
  })
  const host = processHost()
  const display = { detail: 'normal', logFormat: 'text', color: 'auto' }
  const followed = await followRun(runtime.stream('Go'), { host, progress: 'live', interruption: new Interruption(host), release: async () => {} })
  process.exitCode = await reportRun(followed, { host, display, output: 'answer', progress: 'live' })
  await runtime.close()
`

test('a team on a terminal: children below their calls, one in line, then a tree that stays, the summary and the answer', async () => {
  const window = program(team, { columns: 90, rows: 40 })
  const shown = await window.shows(
    /scout[^\n]*\n[^\n]*step 1 {2}scout[^\n]*\n[^\n]*scout[^\n]*\n[^\n]*step 1 {2}scout[^\n]*\n[^\n]*◌ broken {2}Do broken · waiting/,
  )
  expect(shown).toMatch(/^. boss {2}step 1 of 10 · 2 calls/m)
  expect(shown).toMatch(/^ {3}├─ . lead {4}Do lead · step 1 of 10 · 3 calls/m)
  expect(shown).toMatch(/^ {3}└─ ✓ scribe {2}Do scribe · 1 step/m)
  process.kill(window.pty.pid, 'SIGUSR2')
  expect(await window.ended).toBe(0)
  const lines = window.lines()
  expect(lines.filter((line) => line.startsWith('boss '))).toEqual([expect.stringMatching(/^boss {2}completed · 2 steps · 2 calls/)])
  expect(lines.filter((line) => /scout {3}Do scout/.test(line))).toHaveLength(2)
  expect(lines.find((line) => line.includes('agent scout'))).toMatch(/^ {3}├─ agent scout +2 .* 20 → 4 .*80 B → 10 B$/)
  expect(lines.join('\n')).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏◌]/)
  expect(lines.join('\n')).toMatch(/\n\nAll: All: found \| found \|/)
  expect(window.isCursorVisible()).toBe(true)
})

test('Ctrl-C ends the whole team, and the tree says where each was', async () => {
  const window = program(team, { columns: 120, rows: 40 })
  await window.shows(/◌ broken {2}Do broken · waiting/)
  window.pty.write('\u0003')
  expect(await window.ended).toBe(130)
  const text = window.lines().join('\n')
  expect(text).toMatch(/^boss {2}interrupted/m)
  expect(text).toMatch(/■ lead {4}Do lead · interrupted/)
  expect(text.match(/■ scout {3}Do scout · interrupted/g)).toHaveLength(2)
  expect(window.isCursorVisible()).toBe(true)
})
