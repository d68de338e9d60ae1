import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { contentHash, type TrustRecords } from '../../src/project/config/trust/trust-records.ts'
import { findAgentPaths, SearchBudget, searchBounds } from '../../src/project/registry/find-agent-paths.ts'
import { troupe } from './command.ts'
import { agentsOf, child, type Folder, folder, problemsOf } from './folder.ts'

/** A person's word for a file as it is now. */
function trustIn(...paths: readonly string[]): TrustRecords {
  return new Map(paths.map((path) => [path, { path, sha256: contentHash(readFileSync(path)), by: 'person', at: 0 }]))
}

const namesOf = async (project: Folder, trusted: TrustRecords = new Map()) =>
  agentsOf(await project.load([], { scope: 'everything', trusted })).map(({ definition }) => definition.name)

describe('the agents of an untrusted project', () => {
  const outside = folder({ 'secret.ai': child(), 'deep/other.ai': child() })

  test.each([
    ['a path upwards', ['../*/secret.ai', './in.ai']],
    ['a folder upwards', ['..']],
    ['an absolute path', [join(outside.path, 'secret.ai')]],
    ['a glob from the root', ['/**/*.ai']],
    ['a way down and up again', ['./lib/../../**/*.ai']],
  ])('are not looked for outside of it: %s', async (_name, agents) => {
    const project = folder({ 'in.ai': child(), 'lib/x.ai': child(), '.ai-agent.json': { agents } })
    const registry = await project.load([], { scope: 'everything' })
    expect(agentsOf(registry)).toEqual([])
  })

  test('and that is reported, with the command to trust it', async () => {
    const project = folder({ 'in.ai': child().replace('a/b', 'auto'), '.ai-agent.json': { agents: ['../*.ai'] } })
    const { code, stdout, stderr } = await troupe(project.path, ['validate'])
    expect([code, stdout]).toEqual([0, '1 agent and the configuration are valid.\n'])
    expect(stderr).toContain('agents, which leave the folder')
    expect(stderr).toContain(`troupe trust ${join(project.path, '.ai-agent.json')}`)
  })

  test('are not found behind links that lead outside: a file, a folder, a folder on the way', async () => {
    const project = folder({ 'lib/x.ai': child(), '.ai-agent.json': { agents: ['./lib', './link', './way/deep/other.ai', './lib/*.ai'] } })
    symlinkSync(join(outside.path, 'secret.ai'), join(project.path, 'lib/secret.ai'))
    symlinkSync(outside.path, join(project.path, 'link'))
    symlinkSync(outside.path, join(project.path, 'way'))
    const registry = await project.load([], { scope: 'everything' })
    expect(agentsOf(registry).map(({ definition }) => definition.name)).toEqual(['x'])
    const left = registry.diagnostics.filter(({ code }) => code === 'agent_untrusted')
    expect(left.map(({ message }) => message.split(' ')[0])).toEqual(
      expect.arrayContaining(['secret.ai', 'deep/other.ai'].map((name) => join(outside.path, name))),
    )
    expect(left[0]?.remedy).toContain(`troupe trust ${join(project.path, '.ai-agent.json')}`)
  })

  test('are found wherever they are once it is trusted, links and all', async () => {
    const project = folder({ '.ai-agent.json': { agents: [join(outside.path, 'deep'), './lib/*.ai'] }, 'lib/x.ai': child() })
    symlinkSync(join(outside.path, 'secret.ai'), join(project.path, 'lib/secret.ai'))
    expect(await namesOf(project, trustIn(join(project.path, '.ai-agent.json')))).toEqual(['other', 'secret', 'x'])
  })
})

