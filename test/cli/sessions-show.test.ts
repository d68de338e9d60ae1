import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { Output } from '../../src/cli/terminal/output.ts'
import { colourPaint } from '../../src/cli/terminal/paint.ts'
import { widthOf } from '../../src/cli/terminal/text-width.ts'
import { linesIn } from './published.ts'
import { quietHost } from './teams.ts'
import { workbench } from './troupe.ts'

const { agent, troupe, start, folder } = await workbench()

const schema = readFileSync(join(import.meta.dirname, '..', '..', 'schemas', 'session.schema.json'), 'utf8')
const isShown = new Ajv2020({ strict: false }).compile(JSON.parse(schema))

/** What `--json` has printed, as published. */
function shownIn(stdout: string): { readonly [field: string]: unknown } {
  expect(stdout).toMatch(/^[^\n]+\n$/)
  const document = JSON.parse(stdout)
  expect(isShown(document) || [stdout, isShown.errors]).toBe(true)
  return document
}

const show = (id: string, ...more: readonly string[]) => troupe(['sessions', 'show', id, ...more])

/** The document of a run that is made for a test, whatever came of it. */
async function made(args: readonly string[]) {
  const { stdout } = await troupe(['run', ...args, '--json'])
  const document: { readonly sessionId: string } = JSON.parse(stdout)
  return { document, id: document.sessionId }
}

/** As a person sees it; how long things took is no matter here. */
const still = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'THEN')
    .replaceAll(/ {2}▏.*▕/g, '')
    .replaceAll(/(?<=took )[\d.]+ m?s/g, 'TIME')
    .replaceAll(/ +(?:∥ +)?[\d.]+ m?s$/gm, '  TIME')

const kid = 'description: A kid\nusage: a part\nmodels: script/kid.yaml\noutput: { format: text }'
const head = (name: string, more = '') => `description: A test\nmodels: script/${name}.yaml\n${more}`
await agent('kid', 'steps:\n  - text: Found it.\n', kid)

