import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { optionValues } from '../../../test/fixtures/option-examples.ts'
import { childLimits, defaultLimits, type Problem, TroupeError } from '../../contracts/index.ts'
import { type AgentFileOptions, readAgentText } from '../agent-file/agent-file.ts'
import { agentTemplate, type TemplateAgent } from '../agent-file/agent-template.ts'
import { parseOverrides } from '../agent-file/overrides.ts'
import { type AgentOptionKey, agentOptionKeys, agentOptions } from './agent-options.ts'

const fileOf = (settings: string): string => `---\ndescription: x\nmodels: a/b\n${settings}\n---\nGo.`
const readFile = (): string => '{ "type": "object" }'
function parseAgentFile(content: string, place: string, options: AgentFileOptions = {}): TemplateAgent {
  const { agent, children, disabledSkills, enabled, metadata, values } = readAgentText(content, place, options)
  const mcpServers = values.get('mcpServers')?.value as TemplateAgent['mcpServers']
  return { ...agent, ...(mcpServers && { mcpServers }), agents: children.map(({ written }) => written), disabledSkills, enabled, metadata }
}

function problemsOf(work: () => unknown): readonly Problem[] {
  try {
    work()
  } catch (error) {
    if (error instanceof TroupeError) return error.problems
    throw error
  }
  return expect.unreachable('it is taken as right')
}
const told = (problems: readonly Problem[]): readonly string[] => problems.map(({ place, message }) => `${place} ${message}`)
const plain = parseAgentFile(fileOf(''), 'a.ai')

const cases = Object.entries(optionValues).flatMap(([key, list]) => list.map(([written, change]) => [key, written, change] as const))

describe('what each key may say', () => {
  test.each(cases)('%s: %s, in a file', (key, written, change) => {
    const [group = '', below] = key.split('.')
    const settings = below === undefined ? `${group}: ${written}` : `${group}:\n  ${below}: ${written}`
    const others = ['description: x', 'models: a/b'].filter((line) => !line.startsWith(`${group}:`))
    expect(parseAgentFile(`---\n${[...others, settings].join('\n')}\n---\nGo.`, 'a.ai', { readFile })).toEqual({ ...plain, ...change })
  })

  test.each(cases)('%s: %s, over a file', (key, written, change) => {
    const overrides = parseOverrides({ settings: [`${key}=${written}`] })
    expect(parseAgentFile(fileOf(''), 'a.ai', { readFile, overrides })).toEqual({ ...plain, ...change })
  })

  test('the examples of the reference are right', () => {
    const alone = ['output.schema', 'input.schema', 'parameters.timeout'] as const
    const others = agentOptionKeys.filter((key) => !alone.some((one) => one === key))
    const settings = others.map((key) => `${key}=${agentOptions[key].example}`)
    expect(parseOverrides({ settings }).size).toBe(others.length)
    for (const key of alone) expect(parseOverrides({ settings: [`${key}=${agentOptions[key].example}`] }).size).toBe(1)
  })

  test('the defaults of the reference are those of the runtime', () => {
    const keys = agentOptionKeys.filter((key) => key.startsWith('limits.'))
    const limitsBy = (defaultOf: (key: AgentOptionKey) => string | undefined) => {
      const settings = keys.flatMap((key) => (defaultOf(key) === undefined ? [] : [`${key}=${defaultOf(key)}`]))
      return parseAgentFile(fileOf(''), 'a.ai', { overrides: parseOverrides({ settings }) }).limits
    }
    const stated = (key: AgentOptionKey): string => agentOptions[key].default
    expect(limitsBy((key) => (/^none\b/.test(stated(key)) ? undefined : stated(key)))).toEqual(defaultLimits)
    expect(limitsBy((key) => /^none; (\S+) if another agent calls it$/.exec(stated(key))?.[1])).toEqual(childLimits)
  })
})

