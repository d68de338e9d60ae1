import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { InteractionEvent, TreeId } from '../../src/contracts/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { type Call, makeAgent, makeProject, type Said, sessionIdOf, troupeIn, variablesIn } from './in-process.ts'
import { workbench } from './troupe.ts'

const { folder, start } = await workbench()
const before = process.cwd()
const env = variablesIn(folder)
beforeAll(() => vi.stubEnv('HOME', folder))
afterAll(() => {
  vi.unstubAllEnvs()
  process.chdir(before)
})

const writing: Call = { tool: 'write_file', input: { path: 'a.txt', content: 'text' } }

const words = ['one', 'two', 'three', 'four', 'five']

/** An agent in a project of its own, and the command line there. */
async function project(name: string, calls: readonly Call[] = []) {
  const place = join(folder, name)
  await makeProject(place)
  if (calls.length > 0) await makeAgent(place, calls)
  else {
    await writeFile(join(place, 'script.yaml'), `steps: [${words.map((word) => `{ text: ${word}, delay: 20ms }`).join(', ')}]\n`)
    await writeFile(join(place, 'w.ai'), '---\ndescription: x\nmodels: script/script.yaml\ntools: [list_files]\n---\nWork.\n')
  }
  const at = (given: readonly string[], more: object = {}) => troupeIn(place, given, { ...env, ...more })
  const begin = async (...flags: string[]): Promise<string> => idOf(await at(['run', 'w.ai', 'Go', '--json', '-q', ...flags]))
  const resume = (id: string, flags: readonly string[], more: object = {}) =>
    at(['run', 'w.ai', 'More', '--resume', id, '--json', '-q', ...flags], more)
  return { place, at, begin, resume }
}

const idOf = ({ stdout }: Said): string => (JSON.parse(stdout) as { readonly sessionId: string }).sessionId
const limitsOf = ({ stdout }: Said): object => JSON.parse(stdout).snapshot.selectedAgent.limits

async function journalOf(id: string): Promise<readonly InteractionEvent[]> {
  const store = sqliteStore({ path: join(folder, 'state', 'troupe') })
  try {
    return await store.journal.read(id as TreeId, 0)
  } finally {
    await store.close()
  }
}
const changesIn = async (id: string) => (await journalOf(id)).filter(({ type }) => type === 'interaction.session.configured')

describe('--resume with what a flag or a variable says', () => {
  const biting: readonly (readonly [string, readonly string[], object])[] = [
    ['--max-tokens', ['--max-tokens', '10'], {}],
    ['--time-budget', ['--time-budget', '1ms'], {}],
    ['--override', ['--override', 'limits.maxSessionTokens=1'], {}],
    ['TROUPE_LIMITS_MAX_TOKENS', [], { TROUPE_LIMITS_MAX_TOKENS: '10' }],
  ]
  test.each(biting)('%s takes effect, is stored, and lets the run continue once raised again', async (name, flags, more) => {
    const { begin, resume } = await project(`bites${name.replaceAll(/\W/g, '')}`)
    const id = await begin()
    expect(await resume(id, flags, more)).toMatchObject({ code: 5 })
    expect(await resume(id, [])).toMatchObject({ code: 5 })
    const raised = ['--max-tokens', '90000', '--time-budget', '9m', '--override', 'limits.maxSessionTokens=90000']
    expect(await resume(id, raised)).toMatchObject({ code: 0 })
    expect(await changesIn(id)).toHaveLength(2)
  })

  test('all together are in the snapshot and shown to people; repeated flags change nothing', async () => {
    const { at, begin, resume } = await project('snapshot')
    const id = await begin()
    const flags = ['--max-cost', '0.5', '--max-tokens', '9000', '--time-budget', '9m', '--override', 'limits.maxToolTurns=4']
    const told = await at(['run', 'w.ai', 'More', '--resume', id, ...flags])
    expect(told.stderr).toContain(
      'Changed from the next step on: limits.maxToolTurns 4 (was 10), limits.maxTokens 9000 (was none), limits.maxCostUsd 0.5 (was none), limits.timeBudget 9m (was none)\n',
    )
    expect(told.stderr).not.toContain('agent_changed')
    const again = await resume(id, flags)
    expect(limitsOf(again)).toMatchObject({ maxCostUsd: 0.5, maxTokens: 9000, timeBudget: 540_000, maxToolTurns: 4 })
    const silent = await at(['run', 'w.ai', 'More', '--resume', id])
    expect([silent.code, silent.stderr.includes('Changed from the next step on'), silent.stderr.includes('agent_changed')]).toEqual([
      0,
      false,
      false,
    ])
    expect(await changesIn(id)).toHaveLength(1)
  })

  test('a flag means what it says, also where the run was started with it and has been changed since', async () => {
    const { begin, resume } = await project('back')
    const id = await begin('--max-tokens', '50000')
    expect(limitsOf(await resume(id, ['--max-tokens', '50000']))).toMatchObject({ maxTokens: 50_000 })
    expect(await changesIn(id)).toHaveLength(0)
    expect(limitsOf(await resume(id, ['--max-tokens', '60000']))).toMatchObject({ maxTokens: 60_000 })
    expect(limitsOf(await resume(id, ['--max-tokens', '50000']))).toMatchObject({ maxTokens: 50_000 })
    expect(await changesIn(id)).toHaveLength(2)
  })

  test('--model: a run whose model is gone continues with another, then and later; its file is not read', async () => {
    const { place, begin, resume } = await project('models')
    await writeFile(join(place, 'other.yaml'), 'steps: [{ text: by another }, { text: by another }, { text: by another }]\n')
    const id = await begin()
    const file = await readFile(join(place, 'w.ai'), 'utf8')
    await writeFile(join(place, 'w.ai'), file.replace('script/script.yaml', 'lab/x'))
    await writeFile(join(place, 'script.yaml'), 'nothing of use\n')
    expect((await resume(id, [])).code).not.toBe(0)
    const changed = await resume(id, ['--model', 'script/other.yaml'])
    expect([changed.code, JSON.parse(changed.stdout).report.text]).toEqual([0, 'by another'])
    expect(await resume(id, [])).toMatchObject({ code: 0 })
    expect(await changesIn(id)).toMatchObject([{ agent: { models: ['script/other.yaml'] } }])
  })

  test('errors end with their exit code and all problems, and the journal is unchanged', async () => {
    const { begin, resume } = await project('wrong')
    const id = await begin()
    const events = await journalOf(id)
    const wrong = await resume(id, ['--max-tokens', '0', '--override', 'tools=[shell]', '--override', 'limits.maxCost=3'])
    expect(wrong.code).toBe(2)
    const { problems } = JSON.parse(wrong.stdout).error
    expect(problems.map(({ place }: { readonly place: string }) => place).toSorted()).toEqual([
      '--max-tokens',
      '--override limits.maxCost',
      '--override tools',
    ])
    expect(await resume(id, ['--model', 'nowhere/x'])).toMatchObject({ code: 3 })
    expect(await journalOf(id)).toEqual(events)
  })
})

