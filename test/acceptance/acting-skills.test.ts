import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { findProjectRoot, findSkills, selectSkills, userSkillDirectories } from '../../src/tools.ts'
import { actor, agentFiles, answer, type Files, type Ground, ground, journalFolder, lay, told, troupe, yes } from './acting-support.ts'
import { documentOf } from './command.ts'
import { agent, bounded, finish, requestText, resultsIn } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const skill = (name: string, body = 'Do it.', more = ''): string => `---\nname: ${name}\ndescription: Knows ${name}\n${more}---\n${body}\n`
const found = ({ workspace, home }: Ground, disabled: readonly string[] = []) =>
  findSkills({
    workingDirectory: workspace,
    projectRoot: findProjectRoot(workspace),
    userDirectories: userSkillDirectories(home),
    disabled,
  })
const load = (name: string) => ({ calls: [{ tool: 'load_skill', input: { name } }] })

/** Everything that can be wrong with skills, around one that is right. */
const mess = (): Ground => {
  const place = ground({
    '.agents/skills/right/SKILL.md': skill('right', 'The right way.'),
    '.agents/skills/twice-a/SKILL.md': skill('twice', 'First.'),
    '.agents/skills/twice-b/SKILL.md': skill('twice', 'Second.'),
    '.agents/skills/near/SKILL.md': skill('near', 'Near.'),
    '.agents/skills/no-frontmatter/SKILL.md': 'Just words.\n',
    '.agents/skills/half/SKILL.md': '---\nname: half\n  description: x: y\n\t- z\n---\n',
    '.agents/skills/nameless/SKILL.md': '---\nname: "../../etc"\ndescription: x\n---\n',
    '.agents/skills/wordless/SKILL.md': '---\nname: wordless\n---\nBody.\n',
    '.agents/skills/binary/SKILL.md': new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe, 0x00]),
    '.agents/skills/huge/SKILL.md': skill('huge', 'x'.repeat(8_000_000)),
    '.agents/skills/bomb/SKILL.md': `---\nname: bomb\ndescription: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]\n---\n`,
    '.agents/skills/bad-toml/SKILL.md': skill('bad-toml'),
    '.agents/skills/bad-toml/SKILL.toml': 'display_name = [',
  })
  lay(place.home, { '.agents/skills/near/SKILL.md': skill('near', 'Far.') })
  symlinkSync('..', place.at('.agents/skills/circle'))
  symlinkSync('self', place.at('.agents/skills/self'))
  symlinkSync('/etc', place.at('.agents/skills/outside'))
  return place
}