describe('a search for agents', () => {
  test('finds what a glob means', () => {
    const { path } = folder({
      'a.ai': '',
      'b/c.ai': '',
      'b/d/e.ai': '',
      'b/d/f.md': '',
      '.hidden/g.ai': '',
      'node_modules/h.ai': '',
      'b/node_modules/i.ai': '',
    })
    const found = (written: string) => findAgentPaths(join(path, written)).paths.map((each) => each.slice(path.length + 1))
    expect(found('*.ai')).toEqual(['a.ai'])
    expect(found('**/*.ai')).toEqual(['a.ai', 'b/c.ai', 'b/d/e.ai'])
    expect(found('b/**/e.*')).toEqual(['b/d/e.ai'])
    expect(found('*/d/[ef].{ai,md}')).toEqual(['b/d/e.ai', 'b/d/f.md'])
    expect(found('.hidden/?.ai')).toEqual(['.hidden/g.ai'])
    expect(found('none/*.ai')).toEqual([])
    expect(found('b')).toEqual(['b/c.ai', 'b/d/e.ai', 'b/d/f.md'])
  })

  test('gives up at its bounds, and says which', async () => {
    const deep = folder()
    mkdirSync(join(deep.path, ...Array.from({ length: searchBounds.depth + 1 }, () => 'x')), { recursive: true })
    expect(() => findAgentPaths(deep.path)).toThrow(`exceeds ${searchBounds.depth} levels of folders`)
    expect(() => findAgentPaths(join(deep.path, '**/*.ai'))).toThrow('levels of folders')
    // Further down than the pattern can lead nobody looks.
    expect(findAgentPaths(join(deep.path, '*/*.ai')).paths).toEqual([])

    const wide = folder()
    for (let index = 0; index < searchBounds.folders; index++) mkdirSync(join(wide.path, `x${index}`))
    expect(() => findAgentPaths(wide.path)).toThrow(`exceeds ${searchBounds.folders} folders`)

    const effort = new SearchBudget()
    for (let index = 0; index < searchBounds.files; index++) findAgentPaths('/none.ai', effort)
    expect(() => findAgentPaths('/none.ai', effort)).toThrow(`exceeds ${searchBounds.files} files`)

    wide.write({ '.ai-agent.json': { agents: ['./**/*.ai'] }, 'a.ai': child() })
    const { code, stderr } = await troupe(wide.path, ['validate'])
    expect(code).toBe(2)
    expect(stderr).toContain(`.ai-agent.json:1:11  The search for agents in ${wide.path} exceeds ${searchBounds.folders} folders`)
    expect(stderr).toContain('Name only folders with agents')
  })

  test.each([
    '{a,b}{c,d}.ai',
    '{1..99999999}.ai',
    `{${'a,'.repeat(40)}}`,
    '*a*a*a*a*a*a*a*a*b',
    '+(a|aa)+(a|aa)*.ai',
    `*/${'x'.repeat(1_000)}`,
  ])('refuses a pattern that could take for ever: %s', (pattern) => {
    expect(() => findAgentPaths(join('/project', pattern))).toThrow('is too much')
  })
})

describe('the schema file of an agent', () => {
  const schema = '{ "type": "object" }'
  const agent = (path: string): string => child(`input: { schemaRef: ${path} }`)
  const elsewhere = folder({ 'out.json': schema, 'letter.txt': 'Dear Ann,\nthe word is sesame: open\n\tbye' })

  test.each([
    ['upwards', 'lib/a.ai', '../../out.json'],
    ['by its whole path', 'a.ai', join(elsewhere.path, 'out.json')],
    ['above the agent, where there is no project', 'lib/a.ai', '../in.json'],
  ])('lies in its project, unless the agent is trusted: %s', async (_name, file, path) => {
    const project = folder({ [file]: agent(path), 'in.json': schema })
    expect(problemsOf(await project.load(file))).toEqual([expect.stringContaining(`the schema \`${path}\` cannot be read: it is outside`)])
    const trusted = await project.load(file, { trusted: trustIn(join(project.path, file)) })
    expect(trusted.ok ? [] : problemsOf(trusted)).not.toContainEqual(expect.stringContaining('lies outside'))
  })

  test('may lie anywhere in a project, and outside of it where the agent itself is trusted, not the project alone', async () => {
    const project = folder({ 'lib/a.ai': agent('../in.json'), 'lib/b.ai': agent(join(elsewhere.path, 'out.json')), 'in.json': schema })
    project.write({ '.ai-agent.json': {} })
    expect((await project.load('lib/a.ai')).ok).toBe(true)
    expect((await project.load('lib/b.ai')).ok).toBe(false)
    expect((await project.load('lib/b.ai', { trusted: trustIn(join(project.path, '.ai-agent.json')) })).ok).toBe(false)
    expect((await project.load('lib/b.ai', { trusted: trustIn(join(project.path, 'lib/b.ai')) })).ok).toBe(true)
  })

  test('who names it on the command line has trusted it', async () => {
    const project = folder({ 'a.ai': child().replace('a/b', 'rehearsal') })
    const path = join(elsewhere.path, 'out.json')
    const { code, stdout } = await troupe(project.path, ['run', 'a.ai', 'Hi', '--dry-run', '--json', `--override=output.schemaRef=${path}`])
    expect([code, JSON.parse(stdout).output]).toEqual([0, { format: 'json', schema: { type: 'object' } }])
  })

  test('is not shown where it is no schema', async () => {
    const project = folder({
      'a.ai': agent('./letter.txt'),
      'b.ai': agent('./word.txt'),
      'letter.txt': 'Dear Ann,\nthe word is sesame: open\n\tbye: *nobody',
      'word.txt': 'sesame',
    })
    const { code, stderr, stdout } = await troupe(project.path, ['validate', '--json'])
    expect(code).toBe(2)
    expect(stderr).toContain('letter.txt:3:1  The file is neither JSON nor YAML (tab as indent)')
    expect(stderr).toContain('word.txt:1:1  A schema must be a map')
    expect(stderr + stdout).not.toMatch(/sesame|nobody/)
  })
})