describe('what a resumed run keeps', () => {
  test('is refused with a remedy each, unless it is said as it was', async () => {
    const { begin, resume } = await project('kept')
    const asBegun = ['--override', 'usage=ask me', '--override', 'tools=[list_files, read_file]']
    const id = await begin(...asBegun)
    const events = await journalOf(id)
    const settings = [
      'description=y',
      'usage=other',
      'toolName=other',
      'tools=[shell]',
      'skills=[pdf]',
      'disabledSkills=[pdf]',
      'approvals.rules=[{ deny: shell }]',
      'sandbox.mode=required',
      'output.format=json',
      'input.format=json',
      'metadata={ owner: me }',
    ]
    for (const setting of settings) {
      const { code, stdout } = await resume(id, ['--override', setting])
      const key = setting.split('=', 1)[0]
      const { error } = JSON.parse(stdout)
      expect([code, JSON.stringify(error)], setting).toEqual([2, expect.stringContaining(`keeps its \`${key}\``)])
    }
    expect(await resume(id, [], { TROUPE_OUTPUT_FORMAT: 'json' })).toMatchObject({ code: 2 })
    expect(await journalOf(id)).toEqual(events)
    expect(await resume(id, ['--override', 'tools=[list_files,read_file]', '--override', 'usage=ask me'])).toMatchObject({ code: 0 })
    expect(await resume(id, [], { TROUPE_OUTPUT_FORMAT: 'markdown' })).toMatchObject({ code: 0 })
    expect(await changesIn(id)).toEqual([])
  })
})

describe('a run that waits', () => {
  test('is resumed with a limit that applies immediately; the printed commands do not undo that', async () => {
    const { at } = await project('waits', [writing])
    const id = sessionIdOf(
      await at(['run', 'w.ai', 'Go', '--json', '-q', '--override', 'limits.maxToolTurns=7', '--model', 'script/script.yaml']),
    )
    expect(await at(['run', 'w.ai', '--resume', id, '--override', 'limits.maxToolTurns=1', '-q'])).toMatchObject({ code: 6 })
    expect((await at(['approvals', 'list'])).stdout).toContain(`  troupe run w.ai --resume ${id}\n`)
    await at(['approvals', 'answer', id, 'yes'])
    const ended = await at(['run', 'w.ai', '--resume', id])
    expect(ended.code).toBe(5)
    expect(ended.stderr).not.toContain('agent_changed')
    const events = await journalOf(id)
    const changed = events.findIndex(({ type }) => type === 'interaction.session.configured')
    expect(events.slice(changed - 1, changed + 2).map(({ type }) => type)).toEqual([
      'interaction.turn.suspended',
      'interaction.session.configured',
      'interaction.session.resumed',
    ])
  })
})

test('killed in the middle of a step: the change comes before what became of the step, and holds when it is killed again', async () => {
  const place = join(folder, 'killed')
  await makeProject(place)
  await writeFile(join(place, 'slow.yaml'), 'steps: [{ text: slow, delay: 10m }, { text: slow, delay: 10m }]\n')
  await writeFile(join(place, 'quick.yaml'), 'steps: [{ text: quick }, { text: quick }]\n')
  await writeFile(join(place, 'w.ai'), '---\ndescription: x\nmodels: script/slow.yaml\n---\nWork.\n')
  const kill = async (given: readonly string[], said: string): Promise<void> => {
    const running = start(['run', 'w.ai', ...given], { cwd: place })
    await running.says(said)
    running.process.kill('SIGKILL')
    await running.ended
  }
  await kill(['Go'], 'step 1')
  const { stdout } = await troupeIn(place, ['sessions', 'list', '--json'], env)
  const [id = ''] = stdout.match(/[a-z0-9]+-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}/) ?? []
  const { length } = await journalOf(id)
  await kill(['--resume', id, '--max-tokens', '70000'], 'lost')
  const events = await journalOf(id)
  expect(events[length]).toMatchObject({ type: 'interaction.session.configured', agent: { limits: { maxTokens: 70_000 } } })
  const ended = await troupeIn(place, ['run', 'w.ai', '--resume', id, '--model', 'script/quick.yaml', '--json', '-q'], env)
  expect(ended.code).toBe(0)
  expect(JSON.parse(ended.stdout)).toMatchObject({
    report: { text: 'quick' },
    snapshot: { selectedAgent: { limits: { maxTokens: 70_000 } } },
  })
  expect(await changesIn(id)).toHaveLength(2)
})
