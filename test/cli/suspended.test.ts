import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { OutcomeDocument } from '../../src/cli/commands/output/run-documents.ts'
import type { Outcome } from '../../src/contracts/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { answerElsewhere } from './answer-elsewhere.ts'
import { desk } from './live-window.ts'
import { workbench } from './troupe.ts'

const { agent, troupe, start, folder } = await workbench()
const window = await desk()

const script = (file: string): string =>
  `steps:\n  - calls: [{ tool: write_file, input: { path: ${file}, content: text } }]\n  - text: Done.\n  - text: And again.\n`
const settings = (name: string): string => `description: A test\nmodels: script/${name}.yaml\ntools: [write_file]`
const writer = (name: string): Promise<string> => agent(name, script(`${name}.txt`), settings(name))
const yes = { kind: 'approve', breadth: 'once' } as const
const at = (name: string): string => join(folder, name)

/** A run that nobody was there for; answers its file and the words of the command that goes on. */
async function suspended(name: string, more: readonly string[] = []) {
  const file = await writer(name)
  const ended = await troupe(['run', file, 'Go', '--data-dir', name, ...more])
  const [, command = ''] = /\n {2}troupe (run .*)\n$/.exec(ended.stderr) ?? []
  const words = (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/, '$1'))
  return { file, ended, words, id: words[words.indexOf('--resume') + 1] ?? '' }
}