describe('the script of an agent', () => {
  const script = 'steps:\n  - text: Hello from the script.\n'
  const agent = (path: string): string => child().replace('a/b', `[rehearsal, script/${path}]`)
  const elsewhere = folder({ 'out.yaml': script, 'letter.txt': 'steps: [sesame]' })

  test.each([
    ['upwards', 'lib/a.ai', '../../out.yaml'],
    ['by its whole path', 'a.ai', join(elsewhere.path, 'out.yaml')],
    ['above the agent, where there is no project', 'lib/a.ai', '../in.yaml'],
    ['of another program', '.opencode/agent/a.md', '../../in.yaml'],
  ])('lies in its project, unless the agent is trusted: %s', async (_name, file, path) => {
    const text = file.endsWith('.md') ? `---\ndescription: A test\nmodel: script/${path}\n---\nDo it.` : agent(path)
    const project = folder({ [file]: text, 'in.yaml': script })
    expect(problemsOf(await project.load(file))).toEqual([expect.stringContaining(`the script \`${path}\` cannot be read: it is outside`)])
    const trusted = await project.load(file, { trusted: trustIn(join(project.path, file)) })
    expect(trusted.ok ? [] : problemsOf(trusted)).toEqual([])
  })

  test('may lie anywhere in a project, and outside of it where the agent itself is trusted, not the project alone', async () => {
    const project = folder({ 'lib/a.ai': agent('../in.yaml'), 'lib/b.ai': agent(join(elsewhere.path, 'out.yaml')), 'in.yaml': script })
    project.write({ '.ai-agent.json': {} })
    expect((await project.load('lib/a.ai')).ok).toBe(true)
    expect((await project.load('lib/b.ai')).ok).toBe(false)
    expect((await project.load('lib/b.ai', { trusted: trustIn(join(project.path, '.ai-agent.json')) })).ok).toBe(false)
    expect((await project.load('lib/b.ai', { trusted: trustIn(join(project.path, 'lib/b.ai')) })).ok).toBe(true)
  })

  test('belongs to the file that names it, also if that is of another program', async () => {
    const project = folder({
      'a.ai': child('agents: [./.opencode/agent/b.md]').replace('a/b', 'rehearsal'),
      '.opencode/agent/b.md': '---\ndescription: A test\nmodel: script/in.yaml\n---\nDo it.',
    })
    const models = agentsOf(await project.load('a.ai')).map(({ definition }) => definition.models)
    expect(models).toEqual([['rehearsal'], [`script/${join(project.path, '.opencode/agent/in.yaml')}`]])
  })

  test('is not looked into where it must not be read, and not shown where it is none', async () => {
    const { path } = folder({
      'a.ai': agent(join(elsewhere.path, 'letter.txt')),
      'b.ai': agent('./letter.txt'),
      'letter.txt': 'Dear Ann,\nthe word is sesame: open',
    })
    const { code, stderr, stdout } = await troupe(path, ['validate', '--json'])
    expect(code).toBe(2)
    expect(stderr).toContain('a.ai:4:21  The script')
    expect(stderr).toContain('letter.txt:1:1  A script must have `steps`')
    expect(stderr + stdout).not.toContain('sesame')
  })
})

