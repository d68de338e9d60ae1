import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { until } from '../acceptance/support.ts'
import { answerElsewhere } from './answer-elsewhere.ts'
import { desk, type Opened } from './live-window.ts'

const { agent, troupe, folder } = await desk()
const spinner = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/

const write = (path: string, content = 'text'): string =>
  `{ tool: write_file, input: { path: ${path}, content: ${JSON.stringify(content)} } }`
const steps = (...calls: readonly string[]): string =>
  `steps:\n${calls.map((call) => `  - calls: [${call}]`).join('\n')}\n  - text: Done.\n`
const tools = 'tools: [write_file, ask_user]'
const child = `${tools}\nusage: x\noutput: { format: text }`

/** Answers the question that the window shows last, once it is there. */
async function answer(window: Opened, question: RegExp, line: string): Promise<string> {
  const shown = await window.shows(new RegExp(`${question.source}[\\s\\S]*\\n> $`))
  window.pty.write(`${line}\r`)
  return shown
}
const at = (name: string): string => join(folder, name)
const textOf = (name: string): Promise<string> => readFile(at(name), 'utf8')
const runsIn = async (dataDir: string) => {
  const store = sqliteStore({ path: at(dataDir) })
  const runs = await store.trees.list({ limit: 9 })
  return { store, runs }
}
/** How many requests there are in the journal of the only run. */
async function requestsIn(dataDir: string): Promise<number> {
  const { store, runs } = await runsIn(dataDir)
  const events = runs[0] ? await store.journal.read(runs[0].treeId, 0) : []
  await store.close()
  return events.filter(({ type }) => type === 'interaction.approval.requested').length
}