describe('skills', () => {
  test('malformed, huge, cyclic, shadowed, duplicated ones: each is reported with its place, the others load', async () => {
    const place = mess()
    const { skills, shadowed, problems } = found(place)
    // What is wrong with a SKILL.toml costs no skill.
    expect(skills.map(({ name }) => name)).toEqual(['bad-toml', 'near', 'right', 'twice'])
    for (const name of ['no-frontmatter', 'half', 'nameless', 'wordless', 'binary', 'huge', 'bomb', 'bad-toml'])
      expect(problems.map((problem) => problem.place).join('\n')).toContain(`/${name}/`)
    expect(shadowed.map(({ card, kind }) => `${card.name} ${kind}`).toSorted()).toEqual(['near shadowed', 'twice duplicate'])
    expect(JSON.stringify(skills)).not.toMatch(/\/etc\//)

    const ended = await troupe(place, ['skills', 'list', '--json']).ended
    const listed = JSON.parse(ended.stdout)
    expect([ended.code, listed.skills.map(({ name }: { name: string }) => name)]).toEqual([0, skills.map(({ name }) => name)])
    expect(listed.problems).toHaveLength(problems.length)
  })

  test('are listed by name, loaded on demand with the nearest text, stored with their hashes; an unknown one lists those available', async () => {
    const place = mess()
    const { skills } = selectSkills(found(place), ['near', 'right'])
    const made = actor({ ground: place, config: { skills }, steps: [load('near'), load('nothing'), load('../../etc'), { text: 'Done.' }] })
    const outcome = await bounded(made.runtime.run('go'), 'the run', 50_000)
    expect(outcome.status).toBe('completed')
    const first = requestText(made.model.requests[0])
    expect(first).toContain('Knows near')
    expect(first).not.toContain('The right way.')
    const [near, nothing, path] = told(made)
    expect([near?.ok, near?.content]).toEqual([true, expect.stringContaining('Near.')])
    expect([nothing?.ok, nothing?.content]).toEqual([false, expect.stringMatching(/near[\s\S]*right/)])
    expect(path?.ok).toBe(false)
    expect(outcome.snapshot.skills).toEqual(skills.map(({ name, scope, path: at, hash }) => ({ id: name, scope, path: at, hash })))
  })

  test('an agent without any gets no list and no tool to load them', async () => {
    const place = mess()
    const made = actor({
      ground: place,
      config: { agents: [{ ...agent, skills: [] }], skills: found(place).skills },
      steps: [{ text: 'Done.' }],
    })
    await bounded(made.runtime.run('go'), 'the run', 50_000)
    const [request] = made.model.requests
    expect(request?.tools.map(({ name }) => name)).not.toContain('load_skill')
    expect(requestText(request)).not.toContain('Knows near')
  })

  test('a catalogue of a thousand stays within its share of the window', async () => {
    const files: Files = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [
        `.agents/skills/s${i}/SKILL.md`,
        skill(`skill-${i}`, 'x').replace('Knows', 'Knows a great deal about '.repeat(8)),
      ]),
    )
    const place = ground(files)
    const { skills } = found(place)
    expect(skills).toHaveLength(1000)
    const window = 100_000
    const sized = async (cards: typeof skills): Promise<number> => {
      const made = actor({ ground: place, config: { skills: cards }, steps: [{ text: 'Done.' }] })
      Object.assign(made.model, { contextTokens: window })
      await bounded(made.runtime.run('go'), 'the run', 50_000)
      return requestText(made.model.requests[0]).length
    }
    // Four characters for a token, and something for what is around them.
    expect((await sized(skills)) - (await sized(skills.slice(0, 1)))).toBeLessThan(window * 0.02 * 4 * 1.2)
  })

  test('`allowed-tools` widens nothing: not what is offered, not what is asked about', async () => {
    const place = ground({
      '.agents/skills/eager/SKILL.md': skill('eager', 'Write at once.', 'allowed-tools: Bash shell write_file web_fetch\n'),
    })
    const made = actor({
      ground: place,
      config: { agents: [{ ...agent, tools: ['write_file'] }], skills: found(place).skills },
      decide: () => 'suspend',
      steps: [
        load('eager'),
        { calls: [{ tool: 'shell', input: { command: 'touch made' } }] },
        { calls: [{ tool: 'write_file', input: { path: 'a', content: '' } }] },
      ],
    })
    expect(await bounded(made.runtime.run('go'), 'the run', 50_000)).toMatchObject({ status: 'suspended' })
    expect(made.asked.map(({ tool }) => tool)).toEqual(['write_file'])
    expect(told(made)[1]).toMatchObject({ name: 'shell', ok: false })
    expect(made.model.requests[1]?.tools.map(({ name }) => name)).not.toContain('shell')
  })
})

