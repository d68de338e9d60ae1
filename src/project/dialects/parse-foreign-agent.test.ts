// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what prompts must keep
import { describe, expect, test } from 'vitest'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import type { Dialect, ForeignAgent } from './foreign-agent.ts'
import { foreignRules, grantedTools } from './granted-tools.ts'
import { parseForeignAgent } from './parse-foreign-agent.ts'

const markdown = (settings: string, prompt = 'Do it.'): string => `---\ndescription: Does it\n${settings}\n---\n${prompt}\n`
const read = (settings: string, dialect: Dialect = 'claude'): ForeignAgent => parseForeignAgent(markdown(settings), 'agents/it.md', dialect)
const messages = ({ warnings }: ForeignAgent): readonly string[] => warnings.map(({ message }) => message)

function problemsOf(content: string | Uint8Array, dialect: Dialect = 'claude', place = 'it.md'): readonly Problem[] {
  try {
    parseForeignAgent(content, place, dialect)
  } catch (error) {
    if (error instanceof TroupeError && error.code === 'agent_file_invalid') return error.problems
    throw error
  }
  return expect.unreachable('the file is taken as right')
}

describe('tools', () => {
  test.each<Dialect>(['claude', 'copilot', 'opencode', 'gemini'])('left out are all of them: %s', (dialect) => {
    expect(read('name: it', dialect)).toMatchObject({ tools: { kind: 'all' }, deniedTools: [], askTools: [] })
  })
  test.each<[settings: string, expected: ForeignAgent['tools']]>([
    ['tools: []', { kind: 'only', names: [] }],
    ['tools: ["*"]', { kind: 'all' }],
    ['tools: "*"', { kind: 'all' }],
    ['tools: read, Search', { kind: 'only', names: ['read_file', 'search_files', 'list_files'] }],
    ['tools: [BASH, powershell, Write]', { kind: 'only', names: ['shell', 'write_file', 'edit_file', 'apply_patch'] }],
    ['tools: [agent, todo, web]', { kind: 'only', names: ['agent__*', 'update_plan', 'web_fetch'] }],
    ['tools: [some-mcp-server/*, some-mcp-server/some-tool]', { kind: 'only', names: ['some-mcp-server/*', 'some-mcp-server/some-tool'] }],
  ])('of Copilot: %s', (settings, tools) => {
    expect(read(settings, 'copilot')).toMatchObject({ tools, warnings: settings.includes('mcp') ? [] : [] })
  })
  test.each<[settings: string, expected: readonly string[]]>([
    ['tools: mcp__github__create_issue, mcp__files, mcp__a__*, mcp__*', ['github/create_issue', 'files/*', 'a/*', '*/*']],
    ['tools: Task, LS, MultiEdit, TodoWrite', ['agent__*', 'list_files', 'edit_file', 'update_plan']],
    ['tools: "Agent(a, b), Bash(*)"', ['agent__a', 'agent__b', 'shell']],
  ])('of Claude: %s', (settings, names) => {
    expect(read(`name: it\n${settings}`)).toMatchObject({
      tools: { kind: 'only', names },
      warnings: settings.includes('mcp') ? [] : [],
    })
  })
  test('patterns of Gemini', () => {
    expect(read('name: it\ntools: [mcp_*, mcp_x_*, replace, glob, run_shell_command]', 'gemini')).toMatchObject({
      tools: { kind: 'only', names: ['*/*', 'x/*', 'edit_file', 'list_files', 'shell'] },
      warnings: [],
    })
    expect(read('name: it\ntools: ["*"]', 'gemini').tools).toEqual({ kind: 'all' })
  })
  test('with an empty value are none, and that is reported', () => {
    expect(read('name: it\ntools:')).toMatchObject({
      tools: { kind: 'only', names: [] },
      warnings: [{ place: 'agents/it.md:4:1', message: '`tools` is empty, so the agent has no tools', line: 'tools:' }],
    })
  })
  test('that are not known are left out by name, with the nearest', () => {
    expect(read('name: it\ntools: Raed, Grep')).toMatchObject({
      tools: { kind: 'only', names: ['search_files'] },
      warnings: [{ message: '"Raed" is left out: there is no such tool', remedy: 'Did you mean `Read`?' }],
    })
  })
  test('denied in part are denied whole, allowed in part are left out', () => {
    const agent = read('name: it\ntools: Read, Edit(src/*)\ndisallowedTools: [Bash(rm *), Agent(a), Nonsense]')
    expect(agent).toMatchObject({ tools: { kind: 'only', names: ['read_file'] }, deniedTools: ['shell', 'agent__a'] })
    expect(messages(agent)).toEqual([
      '"Edit(src/*)" is left out: a part of a tool cannot be granted here',
      '"Bash(rm *)" denies the whole tool here',
      '"Nonsense" denies nothing: there is no such tool',
    ])
  })
  const readers = ['read_file', 'list_files', 'search_files', 'web_fetch', 'update_plan']
  test.each<[denied: string, left: readonly string[]]>([
    ['Write', ['edit_file', 'shell', ...readers]],
    ['Edit', ['write_file', 'shell', ...readers]],
    ['multiedit', ['write_file', 'shell', ...readers]],
    ['Write(src/**)', ['edit_file', 'shell', ...readers]],
    ['Write, Edit, MultiEdit, Bash', readers],
    ['PowerShell', ['write_file', 'edit_file', 'apply_patch', ...readers]],
    ['"*"', []],
  ])('who may not %s has no patch that does it', (denied, left) => {
    const known = ['write_file', 'edit_file', 'apply_patch', 'shell', ...readers]
    for (const tools of ['', 'tools: "*"\n']) {
      const agent = read(`name: it\n${tools}disallowedTools: ${denied}`)
      expect(grantedTools(agent, known)).toEqual(known.filter((name) => left.includes(name)))
    }
  })
  test('who may not edit notebooks changes none, and other files all the same', () => {
    const agent = read('name: it\ndisallowedTools: NotebookEdit')
    const known = ['write_file', 'edit_file', 'apply_patch']
    expect(grantedTools(agent, known)).toEqual(known)
    expect(foreignRules(agent)).toEqual([
      {
        deny: ['write_file(*.ipynb)', 'edit_file(*.ipynb)', 'apply_patch(*.ipynb)'],
        reason: 'The agent file denies it.',
      },
    ])
    expect(agent.warnings).toEqual([])
  })
  test('no more is granted than before', () => {
    expect(read('name: it\ntools: Write, Edit, NotebookEdit').tools).toEqual({ kind: 'only', names: ['write_file', 'edit_file'] })
    expect(read('name: it\ntools: [write_file, replace]', 'gemini').tools).toEqual({ kind: 'only', names: ['write_file', 'edit_file'] })
    expect(read('name: it\ntools: [edit/createFile]', 'copilot').tools).toEqual({ kind: 'only', names: ['write_file'] })
  })
  test('a plan changes nothing', () => {
    expect(read('name: it\npermissionMode: plan').deniedTools).toEqual(['write_file', 'edit_file', 'apply_patch', 'shell'])
  })
})