describe('an invalid value', () => {
  const wrong: readonly (readonly [settings: string, problem: string])[] = [
    ['parameters: { temperature: 3 }', '4:28 `parameters.temperature` must be a number from 0 to 2, not the number 3'],
    ['parameters: { temperature: .nan }', '4:28 `parameters.temperature` must be a number from 0 to 2, not the number NaN'],
    ['parameters: { topP: high }', '4:21 `parameters.topP` must be a number from 0 to 1, not "high"'],
    ['parameters: { seed: 1.5 }', '4:21 `parameters.seed` must be an integer, not the number 1.5'],
    ['parameters: { cache: yes }', '4:22 `parameters.cache` must be `true` or `false`, not "yes"'],
    [
      'parameters: { reasoning: hihg }',
      '4:26 `parameters.reasoning` must be one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, not "hihg"',
    ],
    ['parameters: { temprature: 1 }', '4:15 unknown key `parameters.temprature`'],
    ['parameters:', '4:1 `parameters` must be a map of settings, not nothing'],
    ['limits: 5', '4:1 `limits` must be a map of settings, not the number 5'],
    ['limits: { maxToolTurns: 0 }', '4:25 `limits.maxToolTurns` must be an integer of at least 1, not the number 0'],
    ['limits: { maxToolTurns: [1] }', '4:25 `limits.maxToolTurns` must be an integer of at least 1, not a list'],
    ['limits: { maxTokens: 1_000 }', '4:22 `limits.maxTokens` must be an integer of at least 1, not "1_000"'],
    ['limits: { llmTimeout: 30 s x }', '4:23 `limits.llmTimeout` must be a duration of at least 1ms, not "30 s x"'],
    ['limits: { llmTimeout: 0 }', '4:23 `limits.llmTimeout` must be a duration of at least 1ms, not the number 0'],
    ['limits: { llmTimeout: 0.5ms }', '4:23 `limits.llmTimeout` must be a duration of at least 1ms, not "0.5ms"'],
    ['limits: { maxOutputBytes: 100 }', '4:27 `limits.maxOutputBytes` must be a size of at least 512 bytes, not the number 100'],
    [
      'limits: { parallelToolCalls: 0 }',
      '4:30 `limits.parallelToolCalls` must be an integer of at least 1, `true` or `false`, not the number 0',
    ],
    ['output: json', '4:1 `output` must be a map of settings, not "json"'],
    ['output: { format: yaml }', '4:19 `output.format` must be one of `markdown`, `text`, `json`, not "yaml"'],
    ['output: { schema: 7 }', '4:19 `output.schema` must be a JSON Schema, written as a map, not the number 7'],
    ['output: { format: text, schema: { type: object } }', '4:19 a schema requires the format `json`, not `text`'],
    ['output: { schema: { type: objct } }', '4:27 `/type`: expected one of "array"'],
    ['output: { schema: { maximum: .inf } }', '4:30 Infinity is not a JSON value'],
    ['output: { schemaRef: "" }', '4:22 `output.schemaRef` must be the path of a file, not empty text'],
    ['output: { schemaRef: a.json }', '4:22 the schema `a.json` cannot be read here'],
    ['usage: [x]', '4:8 `usage` must be text, not a list'],
    ['usage: " "', '4:8 `usage` must be text, not empty text'],
    ['examples: One', '4:11 `examples` must be a list of 1 to 6 texts'],
    ['examples: []', '4:11 `examples` must be a list of 1 to 6 texts'],
    ['examples: [a, b, c, d, e, f, g]', '4:11 `examples` must be a list of 1 to 6 texts'],
    ['examples: [a, 7]', '4:15 `examples` must contain texts, not the number 7'],
    ['examples: [a, a]', '4:15 `examples` contains a text twice'],
    [`examples: [${'a'.repeat(301)}]`, '4:12 a text of `examples` has 301 characters; the maximum is 300'],
    ['toolName: a b', '4:11 `toolName` must be a name, not "a b"'],
    ['toolName: .a', '4:11 `toolName` must be a name, not ".a"'],
    ['toolName: 7', '4:11 `toolName` must be a name, not the number 7'],
    ['tools: { shell: true }', '4:8 a tool must be a name, not a map'],
    ['tools: [a, a]', '4:12 the tool `a` is listed twice'],
    ['tools: ["a b"]', '4:9 `a b` is not a valid tool name or pattern'],
    ['tools: ["*/x"]', '4:9 `*/x` is not a valid tool name or pattern'],
    ['tools: [a//b]', '4:9 `a//b` is not a valid tool name or pattern'],
    ['tools:', '4:7 a tool must be a name, not nothing'],
    ['agents: [1]', '4:10 an agent must be a name, not the number 1'],
    ['agents: [./a.ai, ./a.ai]', '4:18 the agent `./a.ai` is listed twice'],
    ['agents: { a: b }', '4:9 an agent must be a name, not a map'],
    ['enabled: yes', '4:10 `enabled` must be `true` or `false`, not "yes"'],
    ['metadata: x', '4:11 `metadata` must be a map, not "x"'],
    ['metadata: { a: .nan }', '4:16 NaN is not a JSON value'],
    ['input: { format: markdown }', '4:18 `input.format` must be one of `text`, `json`, not "markdown"'],
    ['input: { format: text, schema: { type: object } }', '4:18 a schema requires the format `json`, not `text`'],
    ['input: { schema: { type: array } }', '4:26 `/type`: '],
    ['input: { shema: {} }', '4:10 unknown key `input.shema`'],
    ['parameters: { timeout: soon }', '4:24 `parameters.timeout` must be a duration of at least 1ms, not "soon"'],
    ['parameters: { timeout: 5s }\nlimits: { llmTimeout: 5s }', '4:24 `parameters.timeout` and `limits.llmTimeout` are the same setting'],
    ['mcpServers: []', '4:13 `mcpServers` must be a map of MCP servers, not a list'],
    ['mcpServers: { a: { comand: x } }', '4:20 unknown key `comand` in `mcpServers.a`'],
    ['mcpServers: { agent: { command: x } }', '4:15 `agent` is not a valid name in `mcpServers`'],
    ['skills: [PDF]', '4:10 `PDF` is not a valid skill name or pattern'],
    ['skills: [a--b]', '4:10 `a--b` is not a valid skill name or pattern'],
    ['skills: [7]', '4:10 a skill must be a name, not the number 7'],
    ['skills: { pdf: true }', '4:9 a skill must be a name, not a map'],
    ['skill: [pdf]', '4:1 unknown key `skill`'],
    ['disabledSkills: [a, a]', '4:21 the skill `a` is listed twice'],
    ['approvals: []', '4:1 `approvals` must be a map of settings, not a list'],
    ['approvals: { rule: [] }', '4:14 unknown key `approvals.rule`'],
    ['approvals: { onUnavailable: deny }', '4:14 unknown key `approvals.onUnavailable`'],
    ['approvals: { rules: { deny: shell } }', '4:21 `approvals.rules` must be a list of rules, not a map'],
    ['approvals: { rules: [shell] }', '4:22 a rule must be a map, not "shell"'],
    ['approvals: { rules: [{}] }', '4:22 a rule needs one of `allow`, `ask`, `deny`'],
    ['approvals: { rules: [{ dney: shell, ask: a }] }', '4:24 unknown key `dney` in a rule'],
    ['approvals: { rules: [{ ask: a, deny: b }] }', '4:22 a rule has only one of `allow`, `ask`, `deny`'],
    ['approvals: { rules: [{ deny: }] }', '4:30 `deny` must be a pattern, not nothing'],
    ['approvals: { rules: [{ deny: [] }] }', '4:30 `deny` is an empty list'],
    ['approvals: { rules: [{ deny: [shell, 7] }] }', '4:38 `deny` must be a pattern, not the number 7'],
    ['approvals: { rules: [{ deny: "shell(rm" }] }', '4:30 `shell(rm` is not a valid rule pattern'],
    ['approvals: { rules: [{ deny: "rm *" }] }', '4:30 `rm *` is not a valid rule pattern'],
    ['approvals: { rules: [{ deny: shell, reason: [x] }] }', '4:45 the `reason` of a rule must be text, not a list'],
    ['sandbox: required', '4:1 `sandbox` must be a map of settings, not "required"'],
    ['sandbox: { mode: on }', '4:18 `sandbox.mode` must be one of `required`, `off`, not "on"'],
    ['sandbox: { mode: false }', '4:18 `sandbox.mode` must be one of `required`, `off`, not the boolean false'],
    ['sandbox: { host: [] }', '4:12 unknown key `sandbox.host`'],
    ['sandbox: { hosts: ["https://example.com"] }', '4:20 `https://example.com` is not a valid host'],
    ['sandbox: { hosts: ["example.com:443"] }', '4:20 `example.com:443` is not a valid host'],
    ['sandbox: { hosts: ["*"] }', '4:20 `*` is not a valid host'],
    ['sandbox: { hosts: ["api.*.com"] }', '4:20 `api.*.com` is not a valid host'],
    ['sandbox: { writable: [1] }', '4:23 a folder must be a name, not the number 1'],
    ['sandbox: { environment: [A=1] }', '4:26 `A=1` is not a valid variable name'],
    ['sandbox: { memory: much }', '4:20 `sandbox.memory` must be a size of at least 16MB, not "much"'],
    ['sandbox: { memory: 1MB }', '4:20 `sandbox.memory` must be a size of at least 16MB, not "1MB"'],
    ['sandbox: { processes: 0 }', '4:23 `sandbox.processes` must be an integer of at least 1, not the number 0'],
  ]
  test.each(wrong)('%s', (settings, problem) => {
    expect(told(problemsOf(() => parseAgentFile(fileOf(settings), 'a.ai')))).toEqual([expect.stringContaining(`a.ai:${problem}`)])
  })

  test('all problems of rules are reported together', () => {
    const settings = 'approvals:\n  rules:\n    - deny: "a b"\n      reson: x\n    - { allow: x, ask: [y, ""] }'
    expect(problemsOf(() => parseAgentFile(fileOf(settings), 'a.ai')).map(({ place, remedy }) => [place, remedy])).toEqual([
      ['a.ai:6:13', 'Name a tool, optionally with its use: `shell`, `shell(git *)`, `write_file(/srv/*)`.'],
      ['a.ai:7:7', 'Did you mean `reason`?'],
      ['a.ai:8:7', 'Write one rule for each; the last rule that matches applies.'],
      ['a.ai:8:28', 'Name a tool, optionally with its use: `shell`, `shell(git *)`, `write_file(/srv/*)`.'],
    ])
  })

  test('a schema is written out or in a file, not both', () => {
    const settings = 'input: { schema: { type: object }, schemaRef: a.json }'
    expect(told(problemsOf(() => parseAgentFile(fileOf(settings), 'a.ai', { readFile })))).toEqual([
      'a.ai:4:47 `input` has both `schema` and `schemaRef`',
    ])
  })

  test('a schema is pointed into, however deep', () => {
    const settings =
      'output:\n  schema:\n    type: object\n    properties:\n      city:\n        type: strng\n        minLenght: 1\n    required: [ciy]'
    expect(problemsOf(() => parseAgentFile(fileOf(settings), 'a.ai')).map(({ place, line }) => [place, line])).toEqual([
      ['a.ai:9:15', '        type: strng'],
      ['a.ai:10:20', '        minLenght: 1'],
      ['a.ai:11:16', '    required: [ciy]'],
    ])
  })

  test('a file with a schema is pointed into, too', () => {
    const options: AgentFileOptions = { readFile: () => '{\n  "type": "object",\n  "properties": { "a": { "type": "txt" } }\n}' }
    expect(problemsOf(() => parseAgentFile(fileOf('output: { schemaRef: s/out.json }'), 'a.ai', options))).toMatchObject([
      { place: 's/out.json:3:34', line: '  "properties": { "a": { "type": "txt" } }' },
    ])
  })

  test.each([
    ['', 's.json:1:1 a schema must be a map'],
    ['[1]', 's.json:1:1 a schema must be a map'],
    ['{ "type": ', 's.json:1:'],
    ['['.repeat(20_000), 's.json:1:'],
    ['x'.repeat(1_048_577), 's.json:1:1 the file is longer than 1048576 characters'],
  ])('a file that is no schema: %.20s', (text, problem) => {
    const [first] = told(problemsOf(() => parseAgentFile(fileOf('output: { schemaRef: s.json }'), 'a.ai', { readFile: () => text })))
    expect(first).toContain(problem)
  })

  test('a file that cannot be read', () => {
    const options: AgentFileOptions = {
      readFile: () => {
        throw new Error('the file does not exist')
      },
    }
    expect(told(problemsOf(() => parseAgentFile(fileOf('output: { schemaRef: s.json }'), 'a.ai', options)))).toEqual([
      'a.ai:4:22 the schema `s.json` cannot be read: the file does not exist',
    ])
    const overrides = parseOverrides({ settings: ['output.schemaRef=t.json'] })
    expect(told(problemsOf(() => parseAgentFile(fileOf(''), 'a.ai', { ...options, overrides })))).toEqual([
      '--override output.schemaRef the schema `t.json` cannot be read: the file does not exist',
    ])
  })
})

