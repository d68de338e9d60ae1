import { describe, expect, test } from 'vitest'
import { agentSkills, agentTemplate, parseOverrides, registeredTemplate } from '../../src/project/index.ts'
import { findSkills } from '../../src/tools/skills/index.ts'
import { agentsOf, child, folder } from './folder.ts'

const skill = (name: string, description = `About ${name}`) => `---\nname: ${name}\ndescription: ${description}\n---\nDo it.`

describe('rules and sandbox settings of an agent file', () => {
  test('reach the definition; folders are relative to the file that names them', async () => {
    const settings = [
      'tools: [shell, "read_*"]',
      'approvals: { rules: [{ deny: "shell(rm *)", reason: No }] }',
      'sandbox: { mode: required, hosts: [], writable: [../w, /srv], memory: 512MB }',
    ].join('\n')
    const { load, path } = folder({ 'team/a.ai': child(settings) })
    const definition = {
      tools: ['shell', 'read_*'],
      approvals: [{ deny: 'shell(rm *)', reason: 'No' }],
      sandbox: { mode: 'required', hosts: [], writable: [`${path}/w`, '/srv'], memory: 2 ** 29 },
    }
    const registry = await load('team/a.ai')
    expect(agentsOf(registry)[0]).toMatchObject({ definition })
    expect(registry.diagnostics.map(({ code, place, message }) => `${code} ${place} ${message}`)).toEqual([
      'agent_setting_idle team/a.ai:8:50 `sandbox.writable` names "../w", which the session does not allow',
      'agent_setting_idle team/a.ai:8:56 `sandbox.writable` names "/srv", which the session does not allow',
    ])
    const flags = parseOverrides({ settings: ['sandbox.writable=[./o]'] })
    expect(agentsOf(await load('team/a.ai', { flags }))[0]?.definition.sandbox?.writable).toEqual([`${path}/o`])
  })

  test('an agent that says nothing of them has none of its own', async () => {
    const [agent] = agentsOf(await folder({ 'a.ai': child() }).load('a.ai'))
    expect(agent?.definition).not.toHaveProperty('approvals')
    expect(agent?.definition).not.toHaveProperty('sandbox')
    expect(agent?.definition).toMatchObject({ tools: [], skills: [] })
  })

  test('settings that would loosen the session are reported with their place; an exception from an earlier rule is not', async () => {
    const told = async (settings: string, over: readonly string[] = []) =>
      (await folder({ 'a.ai': child(settings) }).load('a.ai', { flags: parseOverrides({ settings: over }) })).diagnostics.map(
        ({ code, place, message }) => `${code} ${place} ${message}`,
      )
    expect(await told('approvals: { rules: [{ allow: "*" }, { deny: shell }] }')).toEqual([
      'agent_setting_idle a.ai:6:22 a rule that allows something has no effect',
    ])
    expect(await told('approvals: { rules: [{ deny: shell }, { allow: "shell(git *)" }] }')).toEqual([])
    expect(await told('approvals: { rules: [{ deny: write_file }, { allow: shell }] }')).toEqual([
      'agent_setting_idle a.ai:6:44 a rule that allows something has no effect',
    ])
    expect(await told('approvals: { rules: [{ deny: "shell(rm *)" }, { allow: shell }] }')).toEqual([
      'agent_setting_idle a.ai:6:22 `deny: shell(rm *)` is taken back by `allow: shell` behind it',
    ])
    expect(await told('sandbox: { mode: off }')).toEqual(['agent_setting_idle a.ai:6:18 `sandbox.mode: off` has no effect'])
    expect(await told('', ['sandbox.mode=off'])).toEqual(['agent_setting_idle --override sandbox.mode `sandbox.mode: off` has no effect'])
  })

  test('the examples of its help make the same agent', async () => {
    const settings =
      'tools: shell\nskills: [pdf]\ndisabledSkills: [x]\nsandbox: { memory: 1GB }\napprovals: { rules: [{ ask: [shell, write_file] }] }'
    const { load, write } = folder({ 'a.ai': child(settings) })
    const [agent] = agentsOf(await load('a.ai'))
    write({ 'b/a.ai': `${agentTemplate(registeredTemplate(agent as NonNullable<typeof agent>))}\nDo it.\n` })
    const [copy] = agentsOf(await load('b/a.ai'))
    const limits = expect.anything()
    expect({ ...copy?.definition, limits, disabledSkills: copy?.disabledSkills }).toEqual({
      ...agent?.definition,
      limits,
      disabledSkills: ['x'],
    })
  })
})

describe('the skills of an agent', () => {
  const project = (settings: string) =>
    folder({
      'a.ai': child(settings),
      '.agents/skills/pdf/SKILL.md': skill('pdf'),
      '.agents/skills/git-push/SKILL.md': skill('git-push'),
      '.agents/skills/broken/SKILL.md': 'no settings',
    })
  const chosen = async (settings: string) => {
    const { load, path } = project(settings)
    const [agent] = agentsOf(await load('a.ai'))
    const { skills, problems } = agentSkills(agent as NonNullable<typeof agent>, findSkills({ workingDirectory: path, projectRoot: path }))
    return {
      names: skills.map(({ name }) => name),
      told: problems.map(({ place, message, remedy }) => [place, message.slice(0, 40), remedy]),
    }
  }

  test('are those that it wants without those that it does not', async () => {
    expect(await chosen('')).toEqual({ names: [], told: [] })
    expect(await chosen('skills: "*"')).toEqual({ names: ['git-push', 'pdf'], told: [] })
    expect(await chosen('skills: [pdf, "git-*"]\ndisabledSkills: pdf')).toEqual({ names: ['git-push'], told: [] })
  })

  test('missing ones are reported where they are named', async () => {
    expect(await chosen('skills: [pdf, pfd, broken]')).toEqual({
      names: ['pdf'],
      told: [
        ['a.ai:6:15', 'there is no skill `pfd`', 'Did you mean "pdf"? Available: git-push, pdf.'],
        ['a.ai:6:20', expect.stringContaining('the skill `broken` cannot be used'), expect.any(String)],
      ],
    })
  })
})
