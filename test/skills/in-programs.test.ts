import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type AgentDefinition, type AgentLoopConfig, createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel, type ScriptedStep } from '../../src/testing/index.ts'
import { folder } from '../agents/folder.ts'
import { skill } from './place.ts'

// `config.skills: { directories, disabled }` and `agents[].disabledSkills`.

const { path } = folder({
  'a/pdf/SKILL.md': skill('pdf'),
  'a/git-log/SKILL.md': skill('git-log'),
  'b/pdf/SKILL.md': skill('pdf'),
  'b/git-tag/SKILL.md': skill('git-tag'),
  'bad/broken/SKILL.md': 'no frontmatter',
  '.agents/skills/of-the-project/SKILL.md': skill('of-the-project'),
})
const directories = [join(path, 'a'), join(path, 'b')]
const load = (name: string): ScriptedStep => ({ calls: [{ tool: 'load_skill', input: { name } }] })

function world(
  skills: AgentLoopConfig['skills'],
  more: Partial<AgentDefinition> = {},
  steps: readonly ScriptedStep[] = [{ text: 'Done.' }],
) {
  const model = new ScriptedModel(steps)
  const store = memoryStore()
  const config = { agents: [{ name: 'clerk', description: 'd', prompt: 'p', model: 'm', ...more }], ...(skills && { skills }) }
  return { model, store, config, runtime: createAgentRuntime({ config, adapter: model, store }) }
}

const namesIn = async (...given: Parameters<typeof world>): Promise<unknown> => {
  const { snapshot } = await world(...given).runtime.run('Go')
  return snapshot.skills.map(({ id }) => id)
}

describe('skills of a program', () => {
  it('are found in folders, the first folder first, and can be loaded', async () => {
    const { model, runtime } = world({ directories }, {}, [load('pdf'), { text: 'Done.' }])
    const { accounting, snapshot, diagnostics } = await runtime.run('Go')
    expect(snapshot.skills.map(({ id, path: file }) => [id, file.startsWith(join(path, 'a'))])).toEqual([
      ['git-log', true],
      ['git-tag', false],
      ['pdf', true],
    ])
    expect(accounting).toMatchObject([{}, { tool: 'load_skill', status: 'completed' }, {}])
    expect([model.requests[0]?.tools.map(({ name }) => name), diagnostics]).toEqual([['load_skill'], []])
  })

  it('are disabled for all agents, or for one, by name and pattern', async () => {
    expect(await namesIn({ directories, disabled: ['pdf'] })).toEqual(['git-log', 'git-tag'])
    expect(await namesIn({ directories }, { disabledSkills: ['git-*'] })).toEqual(['pdf'])
    expect(await namesIn({ directories }, { skills: ['git-*'], disabledSkills: ['git-tag'] })).toEqual(['git-log'])
    expect(await namesIn({ directories }, { disabledSkills: ['*'] })).toEqual([])
  })

  it('are the same for sessions that start together, after a resume and after an update', async () => {
    const { runtime, store, config } = world({ directories }, {}, [{ text: 'One.' }, { text: 'Two.' }])
    const [one] = await Promise.all([runtime.run('Go'), runtime.run('Go')])
    const opened = await createAgentRuntime({ config, adapter: new ScriptedModel([load('pdf'), { text: 'Three.' }]), store }).open(
      one.sessionId,
    )
    await opened.send('Again')
    expect(await opened.outcome).toMatchObject({ report: { text: 'Three.' }, diagnostics: [] })
    const updated = world({ directories }, {}, [{ text: 'x' }])
    await updated.runtime.update({ ...updated.config, skills: { directories, disabled: ['pdf'] } })
    expect((await updated.runtime.run('Go')).snapshot.skills.map(({ id }) => id)).toEqual(['git-log', 'git-tag'])
  })

  it('a broken skill is reported, and the others work', async () => {
    const { diagnostics, snapshot } = await world({ directories: [join(path, 'bad'), ...directories] }).runtime.run('Go')
    expect(snapshot.skills).toHaveLength(3)
    expect(diagnostics).toMatchObject([{ code: 'skill_missing', message: expect.stringContaining('broken') }])
  })

  it.each<[string, Parameters<typeof world>, string]>([
    ['a folder', [{ directories: [join(path, 'none')] }], 'config.skills.directories[0]'],
    ['a relative folder', [{ directories: ['skills'] }], 'expected an absolute path'],
    ['a disabled skill', [{ directories, disabled: ['pfd'] }], 'Did you mean'],
    ['a skill of an agent', [{ directories }, { skills: ['pfd'] }], 'config.agents[0].skills[0]'],
    ['a disabled skill of an agent', [{ directories }, { disabledSkills: ['pfd'] }], 'config.agents[0].disabledSkills[0]'],
  ])('%s that does not exist fails the run, and nothing is stored', async (_, given, text) => {
    const { runtime, store } = world(...given)
    expect(await runtime.run('Go')).toMatchObject({ status: 'failed', code: 'config_invalid', message: expect.stringContaining(text) })
    expect(await store.trees.list({})).toEqual([])
  })

  it('a wrong shape is refused when the runtime is created', () => {
    const wrong = { directories: 'a', folders: [] } as never
    expect(() => world(wrong, { disabledSkills: 'pdf' as never })).toThrow(
      /config\.skills\.folders[\s\S]*config\.skills\.directories|config\.skills\.directories[\s\S]*config\.skills\.folders/,
    )
  })
})