describe('models', () => {
  test.each<[written: string, expected: readonly string[] | undefined, trustWarning: boolean]>([
    ['sonnet', ['anthropic/claude-sonnet-5'], false],
    ['Opus', ['anthropic/claude-opus-5-5'], false],
    ['haiku', ['anthropic/claude-haiku-4-5'], false],
    ['inherit', undefined, false],
    ['"sonnet[1m]"', ['anthropic/claude-sonnet-5'], true],
    ['claude-opus-4-6', ['anthropic/claude-opus-4-6'], false],
    ['GPT-5 mini (copilot)', ['openai/gpt-5-mini'], false],
    ['Gemini 2.5 Pro', ['google/gemini-2.5-pro'], false],
    ['openrouter/meta/llama-4', ['openrouter/meta/llama-4'], false],
    ['Raptor mini (Preview)', ['Raptor-mini'], true],
    ['toString', ['toString'], true],
  ])('%s', (written, expected, trustWarning) => {
    const agent = read(`name: it\nmodel: ${written}`)
    expect(agent.models).toEqual(expected)
    expect(agent.warnings).toHaveLength(trustWarning ? 1 : 0)
  })
})

describe('invalid YAML', () => {
  test.each<[line: string, description: string]>([
    ['description: Use when: asked', 'Use when: asked'],
    ["description: It's for: you", "It's for: you"],
    ['description: [draft] does it', '[draft] does it'],
    ['description: *very* good: yes', '*very* good: yes'],
    ['description: @you: ask', '@you: ask'],
    ['description: "Quoted" and: not', '"Quoted" and: not'],
    ['description: Use when: a\n  and when: b', 'Use when: a and when: b'],
  ])('%s', (line, description) => {
    const agent = parseForeignAgent(`---\nname: it\n${line}\nmaxTurns: 3\n---\nDo it.`, 'it.md', 'claude')
    expect(agent).toMatchObject({
      description,
      maxToolTurns: 3,
      warnings: [{ place: 'it.md:3:1', message: '`description` is not valid YAML and is read as quoted text', line: line.split('\n')[0] }],
    })
  })
  test.each(['tools: [Read', 'disallowedTools: [Bash', 'tools: @Read', 'model: {'])('outside prose stays invalid: %s', (line) => {
    const [problem] = problemsOf(`---\nname: it\ndescription: Use when: x\n${line}\n---\nDo it.`)
    expect(problem?.message).toContain('not valid YAML')
  })
})