describe('a run that has ended', () => {
  test('is shown with its children below the calls that started them, its answer, and who did how much', async () => {
    const script =
      'steps:\n  - calls: [{ tool: agent__kid, input: { prompt: Look, reason: To know } }]\n  - calls: [{ tool: list_files, input: {} }]\n  - text: All is found.\n'
    const file = await agent('boss', script, head('boss', 'agents: [./kid.ai]\ntools: [list_files]'))
    const { document, id } = await made([file, 'Find\nthe keys'])
    const { code, stdout, stderr } = await show(id)
    expect([code, stderr]).toEqual([0, ''])
    const [top = '', asked = '', tree = '', answer = '', summary = ''] = still(stdout).split('\n\n')
    expect(top.split('\n')).toEqual([
      `${id}  boss  completed`,
      '  boss.ai · began THEN · took TIME',
      `  next turn: troupe run boss.ai "…" --resume ${id}`,
    ])
    expect(asked).toBe('Input\n  Find\n  the keys')
    expect(tree.split('\n').map((line) => line.replace(/ +~.*$/, ''))).toEqual([
      'boss  completed · 3 steps · 2 calls',
      '├─ step 1  script/boss.yaml',
      '│  └─ ✓ kid         Look · 1 step · “To know”',
      '│     └─ step 1  script/kid.yaml',
      '├─ step 2',
      '│  └─ ✓ list_files  TIME',
      '└─ step 3',
    ])
    expect(answer).toBe('Answer\n  All is found.')
    expect(summary.match(/(?:agent|model|tool) \S+/g)).toEqual([
      'agent boss',
      'model script/boss.yaml',
      'tool list_files',
      'agent kid',
      'model script/kid.yaml',
    ])

    const shown = shownIn((await show(id, '--json')).stdout)
    expect(shown).toMatchObject({ ok: true, sessionId: id, agent: 'boss', asked: 'Find\nthe keys', workspace: folder, exitCode: 0 })
    expect(shown).toMatchObject({ status: 'completed', standing: { kind: 'ended', status: 'completed' } })
    expect(shown.outcome).toEqual(document)
  })

  test('is printed event by event, as while it ran', async () => {
    const file = await agent('short', 'steps:\n  - text: Done.\n')
    const told = linesIn((await troupe(['run', file, 'Go', '--stream-json'])).stdout)
    const { sessionId: id } = told[0] as unknown as { readonly sessionId: string }
    const { code, stdout } = await show(id, '--stream-json')
    expect(code).toBe(0)
    // What was only live is not in the journal.
    expect(linesIn(stdout)).toEqual(told.filter(({ type }) => type !== 'interaction.item.delta'))
  })

  test('with several turns is shown turn by turn', async () => {
    const file = await agent('twice', 'steps:\n  - text: |\n      One\n      2\n      3\n      4\n      5\n      6\n  - text: Two.\n')
    const { id } = await made([file, 'First'])
    expect(await troupe(['run', file, 'Second', '--resume', id])).toMatchObject({ code: 0, stdout: 'Two.\n' })
    const { stdout } = await show(id)
    expect(stdout).toContain(' · 2 turns\n')
    // Earlier answers are told by their beginnings.
    const order = [
      'Input\n  First',
      '\ntwice  completed',
      'Answer\n  One\n  2\n  3\n  4\n  5\n  … 1 more line\n',
      'Input\n  Second',
      'Answer\n  Two.',
    ]
    expect(order.map((each) => stdout.indexOf(each))).toEqual(order.map((each) => stdout.indexOf(each)).toSorted((a, b) => a - b))
    expect(order.filter((each) => !stdout.includes(each))).toEqual([])
    expect(shownIn((await show(id, '--json')).stdout)).toMatchObject({ asked: 'Second', outcome: { report: { text: 'Two.' } } })
  })

  test('and has failed says why and what to do, and showing it is no failure', async () => {
    const file = await agent('fails', 'steps:\n  - fault: auth\n')
    const { document, id } = await made([file, 'Try'])
    const { remedy } = document as { readonly remedy?: string }
    const { code, stdout } = await show(id)
    expect(code).toBe(0)
    expect(still(stdout).split('\n').slice(0, 4)).toEqual([
      `${id}  fails  failed: the model failed`,
      '  fails.ai · began THEN · took TIME',
      expect.stringMatching(/^ {2}error: \w/),
      `  → ${remedy}`,
    ])
    const shown = shownIn((await show(id, '--json')).stdout)
    expect(shown).toMatchObject({ ok: true, exitCode: 0, standing: { kind: 'ended', status: 'failed' } })
    expect(shown.outcome).toEqual(document)
    expect(shown.outcome).toMatchObject({ ok: false, exitCode: 3 })
  })

  test('prints its diagnostics with their remedies', async () => {
    const file = await agent('told', 'steps:\n  - text: Done.\n', head('told', 'tools: [shell]'))
    await writeFile(join(folder, 'off.json'), '{ "sandbox": { "mode": "off" } }')
    const { document, id } = await made([file, 'Go', '--config', 'off.json'])
    const { diagnostics } = document as unknown as { readonly diagnostics: readonly { readonly code: string; readonly remedy?: string }[] }
    const { stdout } = await show(id)
    const [, block = ''] = stdout.split('Diagnostics\n')
    for (const { code, remedy } of diagnostics) {
      expect(block).toContain(`  ${code}: `)
      if (remedy !== undefined) expect(block).toContain(`    → ${remedy}\n`)
    }
    expect(diagnostics.length).toBeGreaterThan(0)
  })

  test('however many children it has had, stays within a screenful or two of what a person reads', async () => {
    const calls = Array.from({ length: 1200 }, (_, i) => ({ tool: 'agent__kid', input: { prompt: `Part ${i}`, reason: 'x' } }))
    const limits = 'limits: { maxChildren: 2000, maxCalls: 2000, parallelChildren: 50, maxTokens: 9000000 }'
    const settings = head('many', `agents: [./kid.ai]\nparameters: { maxOutputTokens: 90000 }\n${limits}`)
    const file = await agent('many', JSON.stringify({ steps: [{ calls }, { text: 'All.' }] }), settings)
    const { id } = await made([file, 'Go'])
    const { stdout } = await show(id)
    expect(stdout).toMatch(/⋯ 1 step · 1200 calls/)
    expect(stdout.split('\n').length).toBeLessThan(1100)
    expect(stdout).toMatch(/agent kid +1200 /)
  })
})