describe.concurrent('without a terminal', () => {
  test('a run that waits for input to a child says who can send it, and how to end it', async () => {
    await agent(
      'idler',
      'steps:\n  - text: Idle.\n',
      'description: Waits\nusage: a word\noutput: { format: markdown }\nmodels: script/idler.yaml',
    )
    const wait = `children.wait({ ids: ['idler#1'], mode: 'next' }).then(String)`
    const tool = `{ name: 'hold', description: 'Holds.', inputSchema: { type: 'object' }, effect: 'read', execute: (_, { children }) => ${wait} }`
    await writeFile(at('hold.mjs'), `export default ${tool}\n`)
    const calls = [
      `{ tool: spawn_agent, input: { agent: idler, prompt: Go } }`,
      `{ tool: wait_for_agent, input: { ids: ['idler#1'] } }`,
      `{ tool: hold }`,
    ]
    const steps = `steps:\n${calls.map((call) => `  - calls: [${call}]\n`).join('')}  - text: Done.\n`
    const file = await agent(
      'holder',
      steps,
      'description: Holds\nmodels: script/holder.yaml\nagents: [./idler.ai]\nchildControl: true\ntools: [./hold.mjs]',
    )
    const ended = await troupe(['run', file, 'Go', '--data-dir', 'holder', '--trust'])
    expect(ended).toMatchObject({ code: 6, stdout: '' })
    expect(ended.stderr).toMatch(
      /\nThe turn waits for input to one of its children\.\n→ A program can send it: sessions\.send.*\n {2}troupe approvals drop \S+/,
    )
  })

  test('a call that needs approval suspends the run: exit 6, empty stdout, no effect, and the command to resume', async () => {
    const { ended, words, id } = await suspended('waits', [
      '--max-tokens',
      '90000',
      '--deny',
      'shell(rm *)',
      '--override',
      'limits.maxToolTurns=7',
    ])
    expect(ended).toMatchObject({ code: 6, stdout: '' })
    expect(ended.stderr).toContain('waits  suspended: approval required')
    expect(ended.stderr).toContain('? approval required  Write waits.txt, a new file')
    expect(ended.stderr).toMatch(/\n→ Answer the request, then resume the run\. .*\n/)
    expect(ended.stderr).toContain(`\n  troupe approvals answer ${id} yes --data-dir ${at('waits')}\n  troupe run waits.ai`)
    expect(words).toEqual([
      'run',
      'waits.ai',
      '--resume',
      id,
      '--data-dir',
      'waits',
      '--override',
      'limits.maxToolTurns=7',
      '--max-tokens',
      '90000',
      '--deny',
      'shell(rm *)',
    ])
    expect(existsSync(at('waits.txt'))).toBe(false)
    // It still waits where nobody is there again, and is told of.
    expect(await troupe(words)).toMatchObject({ code: 6, stdout: '' })
    const list = await troupe(['approvals', 'list', '--data-dir', 'waits', '--json'])
    expect(JSON.parse(list.stdout)).toMatchObject({
      ok: true,
      grants: [],
      waiting: [
        { sessionId: id, agent: 'waits', title: 'Go', request: { tool: 'write_file', input: { path: 'waits.txt', content: 'text' } } },
      ],
    })
    const { stdout } = await troupe(['approvals', 'list', '--data-dir', 'waits'])
    expect(stdout.replace(/since \S+ \S+ UTC/, 'since then')).toBe(
      [
        `${id}  waits  waits.ai in ${folder} · since then · “Go”`,
        '  ? Write waits.txt, a new file  write_file',
        '    content │ text',
        '    y yes · n no · no REASON deny with a reason · x no, and end the run',
        '    s for this session, p for this project: waits.txt · s1 p1 any file in the workspace',
        '    s2 p2 any call of write_file',
        `    troupe approvals answer ${id} yes --data-dir waits`,
        `  troupe run waits.ai --resume ${id} --data-dir waits --deny 'shell(rm *)'\n`,
      ].join('\n'),
    )
  })

  test('--json and --stream-json say it, too', async () => {
    const file = await writer('documents')
    const whole = await troupe(['run', file, 'Go', '--data-dir', 'documents', '--json', '-q'])
    expect(whole.code).toBe(6)
    expect(JSON.parse(whole.stdout)).toMatchObject({ ok: false, status: 'suspended', reason: 'approval', exitCode: 6 })
    const lines = (await troupe(['run', file, 'Go', '--data-dir', 'documents', '--stream-json', '-q'])).stdout.trimEnd().split('\n')
    const events = lines.map((line): { type: string } => JSON.parse(line))
    expect(events.map(({ type }) => type).slice(-3)).toEqual(['interaction.approval.requested', 'interaction.turn.suspended', 'run.failed'])
    expect(events.at(-1)).toMatchObject({ ok: false, exitCode: 6, outcome: { status: 'suspended' } })
  })

  test('onUnavailable: deny continues without approval, the model is informed, and the exit code is 6', async () => {
    const file = await writer('denied')
    await writeFile(at('deny.json'), '{ "approvals": { "onUnavailable": "deny" } }')
    const ended = await troupe(['run', file, 'Go', '--data-dir', 'denied', '--config', 'deny.json', '--json'])
    expect(ended.code).toBe(6)
    const { status, snapshot, sessionId, ...document }: OutcomeDocument = JSON.parse(ended.stdout)
    const denial = { agentPath: 'root', tool: 'write_file', kind: 'unavailable', by: 'approvals.onUnavailable' }
    expect({ status, ...document }).toMatchObject({ status: 'completed', ok: false, exitCode: 6, denials: [denial] })
    const shown = await troupe(['sessions', 'show', sessionId, '--data-dir', 'denied', '--json'])
    expect(JSON.parse(shown.stdout).outcome).toMatchObject({ exitCode: 6, denials: [denial] })
    const plain = await troupe(['run', file, 'Go', '--data-dir', 'denied', '--config', 'deny.json'])
    expect(plain).toMatchObject({ code: 6, stdout: 'Done.\n' })
    expect(plain.stderr).toContain('error: Calls were denied because nobody could be asked: write_file.')
    expect(JSON.stringify(snapshot.history)).toContain('no person is available to approve it')
    expect(existsSync(at('denied.txt'))).toBe(false)
  })

  test('--allow needs nobody, --deny asks nobody', async () => {
    const file = await writer('flags')
    expect(await troupe(['run', file, 'Go', '--data-dir', 'flags', '--deny', 'write_file', '--json'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('A rule forbids this call'),
    })
    expect(existsSync(at('flags.txt'))).toBe(false)
    const listed = await troupe(['run', file, 'Go', '--data-dir', 'flags', '--deny', 'write_file'])
    expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining('denied: root write_file: A rule forbids this call: deny') })
    const both = ['--allow', 'write_file', '--deny', `write_file(${folder}/other*)`]
    expect(await troupe(['run', file, 'Go', '--data-dir', 'flags', ...both])).toMatchObject({ code: 0, stdout: 'Done.\n' })
    expect(await readFile(at('flags.txt'), 'utf8')).toBe('text')
  })

  test('--strict fails on a denial, and on warnings before anything is started', async () => {
    const file = await writer('strict')
    const run = ['run', file, 'Go', '--data-dir', 'strict', '--json', '--strict']
    const denied = await troupe([...run, '--deny', 'write_file'])
    expect([denied.code, JSON.parse(denied.stdout)]).toMatchObject([
      6,
      { status: 'completed', denials: [{ kind: 'decided', by: 'a rule' }] },
    ])
    expect(denied.stderr).toContain('Calls were denied, and --strict allows no denial: write_file.')
    expect((await troupe([...run, '--allow', 'write_file'])).code).toBe(0)
    const optional = await agent(
      'strict-tool',
      script('x.txt'),
      'description: A test\nmodels: script/strict-tool.yaml\ntools: [write_fil?]',
    )
    for (const words of [
      ['run', optional, 'Go', '--data-dir', 'none', '--strict', '--json'],
      ['validate', optional, '--strict', '--json'],
    ]) {
      const { code, stdout } = await troupe(words)
      expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { problems: [{ message: 'there is no tool `write_fil`' }] } }])
    }
    expect(existsSync(at('none'))).toBe(false)
  })

  test('invalid patterns: exit 2, all of them together, nothing is started', async () => {
    const file = await writer('patterns')
    const ended = await troupe(['run', file, 'Go', '--data-dir', 'patterns', '--allow', 'shell(', '--allow', 'a b', '--deny', '(x)'])
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    for (const place of ['--allow shell(', '--allow a b', '--deny (x)']) expect(ended.stderr).toContain(place)
    expect(existsSync(at('patterns'))).toBe(false)
  })
})