describe.concurrent('asking at a terminal', () => {
  test('every answer has the printed meaning, invalid input is asked again, and the tree is hidden and drawn again', async () => {
    const file = await agent(
      'choices',
      steps(
        write('once.txt'),
        write('why.txt'),
        write('same.txt'),
        write('same.txt', 'again'),
        write('sub/any.txt'),
        write('other.txt'),
        '{ tool: web_fetch, input: { url: "https://pages.invalid/" } }',
      ),
      'tools: [write_file, web_fetch]',
    )
    const window = troupe(['run', file, 'Go', '--data-dir', 'choices'], { columns: 100, rows: 50 })
    const first = await answer(window, /\? Write once\.txt/, 'perhaps')
    expect(first).not.toMatch(spinner)
    expect(first.match(/choices {2}step/g)).toBeNull()
    expect(window.isCursorVisible()).toBe(true)
    await window.shows(/Type y, n, no REASON, x, s, p, s1, p1, s2 or p2\.\n> $/)
    window.pty.write('y\r')
    await answer(window, /\? Write why\.txt/, 'n call it because.txt')
    await answer(window, /\? Write same\.txt/, 's')
    // The second one of the same file is not asked about.
    await answer(window, /\? Write sub\/any\.txt/, 's2')
    // Nor is any other file from now on.
    await answer(window, /\? Fetch http/, 'x')
    expect(await window.ended).toBe(6)
    const text = window.lines().join('\n')
    expect(await textOf('once.txt')).toBe('text')
    expect(await textOf('same.txt')).toBe('again')
    expect(await textOf('other.txt')).toBe('text')
    await expect(textOf('why.txt')).rejects.toThrow()
    expect(text).toContain('declined: call it because.txt.')
    expect(text).toMatch(/choices {2}interrupted: approval denied/)
    // Between the questions the tree was there: it hides the cursor, and gives it back to whoever is asked.
    expect(window.raw().split('\u001b[?25l').length).toBeGreaterThan(5)
  })

  test('exact arguments in full, whatever is in them', async () => {
    const content = `first\n\n  indented\u001b[2J\u202e${'long '.repeat(60)}\n? Write nothing.txt  write_file\n  y yes · n no`
    const file = await agent('exact', steps(write('exact.txt', content)), tools)
    const window = troupe(['run', file, 'Go', '--data-dir', 'exact'], { columns: 60, rows: 50 })
    const shown = await answer(window, /\? Write exact\.txt/, 'y')
    const rows = shown.split('\n').filter((line) => line.includes('│'))
    expect(
      rows
        .map((line) => line.slice(line.indexOf('│') + 2))
        .join('')
        .replaceAll(' ', ''),
    ).toBe(`firstindented<U+001B>[2J<U+202E>${'long'.repeat(60)}?Writenothing.txtwrite_fileyyes·nno`)
    expect(window.raw()).not.toContain('\u001b[2J')
    expect(await window.ended).toBe(0)
    expect(await textOf('exact.txt')).toBe(content)
  })

  test('what was typed before the question was there is no answer to it', async () => {
    // Long enough for a busy machine: what is typed after the question is an answer.
    const file = await agent('early', `steps:\n  - { delay: 1500ms, calls: [${write('early.txt')}] }\n  - text: Done.\n`, tools)
    const window = troupe(['run', file, 'Go', '--data-dir', 'early'], { columns: 100, rows: 40 })
    await window.shows(/early {2}step/)
    window.pty.write('y\r')
    await answer(window, /\? Write early\.txt/, 'n')
    expect(await window.ended).toBe(0)
    await expect(textOf('early.txt')).rejects.toThrow()
  })

  test('a question with options, by number and in words', async () => {
    const ask = '{ tool: ask_user, input: { question: Which colour?, options: [red, blue] } }'
    const file = await agent(
      'colour',
      `steps:\n  - calls: [${ask}]\n  - calls: [{ tool: ask_user, input: { question: And why? } }]\n  - text: Done.\n`,
      tools,
    )
    const window = troupe(['run', file, 'Go', '--json', '--data-dir', 'colour'], { columns: 100, rows: 40 })
    await answer(window, /\? Which colour\?\n {2}1 red\n {2}2 blue/, '7')
    await window.shows(/Type a number from 1 to 2, or your own answer\.\n> $/)
    window.pty.write('2\r')
    await answer(window, /\? And why\?/, 'it is calm')
    expect(await window.ended).toBe(0)
    const { snapshot } = JSON.parse(window.lines().at(-1) ?? '') as { snapshot: { history: unknown[] } }
    expect(JSON.stringify(snapshot.history)).toMatch(/blue[\s\S]*it is calm/)
  })

  test('two parallel children: one question after the other, each with its name', async () => {
    await agent('left', steps(write('child.txt')), child)
    await agent('right', steps(write('other-child.txt')), child)
    const file = await agent(
      'pair',
      'steps:\n  - calls: [{ tool: agent__left, input: { prompt: Go } }, { tool: agent__right, input: { prompt: Go } }]\n  - text: Done.\n',
      'agents: [./left.ai, ./right.ai]',
    )
    const window = troupe(['run', file, 'Go', '--data-dir', 'pair'], { columns: 100, rows: 40 })
    const shown = await window.shows(/\? (?:left|right) · Write [\s\S]*\n> $/)
    expect(shown.match(/\? (?:left|right) · /g)).toHaveLength(1)
    window.pty.write('y\r')
    const both = await window.shows(/\? (?:left|right) · [\s\S]*> y[\s\S]*\? (?:left|right) · [\s\S]*\n> $/)
    expect(both).toMatch(/\? left · Write child\.txt/)
    expect(both).toMatch(/\? right · Write other-child\.txt/)
    window.pty.write('n\r')
    expect(await window.ended).toBe(0)
  })

  test('a question that is answered elsewhere is withdrawn, and the run continues', async () => {
    const file = await agent('elsewhere', steps(write('elsewhere.txt')), tools)
    const window = troupe(['run', file, 'Go', '--data-dir', 'elsewhere'], { columns: 100, rows: 40 })
    await window.shows(/\? Write elsewhere\.txt[\s\S]*\n> $/)
    await answerElsewhere(at('elsewhere'), { kind: 'approve', breadth: 'once' })
    expect(await window.ended).toBe(0)
    expect(window.lines().join('\n')).toContain('answered elsewhere: approved by somebody')
    expect(await textOf('elsewhere.txt')).toBe('text')
    expect(window.isCursorVisible()).toBe(true)
  })

  test('Ctrl-C ends the run within two seconds, with the question withdrawn', async () => {
    const file = await agent('interrupted', steps(write('interrupted.txt')), tools)
    const window = troupe(['run', file, 'Go', '--data-dir', 'interrupted'], { columns: 100, rows: 40 })
    await window.shows(/\? Write interrupted\.txt[\s\S]*\n> $/)
    const asked = performance.now()
    window.pty.write('\u0003')
    expect(await window.ended).toBe(130)
    expect(performance.now() - asked).toBeLessThan(20_000)
    expect(window.lines().join('\n')).toContain('the run is interrupted')
    await expect(textOf('interrupted.txt')).rejects.toThrow()
  })

  test('Ctrl-D leaves it and every later question open: exit 6, and the command that resumes', async () => {
    await agent('put-off-child', steps(write('put-off.txt')), child)
    const two = '[{ tool: agent__put-off-child, input: { prompt: Go } }, { tool: agent__put-off-child, input: { prompt: On } }]'
    const file = await agent('put-off', `steps:\n  - calls: ${two}\n  - text: Done.\n`, 'agents: [./put-off-child.ai]')
    const window = troupe(['run', file, 'Go', '--data-dir', 'put-off'], { columns: 140, rows: 40 })
    await window.shows(/\? \S+ · Write put-off\.txt[\s\S]*\n> $/)
    window.pty.write('\u0004')
    expect(await window.ended).toBe(6)
    const text = window.lines().join('\n')
    expect(text).toMatch(/put-off {2}suspended: approval required/)
    const [, id = ''] = /troupe run put-off\.ai --resume (\S+) --data-dir put-off$/m.exec(text) ?? []
    const { store, runs } = await runsIn('put-off')
    await store.close()
    expect(runs).toMatchObject([{ treeId: id, status: 'suspended' }])
  })

  test.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('without escapes: %o', async (env) => {
    const name = `plain-${Object.keys(env)[0]}`
    const file = await agent(name, steps(write(`${name}.txt`)), tools)
    const window = troupe(['run', file, 'Go', '--data-dir', name], { columns: 100, rows: 40, env })
    const shown = await answer(window, new RegExp(`\\? Write ${name}\\.txt`), 'y')
    expect(await window.ended).toBe(0)
    expect(await textOf(`${name}.txt`)).toBe('text')
    // The question is said once.
    expect(shown.match(new RegExp(`Write ${name}\\.txt`, 'g'))).toHaveLength(1)
    expect(window.raw()).not.toContain('approval required')
    expect(window.raw()).not.toContain('\u001b')
  })

  test('a window that changes its size while it is asked in', async () => {
    const file = await agent('resized', `steps:\n  - calls: [${write('resized.txt')}]\n  - { text: Done., delay: 300ms }\n`, tools)
    const window = troupe(['run', file, 'Go', '--data-dir', 'resized'], { columns: 100, rows: 40 })
    await window.shows(/\? Write resized\.txt[\s\S]*\n> $/)
    window.resizeNow(50, 20)
    // By the time that this is answered, the program knows of its new window.
    window.pty.write('perhaps\r')
    await window.shows(/Type y, n, no REASON, x, s, p, s1, p1, s2 or p2\.\n> $/)
    window.pty.write('y\r')
    await window.shows(/> y\n\S resized {2}(?:step|[\d.]+ s waiting)/)
    expect(await window.ended).toBe(0)
    const lines = window.lines()
    expect(lines.slice(lines.indexOf('> y') + 1)).toEqual([
      expect.stringMatching(/^resized {2}completed.{0,40}$/),
      expect.stringMatching(/^├─ step 1/),
      expect.stringMatching(/^│ {2}└─ ✓ write_file/),
      expect.stringMatching(/^└─ step 2/),
      '',
      'Done.',
    ])
  })

  test('Ctrl-Z and fg while it is asked: the tree stays away until there is an answer', async () => {
    const file = await agent('stopped', steps(write('stopped.txt')), tools)
    const window = troupe(['run', file, 'Go', '--data-dir', 'stopped'], { columns: 100, rows: 40 })
    await window.shows(/\? Write stopped\.txt[\s\S]*\n> $/)
    process.kill(window.pty.pid, 'SIGCONT')
    window.pty.write('maybe\r')
    const shown = await window.shows(/> maybe\n[\s\S]*> $/)
    expect(shown).not.toMatch(spinner)
    window.pty.write('y\r')
    expect(await window.ended).toBe(0)
  })

  test('the process is killed while it asks: the run is resumed at the same place, and the call runs once', async () => {
    await writeFile(at('killed.log'), 'log:')
    const edit = '{ tool: edit_file, input: { path: killed.log, old: "log:", new: "log: ran" } }'
    const file = await agent('killed', steps(edit), 'tools: [edit_file]')
    const options = { columns: 100, rows: 40 }
    const window = troupe(['run', file, 'Go', '--data-dir', 'killed'], options)
    await window.shows(/\? Edit killed\.log[\s\S]*\n> $/)
    process.kill(window.pty.pid, 'SIGKILL')
    await window.ended
    const { store, runs } = await runsIn('killed')
    await store.close()
    const again = troupe(['run', file, '--resume', runs[0]!.treeId, '--data-dir', 'killed'], options)
    await answer(again, /\? Edit killed\.log/, 'y')
    expect(await again.ended).toBe(0)
    expect(await textOf('killed.log')).toBe('log: ran')
    // All of the turn is drawn, not only what came after.
    expect(again.lines().join('\n')).toMatch(/^killed {2}completed · 2 steps · 1 call/m)
  })

  test('what a session asks is listed elsewhere while it runs, and after its process died', async () => {
    const file = await agent('listed', steps(write('listed.txt')), tools)
    const options = { columns: 160, rows: 40 }
    const data = ['--data-dir', 'listed']
    const listed = async (): Promise<string> => {
      const list = troupe(['approvals', 'list', ...data], options)
      expect(await list.ended).toBe(0)
      return list.lines().join('\n')
    }
    const window = troupe(['run', file, 'Go', ...data], options)
    await window.shows(/\? Write listed\.txt[\s\S]*\n> $/)
    const { store, runs } = await runsIn('listed')
    await store.close()
    const id = runs[0]!.treeId
    const alive = await listed()
    expect(alive).toMatch(new RegExp(`^${id} .*\\n? *· running: process ${window.pty.pid} on `, 'm'))
    expect(alive).toContain(`troupe approvals answer ${id} yes --data-dir listed`)
    expect(alive).not.toContain('--resume')

    process.kill(window.pty.pid, 'SIGKILL')
    await window.ended
    const left = await listed()
    expect(left).toContain('· its process has exited')
    expect(left).toContain(`troupe run listed.ai --resume ${id} --data-dir listed`)
    // The beginning of an id is enough, for an answer and to go on.
    const part = id.slice(0, 12)
    expect(await troupe(['approvals', 'answer', part, 'yes', ...data], options).ended).toBe(0)
    expect(await listed()).toContain('✓ approved: Write listed.txt')
    expect(await troupe(['run', file, '--resume', part, ...data], options).ended).toBe(0)
    expect(await textOf('listed.txt')).toBe('text')
  })
})