describe('over a file', () => {
  test('the later of two applies, model names are kept unchanged, a description needs no quotes', () => {
    const overrides = parseOverrides({
      settings: ['limits.maxRetries=1', 'limits.maxRetries=2', 'description=Plans: trips'],
      models: ['ollama/qwen3:8b', '*odd'],
    })
    expect(parseAgentFile(fileOf('limits: { maxRetries: 9, maxCalls: 3 }'), 'a.ai', { overrides })).toMatchObject({
      description: 'Plans: trips',
      models: ['ollama/qwen3:8b', '*odd'],
      limits: { maxRetries: 2, maxCalls: 3 },
    })
  })

  test('the output contract is replaced as a whole', () => {
    const file = fileOf('output: { format: json, schema: { type: object } }')
    const outputWith = (setting: string) =>
      parseAgentFile(file, 'a.ai', { readFile: () => 'type: array', overrides: parseOverrides({ settings: [setting] }) }).output
    expect(outputWith('output.format=text')).toEqual({ format: 'text' })
    expect(outputWith('output.format=json')).toEqual({ format: 'json' })
    expect(outputWith('output.schemaRef=a.yaml')).toEqual({ format: 'json', schema: { type: 'array' } })
  })

  test('a wrong value in the file is reported even if it is overridden', () => {
    const overrides = parseOverrides({ settings: ['limits.maxRetries=1', 'description=x'] })
    const file = '---\nmodels: a/b\nlimits: { maxRetries: x }\n---\nGo.'
    expect(told(problemsOf(() => parseAgentFile(file, 'a.ai', { overrides })))).toEqual([
      'a.ai:3:23 `limits.maxRetries` must be an integer of at least 0, not "x"',
    ])
  })

  test('all problems of flags are reported together, with the flag as the place', () => {
    const settings = [
      'limits.maxTurns=5',
      'limits=5',
      'limits.maxToolTurns',
      'limits.maxToolTurns=many',
      'limits.llmTimeout=',
      'parameters.temperature=[1',
      'output.schema={type: objct}',
      'output.schemaRef=a.json',
      'output.format=text',
      'models=c/d',
      '=5',
      'nonsense=5',
    ]
    expect(problemsOf(() => parseOverrides({ settings, models: ['a b'] }))).toMatchInlineSnapshot(`
      [
        {
          "message": "unknown key \`limits.maxTurns\`",
          "place": "--override limits.maxTurns",
          "remedy": "Did you mean \`limits.maxTokens\`, \`limits.maxCalls\`, \`limits.maxToolTurns\`?",
        },
        {
          "message": "unknown key \`limits\`",
          "place": "--override limits",
          "remedy": "Name one of its settings: \`limits.maxToolTurns\`, \`limits.maxTokens\`, \`limits.maxSessionTokens\`, \`limits.maxCostUsd\`, \`limits.maxCalls\`, \`limits.timeBudget\`, \`limits.llmTimeout\`, \`limits.idleTimeout\`, \`limits.replyTimeout\`, \`limits.toolTimeout\`, \`limits.maxRetries\`, \`limits.parallelToolCalls\`, \`limits.maxOutputBytes\`, \`limits.maxDepth\`, \`limits.maxChildren\`, \`limits.parallelChildren\`.",
        },
        {
          "message": "the value is missing",
          "place": "--override limits.maxToolTurns",
          "remedy": "Write --override limits.maxToolTurns=6.",
        },
        {
          "message": "\`limits.maxToolTurns\` must be an integer of at least 1, not "many"",
          "place": "--override limits.maxToolTurns",
          "remedy": "Write --override limits.maxToolTurns=6.",
        },
        {
          "message": "\`limits.llmTimeout\` must be a duration of at least 1ms, not nothing",
          "place": "--override limits.llmTimeout",
          "remedy": "Write it like \`500ms\`, \`30s\`, \`10m\` or \`2h\`.",
        },
        {
          "message": "the value is not valid YAML: Flow sequence must end with a ]",
          "place": "--override parameters.temperature",
          "remedy": "Write --override parameters.temperature=0.2.",
        },
        {
          "message": "\`/type\`: expected one of "array", "boolean", "integer", "null", "number", "object", "string", found "objct"",
          "place": "--override output.schema",
          "remedy": "did you mean "object"?",
        },
        {
          "message": "unknown key \`\`",
          "place": "--override ",
          "remedy": "List all settings: troupe help agent-file",
        },
        {
          "message": "unknown key \`nonsense\`",
          "place": "--override nonsense",
          "remedy": "List all settings: troupe help agent-file",
        },
        {
          "message": "--model sets the models too",
          "place": "--override models",
          "remedy": "Remove one of them.",
        },
        {
          "message": "a model must be a name without spaces, not "a b"",
          "place": "--model",
          "remedy": "Write it like provider/name.",
        },
        {
          "message": "a schema requires the format \`json\`, not \`text\`",
          "place": "--override output.format",
          "remedy": "Write \`format: json\`, or remove the schema.",
        },
      ]
    `)
  })
})