describe.concurrent('--resume', () => {
  test('at a terminal the question is asked again, and the turn continues', async () => {
    await writeFile(join(window.folder, 'later.yaml'), script('later.txt'))
    const file = await window.agent('later', script('later.txt'), 'tools: [write_file]')
    const home = { XDG_STATE_HOME: join(window.folder, 'state') }
    const first = await troupe(['run', file, 'Go', '--data-dir', 'later', '--json', '-q'], { env: home, cwd: window.folder })
    expect(first.code).toBe(6)
    const { sessionId: treeId }: Outcome = JSON.parse(first.stdout)
    const opened = window.troupe(['run', file, '--resume', treeId, '--data-dir', 'later'], { columns: 100, rows: 30 })
    await opened.shows(/\? Write later\.txt[\s\S]*\n> $/)
    opened.pty.write('y\r')
    expect(await opened.ended).toBe(0)
    expect(opened.lines().at(-1)).toBe('Done.')
    expect(opened.lines().join('\n')).toMatch(/^later {2}completed · 2 steps · 1 call/m)
  })

  test('what answered elsewhere meanwhile needs no terminal', async () => {
    const { words } = await suspended('answered')
    await answerElsewhere(at('answered'), yes)
    expect(await troupe(words)).toMatchObject({ code: 0, stdout: 'Done.\n' })
    expect(await readFile(at('answered.txt'), 'utf8')).toBe('text')
  })

  test('a rule that forbids it now wins over the yes', async () => {
    const { words } = await suspended('forbidden')
    await answerElsewhere(at('forbidden'), yes)
    const ended = await troupe([...words, '--deny', 'write_file'])
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('A rule forbids this call') })
    expect(existsSync(at('forbidden.txt'))).toBe(false)
  })

  test('of a run that has ended: a prompt is its next turn, and the tree shows that turn alone', async () => {
    const file = await writer('ended')
    await troupe(['run', file, 'Go', '--data-dir', 'ended', '--allow', 'write_file'])
    const store = sqliteStore({ path: at('ended') })
    const [run] = await store.trees.list({ limit: 1 })
    await store.close()
    const id = run!.treeId
    const nothing = await troupe(['run', file, '--resume', id, '--data-dir', 'ended'])
    expect(nothing).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`The session ${id} has ended; there is nothing to resume.`),
    })
    const ended = await troupe(['run', file, 'And now?', '--resume', id, '--data-dir', 'ended'])
    expect(ended).toMatchObject({ code: 0, stdout: 'And again.\n' })
    expect(ended.stderr.match(/^ended {2}completed/gm)).toHaveLength(1)
  })

  test('of a session that is not there: with the one that is meant, and the command that lists them', async () => {
    const { file, id } = await suspended('known')
    const ended = (given: string) => troupe(['run', file, '--resume', given, '--data-dir', 'known', '--json'])
    const near = await ended(`${id.slice(0, -1)}_`)
    expect(near).toMatchObject({ code: 2, stderr: expect.stringContaining(`${id}  has a similar ID.`) })
    expect(JSON.parse(near.stdout)).toMatchObject({ ok: false, error: { code: 'usage' }, exitCode: 2 })
    expect(await ended('nothing')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('List the sessions: troupe sessions list --everywhere'),
    })
    expect(await troupe(['run', file, '--resume', 'nothing', '--data-dir', 'empty'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('List the sessions: troupe sessions list'),
    })
  })

  test('with the file of another agent: reported, and nothing is changed', async () => {
    const { id } = await suspended('mine')
    const other = await writer('yours')
    const ended = await troupe(['run', other, '--resume', id, '--data-dir', 'mine', '--allow', 'write_file'])
    expect(ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`The session ${id} belongs to the agent mine; yours.ai is yours.`),
    })
    expect(existsSync(at('mine.txt'))).toBe(false)
  })

  test('with an agent that has changed since: it continues unchanged, and reports it', async () => {
    const { file, words } = await suspended('changed')
    await writeFile(at(file), (await readFile(at(file), 'utf8')).replace('You are tested.', 'You are another.'))
    await answerElsewhere(at('changed'), yes)
    const ended = await troupe(words)
    expect(ended).toMatchObject({ code: 0, stdout: 'Done.\n' })
    expect(ended.stderr).toContain('agent_changed')
  })

  test('of a session that another process drives: reported, and left alone', async () => {
    const file = await agent('driven', 'steps: [{ text: never, delay: 1h }]')
    const first = start(['run', file, 'Go', '--data-dir', 'driven'])
    await first.says('step 1')
    const store = sqliteStore({ path: at('driven') })
    const [run] = await store.trees.list({ limit: 1 })
    await store.close()
    const second = await troupe(['run', file, '--resume', run!.treeId, '--data-dir', 'driven', '--json'])
    expect(second.code).toBe(1)
    expect(JSON.parse(second.stdout)).toMatchObject({ ok: false, error: { code: 'session_driven' } })
    first.process.kill('SIGINT')
    expect(await first.ended).toMatchObject({ code: 130 })
  })

  test('a further prompt for a run that waits is kept until it has its answer', async () => {
    const { words } = await suspended('queued')
    expect(await troupe([...words, 'And then?'])).toMatchObject({ code: 6 })
    await answerElsewhere(at('queued'), yes)
    expect(await troupe(words)).toMatchObject({ code: 0, stdout: 'And again.\n' })
  })
})

test('a folder of the project that is not there yet is no reason to fail', async () => {
  await mkdir(at('sub'), { recursive: true })
  expect(await troupe(['approvals', 'list', '--data-dir', 'sub/none'])).toMatchObject({ code: 0, stdout: '' })
})