test('-v shows what each call was given and returned, bounded, and where the rest is; the totals are over all turns', async () => {
  const words = Array.from({ length: 300 }, (_, i) => `line ${i}`).join('\n')
  await agent('wordy', JSON.stringify({ steps: [{ text: words }] }), kid.replace('kid.yaml', 'wordy.yaml'))
  const calls = '[{ tool: list_files, input: { path: . } }, { tool: agent__wordy, input: { prompt: A part, reason: x } }]'
  const settings = 'tools: [list_files]\nagents: [./wordy.ai]\nlimits: { maxOutputBytes: 1000 }'
  const file = await agent('detailed', `steps:\n  - calls: ${calls}\n  - text: One.\n  - text: Two.\n`, head('detailed', settings))
  const { id, document } = await made([file, 'Go'])
  const { stdout: later } = await troupe(['run', file, 'Again', '--resume', id, '--json'])
  const { stdout } = await show(id, '-v')
  const block = stdout.slice(stdout.indexOf('\nCalls\n'))
  expect(block).toMatch(/^\nCalls\n {2}t1\.s1\.1 {2}list_files {2}completed · [\d.]+ m?s\n {4}→ \{"path":"\."\}\n {4}← \S/)
  expect(block).toMatch(/\n {2}t1\.s1\.2 {2}agent__wordy {2}completed · .*\n {4}→ \{"prompt":"A part"\}\n {4}← line 0\n {6}line 1\n/)
  expect(block).toMatch(/\n {6}line 19\n {6}… \d+ more lines\n {6}whole output, [\d.]+ KB: \S+\n/)
  expect(block).toContain(`\n  Complete events: troupe sessions show ${id} --stream-json\n`)
  const [, whole = ''] = /whole output, .*: (\S+)\n/.exec(stdout) ?? []
  expect(readFileSync(whole, 'utf8')).toBe(words)
  expect((await show(id)).stdout).not.toContain('\nCalls\n')

  const outcomes = [document, JSON.parse(later)] as unknown as readonly {
    readonly usage: { readonly input: number; readonly output: number }
  }[]
  const sum = (key: 'input' | 'output'): number => outcomes.reduce((all, { usage }) => all + usage[key], 0)
  expect(outcomes.every(({ usage }) => usage.output > 0)).toBe(true)
  const { totals } = shownIn((await show(id, '--json')).stdout)
  expect(totals).toMatchObject({ turns: 2, steps: 4, calls: 2, usage: { input: sum('input'), output: sum('output') } })
  expect(stdout).toContain(`\ntotal 2 turns · 4 steps · 2 calls · ~${sum('input')} → ${sum('output')} tokens\n`)
  expect(stdout).toMatch(/agent detailed +2 /)
  expect(stdout).toMatch(/agent wordy +1 /)
})