describe('questions in line', () => {
  test.each(['s2', 'p2'])('two parallel children: %s to the first also answers the queued one', async (word) => {
    const names = [`first-${word}`, `second-${word}`]
    for (const name of names) await agent(name, steps(write(`${name}.txt`)), child)
    const calls = names.map((name) => `{ tool: agent__${name}, input: { prompt: Go } }`)
    const file = await agent(
      `covered-${word}`,
      `steps:\n  - calls: [${calls.join(', ')}]\n  - text: Done.\n`,
      `agents: [${names.map((name) => `./${name}.ai`).join(', ')}]`,
    )
    const options = { columns: 100, rows: 40, env: { XDG_STATE_HOME: join(folder, `own-${word}`) } }
    const window = troupe(['run', file, 'Go', '--data-dir', `covered-${word}`], options)
    // Both wait before one of them is answered.
    await window.shows(/\? \S+ · Write [\s\S]*\n> $/)
    await until('both wait', async () => (await requestsIn(`covered-${word}`)) === 2)
    window.pty.write(`${word}\r`)
    expect(await window.ended).toBe(0)
    const text = window.lines().join('\n')
    expect(window.raw().match(/y.{0,9} yes/g)).toHaveLength(1)
    expect(text).not.toContain('answered elsewhere')
    for (const name of names) expect(await textOf(`${name}.txt`)).toBe('text')
  })
})