describe('keys', () => {
  test('that are unknown are warned about, with the nearest, and never fail', () => {
    expect(read('name: it\ntols: Read\n__proto__: 1\nconstructor: 2')).toMatchObject({
      tools: { kind: 'all' },
      warnings: [
        { place: 'agents/it.md:4:1', message: 'unknown key `tols`: it has no effect', remedy: 'Did you mean `tools`?' },
        { message: 'unknown key `__proto__`: it has no effect' },
        { message: 'unknown key `constructor`: it has no effect' },
      ],
    })
  })
  test('that are unknown and many', () => {
    const { warnings } = read(`name: it\n${Array.from({ length: 40 }, (_, index) => `k${index}: 1`).join('\n')}`)
    expect([warnings.length, warnings.at(-1)?.message]).toEqual([26, '15 more warnings about this file'])
  })
  test('that ask for nothing are not warned about', () => {
    expect(read('name: it\nbackground: false\npermissionMode: default').warnings).toEqual([])
    expect(read('user-invocable: true', 'copilot').warnings).toEqual([])
  })
  test('of which the later table row applies', () => {
    expect(read('disable-model-invocation: false\ninfer: false', 'copilot').infer).toBe(true)
    expect(read('infer: false', 'copilot').infer).toBe(false)
    expect(read('mode: primary', 'opencode').infer).toBe(false)
    expect(read('disable: true', 'opencode').enabled).toBe(false)
    expect(read('agents: ["*"]', 'copilot').agents).toBeUndefined()
    expect(read('agents: []', 'copilot').agents).toEqual([])
  })
  test.each<[dialect: Dialect, setting: string]>([
    ['claude', 'tools: 5'],
    ['claude', 'tools: [Read, 5]'],
    ['claude', 'tools: { Read: true }'],
    ['claude', 'disallowedTools: { Read: true }'],
    ['claude', 'model: []'],
    ['claude', 'model: 5'],
    ['claude', 'maxTurns: many'],
    ['claude', 'maxTurns: 0'],
    ['claude', 'maxTurns: 1.5'],
    ['claude', 'effort: very'],
    ['claude', 'permissionMode: wild'],
    ['claude', 'mcpServers: yes please'],
    ['claude', 'mcpServers: [5]'],
    ['claude', 'skills: 5'],
    ['copilot', 'infer: maybe'],
    ['copilot', 'mcp-servers: { a: b }'],
    ['opencode', 'temperature: hot'],
    ['opencode', 'temperature: 3'],
    ['opencode', 'top_p: -1'],
    ['opencode', 'tools: [write]'],
    ['opencode', 'permission: { edit: never }'],
    ['opencode', 'permission: maybe'],
    ['opencode', 'mode: other'],
    ['gemini', 'timeout_mins: 0'],
    ['gemini', 'timeout_mins: .nan'],
    ['gemini', 'kind: remote'],
  ])('with a value that they cannot have fail at their place: %s %s', (dialect, setting) => {
    const column = setting.indexOf(': ') + 3
    expect(problemsOf(markdown(setting), dialect)).toMatchObject([{ place: `it.md:3:${column}`, line: setting }])
  })
})