describe('skills of a session that continues', () => {
  test('are compared by their hashes: changed, missing or disabled ones are reported, and disabled ones stay disabled', async () => {
    const place = ground(
      Object.fromEntries(
        ['same', 'changed', 'gone', 'off'].map((name) => [`.agents/skills/${name}/SKILL.md`, skill(name, `Old ${name}.`)]),
      ),
    )
    const store = memoryStore()
    const question = { calls: [{ tool: 'ask_user', input: { question: 'Go on?' } }] }
    const first = actor({
      store,
      ground: place,
      config: { skills: found(place).skills },
      decide: () => 'suspend',
      steps: [load('off'), question],
    })
    const { sessionId: treeId, snapshot } = await bounded(first.runtime.run('go'), 'the run', 50_000)
    expect(snapshot.skills.map(({ id }) => id)).toEqual(['changed', 'gone', 'off', 'same'])
    await first.runtime.close()

    writeFileSync(place.at('.agents/skills/changed/SKILL.md'), skill('changed', 'New words.'))
    rmSync(place.at('.agents/skills/gone'), { recursive: true })
    const now = found(place, ['off'])
    const second = actor({
      store,
      ground: place,
      config: { skills: now.skills },
      decide: () => ({ kind: 'answer', text: 'yes' }),
      steps: [load('changed'), load('gone'), load('off'), load('same'), { text: 'Done.' }],
    })
    const outcome = await finish(await second.runtime.open(treeId))
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    const results = second.model.requests.slice(1).flatMap((request) => resultsIn(request))
    expect(results.map(({ ok }) => ok)).toEqual([true, false, false, true])
    expect(results[0]?.content).toContain('New words.')
    const said = outcome.diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n')
    expect(said).toMatch(/skill_changed .*changed/)
    expect(said).toMatch(/skill_missing .*gone/)
    expect(said).toMatch(/skill_missing .*off/)
    expect(said).not.toMatch(/`same`/)
  })

  test('the same on the command line, where the configuration has switched one off meanwhile', async () => {
    const place = ground({
      ...agentFiles('writer', 'skills: ["*"]\ntools: [write_file]', [
        { calls: [{ tool: 'write_file', input: { path: 'a.txt', content: 'a' } }] },
        {
          calls: [
            { tool: 'load_skill', input: { name: 'one' } },
            { tool: 'load_skill', input: { name: 'two' } },
          ],
        },
        { text: 'Done.' },
      ]),
      '.agents/skills/one/SKILL.md': skill('one'),
      '.agents/skills/two/SKILL.md': skill('two'),
      'off.json': JSON.stringify({ skills: { disabled: ['two'] } }),
    })
    const waiting = await troupe(place, ['run', 'writer.ai', 'Go', '--json', '-q']).ended
    const { sessionId, snapshot } = documentOf(waiting)
    expect([waiting.code, snapshot.skills.map(({ id }: { id: string }) => id)]).toEqual([6, ['one', 'two']])
    writeFileSync(join(place.workspace, '.agents/skills/one/SKILL.md'), skill('one', 'Other words.'))
    await answer(journalFolder(place), yes())
    const resumed = await troupe(place, ['run', 'writer.ai', '--resume', sessionId, '--json', '--config', 'off.json']).ended
    const document = documentOf(resumed)
    const codes = document.diagnostics.map(({ code }: { code: string }) => code)
    expect([resumed.code, codes.filter((code: string) => code.startsWith('skill'))]).toEqual([0, ['skill_changed', 'skill_missing']])
    const history = JSON.stringify(document.snapshot.history)
    expect(history).toContain('Other words.')
    expect(place.read('a.txt')).toBe('a')
    expect(resumed.stderr).toMatch(/skill_changed/)
  })
})

describe('an agent that names a skill that is not there', () => {
  test('exit 2, with what there is, or how it is broken; nothing is started', async () => {
    const place = mess()
    lay(place.workspace, agentFiles('writer', 'skills: [rigth, half]', [{ text: 'Done.' }]))
    const ended = await troupe(place, ['run', 'writer.ai', 'Go', '--json']).ended
    expect(ended.code).toBe(2)
    const said = JSON.stringify(documentOf(ended))
    expect(said).toMatch(/rigth[\s\S]*right/)
    expect(said).toMatch(/half/)
  })
})