describe('a configuration that is named by hand', () => {
  const schema = '{ "type": "object" }'
  const agent = child('input: { schemaRef: ../../auth.json }').replace('a/b', 'rehearsal')
  const home = folder({ 'auth.json': schema, 'mine.json': {}, 'src/clone/a.ai': agent })

  test('says nothing of the folders below it', async () => {
    const { code, stderr } = await troupe(join(home.path, 'src/clone'), ['validate', 'a.ai', '--config', join(home.path, 'mine.json')])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`it is outside ${join(home.path, 'src/clone')}`)])
    expect(stderr).toContain(`troupe trust ${join(home.path, 'src/clone/a.ai')}`)
  })

  test('is that of the project all the same, if it is the one that would be found', async () => {
    const project = folder({ 'in.json': schema, '.ai-agent.json': {}, 'lib/a.ai': agent.replace('../../auth', '../in') })
    const { code } = await troupe(project.path, ['validate', 'lib/a.ai', '--config', '.ai-agent.json'], { HOME: home.path })
    expect(code).toBe(0)
  })
})

describe('an agent that another one names by its path', () => {
  const boss = (path: string): string => child(`agents: [${path}]`)
  const elsewhere = folder({ '.claude/agents/private.md': '---\nname: private\ndescription: Mine\n---\nA word of mine.' })
  const path = join(elsewhere.path, '.claude/agents/private.md')

  test.each([
    ['upwards', 'lib/a.ai', '../b.ai'],
    ['by its whole path', 'a.ai', path],
  ])('is in the project, unless the file that names it is trusted: %s', async (_name, file, written) => {
    const project = folder({ [file]: boss(written), 'b.ai': child() })
    expect(problemsOf(await project.load(file))).toEqual([
      expect.stringContaining(`the agent \`${written}\` cannot be read: it is outside`),
    ])
    const trusted = await project.load(file, { trusted: trustIn(join(project.path, file)) })
    expect(trusted.ok ? [] : problemsOf(trusted)).toEqual([])
  })

  test('may lie anywhere in a project', async () => {
    const project = folder({ 'lib/a.ai': boss('../b.ai'), 'b.ai': child(), '.ai-agent.json': {} })
    expect((await project.load('lib/a.ai')).ok).toBe(true)
  })
})

describe('a link that leads out of the project', () => {
  const elsewhere = folder({ 'out.json': '{ "type": "object" }', 'out.yaml': 'steps:\n  - text: Hello.\n', 'out.ai': child() })

  test.each([
    ['schema', 'out.json', child('input: { schemaRef: ./KEPT/out.json }')],
    ['script', 'out.yaml', child().replace('a/b', '[rehearsal, script/KEPT/out.yaml]')],
    ['agent', 'out.ai', child('agents: [./KEPT/out.ai]')],
  ])('is not followed from inside, be the agent trusted or not: %s', async (kind, file, text) => {
    const project = folder({
      'lib/a.ai': text.replace('KEPT', 'kept'),
      'lib/b.ai': text.replace('./KEPT', elsewhere.path).replace('KEPT', elsewhere.path),
    })
    const link = join(project.path, 'lib/kept')
    const load = async (name: string) => await project.load(name, { trusted: trustIn(join(project.path, name)) })
    const said = expect.stringMatching(
      new RegExp(`the ${kind} .* cannot be read: it is outside ${project.path}/lib, over the link ${link}`),
    )
    symlinkSync(elsewhere.path, link)
    expect(problemsOf(await project.load('lib/a.ai'))).toEqual([said])
    expect(problemsOf(await load('lib/a.ai'))).toEqual([said])
    // Written outright it is what was trusted.
    expect(agentsOf(await load('lib/b.ai')).length).toBeGreaterThan(0)
    rmSync(link)
    // One that is a dangling link may lead anywhere soon.
    symlinkSync(join(elsewhere.path, 'none'), link)
    expect(problemsOf(await load('lib/a.ai'))).toEqual([said])
    rmSync(link)
    project.write({ [`lib/real/${file}`]: readFileSync(join(elsewhere.path, file)) })
    symlinkSync('real', link)
    expect(agentsOf(await load('lib/a.ai')).length).toBeGreaterThan(0)
  })

  test('and a file instead of a folder is reported as such', async () => {
    const project = folder({ 'a.ai': child('input: { schemaRef: ./b.txt/c.json }'), 'b.txt': 'x' })
    expect(problemsOf(await project.load('a.ai'))).toEqual([expect.stringContaining('the schema `./b.txt/c.json` cannot be read: ')])
  })
})
