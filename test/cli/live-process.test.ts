import { readFileSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { desk, type Opened, source } from './live-window.ts'

const { program } = await desk()

/** A run that heeds nothing, shown by a process that does what `more` says besides. */
function stubborn(more = ''): Opened {
  return program(`
    import { followRun } from ${source('cli/commands/run/follow-run.ts')}
    import { processHost } from ${source('cli/terminal/process-host.ts')}
    import { Interruption } from ${source('cli/terminal/interruption.ts')}
    import { Story } from ${source('../test/fixtures/run-story.ts')}
    const forever = new Promise(() => {})
    const keepsRunning = setInterval(() => {}, 1000)
    const handle = {
      outcome: forever,
      async interrupt() {},
      async *[Symbol.asyncIterator]() {
        yield* new Story().begins(Date.now()).asks(Date.now(), 1).events
        await forever
      },
    }
    process.stderr.write('before\\n')
    ${more}
    const host = processHost()
    const { outcome } = await followRun(handle, { host, progress: 'live', interruption: new Interruption(host), release: async () => {} })
    process.stdout.write('after ' + outcome + '\\n')
    process.exit(7)
  `)
}
const picture = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] root {2}step 1 of 10.*\n└─ . step 1/

describe.concurrent('a run that does not end', () => {
  test('after one Ctrl-C: left behind, with its last picture', async () => {
    const window = stubborn()
    await window.shows(picture)
    const asked = performance.now()
    window.pty.write('\u0003')
    await window.shows(/root {2}interrupting… · Ctrl-C again to exit now/)
    expect(await window.ended).toBe(7)
    expect(performance.now() - asked).toBeLessThan(20_000)
    expect(window.isCursorVisible()).toBe(true)
    expect(window.lines()).toEqual([
      'before',
      expect.stringContaining('interrupting…'),
      expect.stringContaining('step 1'),
      'after undefined',
    ])
  })

  test('after two: the process ends immediately, and the cursor is back', async () => {
    const window = stubborn()
    await window.shows(picture)
    window.pty.write('\u0003')
    // The echo of a launcher is told from a second wish by time, and the clock of the picture shows that time has passed.
    const [, first] = /interrupting….* (\d\.\d) s/.exec(await window.shows(/interrupting….* \d\.\d s/)) ?? []
    const later = Array.from({ length: 12 }, (_, i) => (Number(first) + 0.2 + i / 10).toFixed(1).replace('.', '\\.'))
    await window.shows(new RegExp(`interrupting….* (?:${later.join('|')}) s`))
    const asked = performance.now()
    window.pty.write('\u0003')
    expect(await window.ended).toBe(130)
    expect(performance.now() - asked).toBeLessThan(20_000)
    expect(window.isCursorVisible()).toBe(true)
    expect(window.lines().join('\n')).not.toContain('after')
  })
})

describe.concurrent('a process that ends unexpectedly', () => {
  test.each([
    { name: 'an exception', more: "setTimeout(() => { throw new Error('sudden') }, 300)", code: 1, shown: /sudden/ },
    { name: 'an exit', more: 'setTimeout(() => process.exit(9), 300)', code: 9, shown: /root {2}step 1/ },
  ])('$name: the cursor is back', async ({ more, code, shown }) => {
    const window = stubborn(more)
    await window.shows(picture)
    expect(await window.ended).toBe(code)
    expect(window.isCursorVisible()).toBe(true)
    expect(window.lines().join('\n')).toMatch(shown)
  })
})

test('a run that is over leaves nothing behind that keeps the process alive or the window changed', async () => {
  const window = program(`
    import { followRun } from ${source('cli/commands/run/follow-run.ts')}
    import { processHost } from ${source('cli/terminal/process-host.ts')}
    import { Interruption } from ${source('cli/terminal/interruption.ts')}
    import { Story } from ${source('../test/fixtures/run-story.ts')}
    const host = processHost()
    const interruption = new Interruption(host)
    const names = ['exit', 'warning', 'SIGINT', 'SIGTERM', 'SIGTSTP', 'SIGCONT']
    const state = () => [process.stdout.write, process.stderr.write, process.stderr.listenerCount('resize'), ...names.map((name) => process.listenerCount(name))]
    const before = state()
    const handle = {
      outcome: { status: 'completed' },
      async interrupt() {},
      async *[Symbol.asyncIterator]() {
        yield* new Story().begins(Date.now()).asks(Date.now(), 1).says(1, 'word').events
      },
    }
    await followRun(handle, { host, progress: 'live', interruption, release: async () => {} })
    process.exitCode = state().every((each, i) => each === before[i]) ? 0 : 1
    process.stdout.write('done\\n')
  `)
  expect(await window.ended).toBe(0)
  expect(window.raw()).toContain('word')
  expect(window.lines()).toEqual(['done'])
  expect(window.isCursorVisible()).toBe(true)
})

test('other output is printed above the tree', async () => {
  const window = stubborn(`
    setTimeout(() => {
      process.emitWarning('careful')
      console.log('from a tool')
      process.stderr.write('half')
    }, 200)
  `)
  await window.shows(/careful[\s\S]* root {2}step 1/)
  const lines = window.lines()
  expect(lines.slice(0, 3)).toEqual(['before', 'from a tool', 'half'])
  expect(lines.slice(-2)).toEqual([expect.stringMatching(/^\S root {2}step 1/), expect.stringMatching(/^└─ \S step 1/)])
  expect(lines.filter((line) => line.includes('root  '))).toHaveLength(1)
})

test('Ctrl-Z gives the window back, and fg takes it again', async () => {
  const window = stubborn()
  await window.shows(picture)
  window.pty.write('\u001a')
  await window.writes('\u001b[?25h')
  expect(window.isCursorVisible()).toBe(true)
  // It shows the cursor before it stops; a signal to continue has no effect until then.
  await vi.waitUntil(() => readFileSync(`/proc/${window.pty.pid}/stat`, 'utf8').includes(') T '), 20_000)
  process.kill(window.pty.pid, 'SIGCONT')
  await window.writes('\u001b[?25l')
  await window.shows(picture)
})