describe('a run that has not ended', () => {
  test('and waits is shown with its questions and the commands that answer them', async () => {
    const input = '{ path: x.txt, content: x }'
    const script = `steps:\n  - text: I am about to write.\n    calls: [{ tool: write_file, input: ${input} }]\n  - text: Done.\n`
    const file = await agent('writes', script, head('writes', 'tools: [write_file]'))
    const { document, id } = await made([file, 'Write it'])
    const { code, stdout } = await show(id)
    expect(code).toBe(0)
    expect(still(stdout).split('\n').slice(0, 10)).toEqual([
      `${id}  writes  waiting for an answer`,
      '  writes.ai · began THEN · waiting since THEN',
      '  ? Write x.txt, a new file  write_file',
      '    content │ x',
      '    y yes · n no · no REASON deny with a reason · x no, and end the run',
      '    s for this session, p for this project: x.txt · s1 p1 any file in the workspace',
      '    s2 p2 any call of write_file',
      `    troupe approvals answer ${id} yes`,
      `  troupe run writes.ai --resume ${id}`,
      '',
    ])
    expect(stdout).toContain('\nwrites  suspended: approval required')
    expect(stdout).toContain('Text so far\n  I am about to write.\n')
    const shown = shownIn((await show(id, '--json')).stdout)
    expect(shown).toMatchObject({ status: 'suspended', standing: { kind: 'waiting', open: 1 }, outcome: { exitCode: 6 } })
    expect(shown.outcome).toEqual(document)

    expect(await troupe(['approvals', 'answer', id, 'yes'])).toMatchObject({ code: 0 })
    expect((await show(id)).stdout).toContain(`${id}  writes  answered; resume it\n`)
    expect(await troupe(['run', file, '--resume', id])).toMatchObject({ code: 0, stdout: 'Done.\n' })
  })

  test('however much it waits for, stays within what a person reads, too', async () => {
    const shy = kid.replace('script/kid.yaml', 'script/shy.yaml\ntools: [write_file]')
    await agent('shy', 'steps:\n  - calls: [{ tool: write_file, input: { path: a.txt, content: a } }]\n  - text: ok\n', shy)
    const calls = Array.from({ length: 400 }, (_, i) => ({ tool: 'agent__shy', input: { prompt: `Part ${i}`, reason: 'x' } }))
    const limits = 'limits: { maxChildren: 400, maxCalls: 1000, parallelToolCalls: 400, parallelChildren: 400, maxTokens: 9000000 }'
    const settings = head('crowd', `agents: [./shy.ai]\nparameters: { maxOutputTokens: 90000 }\n${limits}`)
    const file = await agent('crowd', JSON.stringify({ steps: [{ calls }, { text: 'All.' }] }), settings)
    const { id } = await made([file, 'Go'])
    const { stdout } = await show(id)
    const lines = stdout.split('\n')
    expect(lines[0]).toBe(`${id}  crowd  waiting for 400 answers`)
    expect(lines.filter((line) => line.startsWith('    troupe approvals answer '))).toHaveLength(5)
    expect(stdout).toContain(`  ⋯ 395 more: troupe approvals list\n  troupe run crowd.ai --resume ${id}\n`)
    expect(stdout).toMatch(/\ncrowd {2}suspended.*\n⋯ \d+ lines\n/)
    expect(lines.length).toBeLessThan(1100)
  })

  test('is shown while another process drives it, and after that was killed', async () => {
    const script = (more: string) => `steps:\n  - calls: [{ tool: list_files, input: {} }]\n  - text: Done.\n${more}`
    const file = await agent('slow', script('    delay: 10m\n'), head('slow', 'tools: [list_files]'))
    const data = ['--data-dir', 'driven']
    const running = start(['run', file, 'Take your time', ...data])
    await running.says('step 2')
    const listing = JSON.parse((await troupe(['sessions', 'list', '--json', ...data])).stdout)
    const id: string = listing.sessions[0].sessionId

    const alive = await show(id, ...data)
    expect(alive).toMatchObject({ code: 0, stderr: '' })
    expect(alive.stdout).toMatch(new RegExp(`^${id}  slow  running: process ${running.process.pid} on .*\n.* so far\n\nInput\n`))
    expect(alive.stdout).toMatch(/slow {2}step 2 of 10 · 1 call/)
    expect(alive.stdout).not.toContain('▏')
    const soFar = shownIn((await show(id, '--json', ...data)).stdout)
    expect(soFar).toMatchObject({ status: 'running', standing: { kind: 'running' }, soFar: { operations: { steps: [{}] } } })
    expect(soFar).not.toHaveProperty('outcome')
    expect(soFar).not.toHaveProperty('goOn')
    const events = (await show(id, '--stream-json', ...data)).stdout
    expect(events).not.toContain('"run.')

    running.process.kill('SIGKILL')
    await running.ended
    const left = await show(id, ...data)
    const goOn = `troupe run slow.ai --resume ${id} --data-dir driven`
    expect(still(left.stdout).split('\n').slice(0, 3)).toEqual([
      `${id}  slow  unfinished: its process has exited`,
      '  slow.ai · began THEN · last event THEN',
      `  ${goOn}`,
    ])
    expect(left.stdout).toMatch(/\nslow {2}not ended/)
    expect(shownIn((await show(id, '--json', ...data)).stdout)).toMatchObject({ standing: { kind: 'unfinished' }, goOn, soFar: {} })
    // Whoever looks writes nothing, neither beside a driver nor after it.
    expect((await show(id, '--stream-json', ...data)).stdout).toBe(events)

    await writeFile(join(folder, 'slow.yaml'), script(''))
    expect(await troupe(goOn.split(' ').slice(1))).toMatchObject({ code: 0, stdout: 'Done.\n' })
  })
})

