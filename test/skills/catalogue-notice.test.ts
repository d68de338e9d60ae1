import { describe, expect, it } from 'vitest'
import type { SkillCard } from '../../src/contracts/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { runtimeWith } from '../runtime/helpers.ts'

const skills = Array.from({ length: 30 }, (_, index): SkillCard => {
  const name = `skill-${index}`
  return { name, description: 'words '.repeat(150), scope: 'repo', path: `/s/${name}/SKILL.md`, hash: '0' }
})
const names = skills.map(({ name }) => name)
const notice = (name: string) => ({
  code: 'skills_cut',
  severity: 'warning',
  message: expect.stringMatching(
    new RegExp(`^Skills of "${name}": The descriptions of 30 of 30 skills were shortened to \\d+ characters to fit\\.$`),
  ),
  remedy: 'Give it fewer skills, shorten their descriptions, or use a model with a larger context window.',
})
const agent = (name: string, more: object = {}) => ({
  name,
  description: name,
  prompt: `You are ${name}.`,
  model: 'any',
  tools: [],
  skills: names,
  ...more,
})

describe('a list of skills that the prompt has no room for', () => {
  it('is reported at the start of a session', async () => {
    const { diagnostics } = await runtimeWith(new ScriptedModel([{ text: 'Done.' }]), { config: { agents: [agent('clerk')], skills } }).run(
      'Go.',
    )
    expect(diagnostics).toEqual([notice('clerk')])
  })

  it('is not reported if there is room', async () => {
    const config = { agents: [agent('clerk', { skills: names.slice(0, 2) })], skills }
    const { diagnostics } = await runtimeWith(new ScriptedModel([{ text: 'Done.' }]), { config }).run('Go.')
    expect(diagnostics).toEqual([])
  })

  it('is reported once for equal children', async () => {
    const agents = [agent('boss', { skills: [], agents: ['scout'] }), agent('scout')]
    const call = { tool: 'agent__scout', input: { prompt: 'Look.' } }
    const model = new ScriptedModel([{ calls: [call] }, { text: 'Seen.' }, { calls: [call] }, { text: 'Seen.' }, { text: 'Done.' }])
    const { diagnostics } = await runtimeWith(model, { config: { agents, skills, agentSelection: { agent: 'boss' } } }).run('Go.')
    expect(diagnostics).toEqual([notice('scout')])
  })
})