describe('the template of an agent', () => {
  const effective = (agent: TemplateAgent) => ({ ...agent, limits: { ...defaultLimits, ...agent.limits } })

  test.each([['', 'nothing'], ...cases.map(([key, written]) => [`${key}=${written}`, `${key}=${written}`])])(
    'makes the same agent again: %s',
    (setting) => {
      const overrides = parseOverrides({ settings: setting === '' ? [] : [setting] })
      const agent = parseAgentFile(fileOf(''), 'a.ai', { readFile, overrides })
      expect(effective(parseAgentFile(`${agentTemplate(agent)}\nGo.`, 'a.ai'))).toEqual(effective(agent))
    },
  )

  test('names every setting, those without a value as comments', () => {
    expect(agentTemplate(plain)).toMatchInlineSnapshot(`
      "---
      description: x
      # usage: a city and a date  # default: none
      # examples: [A weekend in Oslo by train, Which train leaves after 17:00?]  # default: none
      toolName: a
      models: [ a/b ]
      # parameters:
        # temperature: 0.2  # default: the provider's default
        # topP: 0.9  # default: the provider's default
        # maxOutputTokens: 4000  # default: the provider's default
        # reasoning: low  # default: the provider's default
        # seed: 7  # default: the provider's default
        # cache: false  # default: true
        # timeout: 90s  # default: limits.llmTimeout
      # overrides: [temperature, reasoning]  # default: none
      input:
        format: text
        # schema: { type: object, properties: { city: { type: string } }, required: [city] }  # default: none
        # schemaRef: ./question.schema.json  # default: none
      output:
        format: markdown
        # schema: { type: object, properties: { city: { type: string } }, required: [city] }  # default: none
        # schemaRef: ./answer.schema.json  # default: none
      tools: []
      # mcpServers: { files: { command: npx, args: [-y, some-server] } }  # default: none
      agents: []
      # childControl: true  # default: false
      # clientTools: allow  # default: \`allow\` without \`tools\` and \`agents\`, else \`deny\`
      # keepSessions: true  # default: false
      skills: []
      disabledSkills: []
      # approvals:
        # rules: [{ deny: "shell(rm *)", reason: Nothing is deleted here }, { ask: web_fetch }]  # default: the session's
      # sandbox:
        # mode: required  # default: the session's
        # hosts: [packages.example.com, "*.example.com"]  # default: the session's
        # privateHosts: [registry.example.com]  # default: the session's
        # writable: [../shared]  # default: the session's
        # environment: [LANG, CI]  # default: the session's
        # memory: 512MB  # default: the session's, else 2GB
        # processes: 64  # default: the session's, else 256
      limits:
        maxToolTurns: 10
        # maxTokens: 200000  # default: none; 50000 if another agent calls it
        # maxSessionTokens: 1000000  # default: none
        # maxCostUsd: 0.50  # default: none
        # maxCalls: 20  # default: none
        # timeBudget: 10m  # default: none; 2m if another agent calls it
        llmTimeout: 2m
        idleTimeout: 1m
        replyTimeout: 15m
        toolTimeout: 1m
        maxRetries: 3
        parallelToolCalls: 4
        maxOutputBytes: 32KB
        maxDepth: 3
        maxChildren: 32
        parallelChildren: 4
      enabled: true
      # metadata: { owner: travel }  # default: none
      ---"
    `)
  })

  const nasty = [
    ...[
      'a: b',
      '- x',
      '# no',
      'a #b',
      '"quoted" \'too\'',
      'null',
      '123',
      '*a',
      '&a b',
      '!x',
      '--- x',
      '---',
      '{{ x }}',
      '[a',
      'a, b}',
      '? a',
      '%x',
    ],
    ...['first line\nsecond line', 'He said: "x"\nmore', '\n\n', ' \n# x\n---\n ', 'a\r\nb', ' both sides ', '\tx\ty\t', 'a \\n b', '\\'],
    ...['👩‍👩‍👧 🎭', 'ä €', 'a\u0000b\u0007\u001b[2J', 'a\u0085b\u2028c\u2029d', '\ufeffa\u200b\u00a0', '\u202etxt.exe', '\u{e0001}'],
    ...['x'.repeat(3000), 'word '.repeat(300), `${'long '.repeat(60)}\n${'line '.repeat(60)}`],
  ]
  const anyText = fc.oneof(
    fc.constantFrom(...nasty),
    fc.string({ unit: 'grapheme' }),
    fc
      .array(fc.constantFrom('a', ' ', '\n', '\t', '"', "'", ':', '#', '-', '{', ']', ',', '|', '>', '\\', '🎭'), { maxLength: 12 })
      .map((parts) => parts.join('')),
  )
  const said = anyText.map((text) => text.trim()).filter((text) => text !== '')
  const anyMap = fc.dictionary(
    anyText.filter((key) => key.length < 200),
    fc.oneof(anyText, fc.array(anyText, { maxLength: 3 }), fc.constant(null)),
    { maxKeys: 4 },
  )

  test('makes the same agent again, whatever its texts are', () => {
    const schema = anyText.map((description) => ({
      type: 'object',
      description,
      properties: { [description.slice(0, 100)]: { const: description } },
    }))
    const agents = fc.record({ description: said, usage: said, input: schema, output: schema, reason: said, metadata: anyMap })
    fc.assert(
      fc.property(agents, ({ description, usage, input, output, reason, metadata }) => {
        const agent: TemplateAgent = {
          ...plain,
          description,
          usage,
          input: { format: 'json', schema: input },
          output: { format: 'json', schema: output },
          approvals: [{ deny: `shell(${reason.replaceAll('\0', '')})`, reason }],
          ...(Object.keys(metadata).length > 0 && { metadata }),
        }
        const template = agentTemplate(agent)
        expect(template).not.toMatch(/(?![ \n])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}]/u)
        expect(template.split('\n')).toHaveLength(agentTemplate({ ...agent, description: 'x', usage: 'x' }).split('\n').length)
        expect(effective(parseAgentFile(`${template}\nGo.`, 'a.ai'))).toEqual(effective(agent))
      }),
      { numRuns: 300 },
    )
  })

  test('survives any description', () => {
    for (const description of nasty.map((text) => text.trim()).filter((text) => text !== ''))
      expect(parseAgentFile(`${agentTemplate({ ...plain, description })}\nGo.`, 'a.ai').description).toBe(description)
  })
})