describe('the file', () => {
  const plain = markdown('name: it\ntools: Read')
  test.each([
    ['a byte order mark', `\uFEFF${plain}`],
    ['CRLF', plain.replaceAll('\n', '\r\n')],
    ['CR', plain.replaceAll('\n', '\r')],
    ['empty lines before', `\n\n${plain}`],
    ['spaces behind the fences', plain.replaceAll('---\n', '---  \n')],
    ['bytes', new TextEncoder().encode(plain)],
  ])('may have %s', (_, content) => {
    expect(parseForeignAgent(content, 'it.md', 'claude')).toMatchObject({ name: 'it', prompt: 'Do it.', warnings: [] })
  })

  const wrong: readonly (readonly [what: string, content: string | Uint8Array, place: string, message: string])[] = [
    ['nothing', '', 'it.md:1:1', 'the file must begin with settings'],
    ['no settings', '\n# It\n\nDo it.', 'it.md:2:1', 'the file must begin with settings'],
    ['settings that do not end', '---\nname: it\n', 'it.md:1:1', 'have no end'],
    ['no description', '---\nname: it\n---\nDo it.', 'it.md:1:1', '`description` is missing'],
    ['an empty description', '---\nname: it\ndescription: " "\n---\nDo it.', 'it.md:3:14', '`description` must be text'],
    ['no prompt', '---\nname: it\ndescription: It\n---\n\n', 'it.md:4:1', 'the prompt is empty'],
    ['tabs', '---\nname: it\ndescription: It\nskills:\n\t- a\n---\nDo it.', 'it.md:5:1', 'not valid YAML'],
    ['a key twice', '---\nname: it\nname: other\ndescription: It\n---\nDo it.', 'it.md:3:1', 'not valid YAML: Map keys must be unique'],
    ['an alias', '---\nname: &a it\ndescription: *a\n---\nDo it.', 'it.md:2:10', 'anchor'],
    ['a list for settings', '---\n- kind: remote\n---\nDo it.', 'it.md:2:1', 'lines of `key: value`'],
    ['no text', Uint8Array.from([45, 0, 45]), 'it.md:1:2', 'binary'],
    ['no UTF-8', Uint8Array.from([45, 0xff]), 'it.md:1:2', 'not UTF-8'],
    ['a name that nothing is left of', '---\nname: "日本"\ndescription: It\n---\nDo it.', 'it.md:2:7', 'no valid name'],
  ]
  for (const [what, content, place, message] of wrong) {
    test(`may not have ${what}`, () => {
      expect(problemsOf(content)[0]).toMatchObject({ place, message: expect.stringContaining(message) })
    })
  }

  test('reports all problems together', () => {
    expect(problemsOf('---\nmaxTurns: 0\neffort: none at all\ntools: 5\n---\n').map(({ place }) => place)).toEqual([
      'it.md:1:1',
      'it.md:2:11',
      'it.md:3:9',
      'it.md:4:8',
      'it.md:5:1',
    ])
  })

  test('gives its name where none is written', () => {
    expect(parseForeignAgent(markdown('color: red'), 'a/Code Review.md', 'claude')).toMatchObject({
      name: 'Code-Review',
      warnings: [{ message: '`name` is missing; the agent is named `Code-Review`, after its file' }],
    })
    expect(parseForeignAgent(markdown('name: Größe 2'), 'a/b.md', 'claude')).toMatchObject({
      name: 'Gro-e-2',
      warnings: [{ place: 'a/b.md:3:7', message: 'the agent is named `Gro-e-2` here' }],
    })
  })

  test('keeps its prompt as it is, because others have no templates', () => {
    const prompt = '{{ agent.name }} {% include "x" %} ${HOME} $ARGUMENTS'
    expect(parseForeignAgent(markdown('name: it', prompt), 'it.md', 'claude').prompt).toBe(prompt)
  })
})

describe('TOML', () => {
  const wrong: readonly (readonly [content: string, place: string, message: string])[] = [
    ['name = "it"\ndescription = \n', 'it.toml:2:15', 'not valid TOML'],
    ['name = "it"\nname = "other"', 'it.toml:2:1', 'not valid TOML'],
    [`a = ${'['.repeat(5000)}`, 'it.toml:1:', 'not valid TOML'],
    ['name = "it"\ndescription = "It"', 'it.toml:1:1', '`developer_instructions` is missing'],
    ['name = "it"\ndescription = 5\ndeveloper_instructions = "x"', 'it.toml:2:1', '`description` must be text'],
    ['name = "it"\ndescription = "It"\ndeveloper_instructions = ""', 'it.toml:3:1', '`developer_instructions` must be text'],
    ['name = true\ndescription = "It"\ndeveloper_instructions = "x"', 'it.toml:1:1', '`name` must be text'],
  ]
  for (const [content, place, message] of wrong) {
    test(content.slice(0, 60), () => {
      const [problem] = problemsOf(content, 'codex', 'it.toml')
      expect(problem?.place.startsWith(place) && problem.message.includes(message) && problem.line !== undefined).toBe(true)
    })
  }
  test('with a byte order mark and CRLF', () => {
    const content = '\uFEFFname = "it"\r\ndescription = "It"\r\ndeveloper_instructions = "x"\r\n'
    expect(parseForeignAgent(content, 'it.toml', 'codex')).toMatchObject({ name: 'it', prompt: 'x', warnings: [] })
  })
})