describe('what cannot be shown', () => {
  test('the beginning of an id is enough where no other session has it; otherwise all that match are named', async () => {
    const file = await agent('parts', 'steps:\n  - text: Done.\n  - text: More.\n')
    const data = ['--data-dir', join(folder, 'parts')]
    const ids = [(await made([file, 'One', ...data])).id, (await made([file, 'Two', ...data])).id]
    const [first = '', second = ''] = ids
    const shared = [...first].findIndex((letter, i) => letter !== second[i])
    const whole = await show(first, ...data)
    expect(await show(first.slice(0, shared + 1), ...data)).toEqual(whole)
    const several = await show(first.slice(0, shared), ...data)
    expect([several.code, several.stdout]).toEqual([2, ''])
    expect(still(several.stderr)).toBe(
      `error: 2 sessions have an ID that begins with ${first.slice(0, shared)}.\n\n  ${second}  parts · THEN · “Two”\n\n  ${first}  parts · THEN · “One”\n\n→ Type more of the ID.\n`,
    )
    const resume = ['run', file, 'More', '--resume', first.slice(0, shared + 1), ...data]
    expect(await troupe(resume)).toMatchObject({ code: 0, stdout: 'More.\n' })
    expect(shownIn((await show(first, '--json', ...data)).stdout)).toMatchObject({ totals: { turns: 2, steps: 2 } })
    expect(await troupe(['run', file, 'More', '--resume', first.slice(0, shared), ...data])).toMatchObject({ code: 2 })
    expect(await troupe(['approvals', 'drop', first.slice(0, shared), ...data])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('2 sessions have an ID'),
    })
  })

  test('an id that is not there is refused with those that may be meant', async () => {
    const file = await agent('known', 'steps:\n  - text: Done.\n')
    const data = ['--data-dir', join(folder, 'few')]
    const { id } = await made([file, 'Go', ...data])
    const list = `List the sessions: troupe sessions list --everywhere ${data.join(' ')}`

    expect(await show('nothing', ...data)).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: There is no session nothing in ${data[1]}.\n→ ${list}\n`,
    })
    const misspelt = shownIn((await show(`${id.slice(0, -1)}_`, '--json', ...data)).stdout)
    expect(misspelt).toMatchObject({
      ok: false,
      exitCode: 2,
      error: { code: 'usage', problems: [{ place: id, message: 'has a similar ID.' }] },
    })
  })

  test.each([
    { args: ['show'], says: 'The session ID is missing.' },
    { args: ['show', ''], says: 'The session ID is missing.' },
    { args: ['show', 'a', 'b'], says: 'show takes one ID.' },
    { args: ['show', 'a', '--data-dir', 'absent'], says: 'There is no session a in ' },
    { args: ['show', 'a', '--json', '--stream-json'], says: 'Cannot be combined with --stream-json.' },
    { args: ['list', 'a'], says: 'Show it: troupe sessions show a' },
    { args: ['list', '--stream-json'], says: 'Only show has this flag.' },
    { args: ['list', '-v'], says: 'Only show has this flag.' },
    { args: ['list', '--keep', '1'], says: 'Only prune has this flag.' },
    { args: ['delete', 'a', '--older', '1d'], says: 'Only prune has this flag.' },
    { args: ['list', '--dry-run'], says: 'Only prune and delete have this flag.' },
    { args: ['prune', 'a', '--keep', '1'], says: 'prune takes no ID.' },
    { args: ['prune'], says: '--older, --keep or both are required.' },
    { args: ['prune', '--older', 'soon', '--keep', 'few'], says: 'expected a number of sessions, found few' },
    { args: ['delete'], says: 'The session ID is missing.' },
    { args: ['delete', 'a', '--data-dir', 'absent'], says: 'There is no session a in ' },
  ])('sessions $args is refused', async ({ args, says }) => {
    const { code, stderr } = await troupe(['sessions', ...args])
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)])
  })

  test.each([
    ['runs', 'list'],
    ['runs', 'show', 'a', '--json'],
  ])('troupe %s %s names the command that it is now', async (...args) => {
    const { code, stderr } = await troupe(args.filter((word) => typeof word === 'string'))
    expect([code, stderr]).toEqual([2, 'error: The command is troupe sessions, not troupe runs.\n'])
  })

  test('a file in place of the folder of runs is refused', async () => {
    await writeFile(join(folder, 'no-folder'), '')
    expect(await show('a', '--data-dir', 'no-folder')).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a folder') })
  })
})

describe('on a window', () => {
  /** `troupe …` in this process, with a standard output of its own. */
  async function seen(words: readonly string[], columns?: number): Promise<string> {
    let text = ''
    const stream = new Writable({
      write(chunk, _encoding, done) {
        text += chunk
        done()
      },
    })
    const stdout = new Output(columns === undefined ? stream : Object.assign(stream, { isTTY: true, columns }))
    const code = await main(['sessions', ...words], {
      ...quietHost().host,
      env: { XDG_STATE_HOME: join(folder, 'state') },
      stdout,
      paint: colourPaint,
    })
    expect(code).toBe(0)
    return text
  }

  test.each([80, 40])('of %i columns every line fits, but for commands to copy', async (columns) => {
    const words = 'A long answer with many words in it. '.repeat(10)
    const file = await agent(
      'wordy',
      `steps:\n  - calls: [{ tool: list_files, input: {} }]\n  - text: ${words}\n`,
      head('wordy', 'tools: [list_files]'),
    )
    const { id } = await made([file, words])
    const colourful = await seen(['show', id], columns)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are made of
    const text = colourful.replaceAll(/\u001b\[[\d;]*m/g, '')
    expect(text).not.toBe(colourful)
    const long = text.split('\n').filter((line) => widthOf(line) >= columns && !line.includes('troupe run'))
    expect(long).toEqual([])
  })

  test('that is a pipe no colours are seen, even where standard error has some', async () => {
    const { id } = await made([await agent('plain', 'steps:\n  - text: Done.\n'), 'Go'])
    for (const words of [
      ['show', id],
      ['list', '--everywhere'],
    ]) {
      expect(await seen(words)).not.toContain('\u001b')
      expect(await seen(words, 80)).toContain('\u001b')
    }
  })
})
