// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { describe, expect, test } from 'vitest'
import { configOf } from '../../../test/fixtures/memory-files.ts'
import { parseOverrides } from '../agent-file/overrides.ts'
import { type AgentOptionKey, agentOptionKeys, agentOptions } from '../options/agent-options.ts'
import { effectiveOptions, optionDefaults } from './effective-options.ts'
import { maskJson, redactForTrust } from './hide-secrets.ts'
import { defaultKeys } from './sections.ts'
import { configRows } from './show-config.ts'
import { showOrigin } from './sourced.ts'
import { readOptionVariables, variableOf } from './variables/option-variables.ts'

const user = '/home/.ai-agent/.ai-agent.json'

describe('the variables of options', () => {
  test('are named after the keys', () => {
    expect(['limits.maxToolTurns', 'parameters.topP', 'models', 'output.format', 'limits.maxCostUsd'].map(variableOf)).toEqual([
      'TROUPE_LIMITS_MAX_TOOL_TURNS',
      'TROUPE_PARAMETERS_TOP_P',
      'TROUPE_MODELS',
      'TROUPE_OUTPUT_FORMAT',
      'TROUPE_LIMITS_MAX_COST_USD',
    ])
    expect(new Set(agentOptionKeys.map(variableOf)).size).toBe(agentOptionKeys.length)
  })

  test.each(defaultKeys)('%s can be set by its variable as well as by --override', (key) => {
    const written = agentOptions[key as AgentOptionKey].example
    const { values } = readOptionVariables({ [variableOf(key)]: written })
    const flags = parseOverrides({ settings: [`${key}=${written}`] })
    expect(values.get(key as AgentOptionKey)).toEqual({ value: flags.get(key as AgentOptionKey)?.value, place: variableOf(key) })
  })

  test('all problems are reported together, including near misses', () => {
    const environment = { TROUPE_LIMITS_MAX_TOOL_TURNS: '0', TROUPE_MODELS: '[a', TROUPE_OUTPUT_FORMAT: '', HOME: '/x' }
    const { problems, values: right } = readOptionVariables({ ...environment, TROUPE_LIMITS_MAX_RETRIES: '2' })
    expect([...right.keys()]).toEqual(['limits.maxRetries'])
    expect(problems.map(({ place, message }) => `${place} ${message}`)).toEqual([
      'TROUPE_LIMITS_MAX_TOOL_TURNS `limits.maxToolTurns` must be an integer of at least 1, not the number 0',
      expect.stringMatching(/^TROUPE_MODELS the value cannot be read: /),
    ])
    const { values, diagnostics } = readOptionVariables({ TROUPE_MODEL: 'a', TROUPE_FULL: '1', TROUPE_OUTPUT_FORMAT: ' ' }, ['TROUPE_FULL'])
    expect([...values]).toEqual([])
    expect(diagnostics).toMatchObject([{ code: 'variable_unused', place: 'TROUPE_MODEL', remedy: 'Did you mean TROUPE_MODELS?' }])
  })
})

describe('who has the last word on an option', () => {
  const key = 'limits.maxToolTurns'
  const layers = [
    ['/project/.ai-agent.json', 4],
    ['/agents/.ai-agent.json', 5],
    [user, 6],
    ['/etc/ai-agent/.ai-agent.json', 7],
  ] as const
  const { values: variables } = readOptionVariables({ TROUPE_LIMITS_MAX_TOOL_TURNS: '2' })
  const frontmatter = new Map([[key as AgentOptionKey, { value: 3, place: 'a.ai:3:5' }]])

  test('variable, agent file, project, agent folder, user, system, default', async () => {
    const said: unknown[] = []
    for (let weakest = 1; weakest <= 7; weakest++) {
      const contents = Object.fromEntries(
        layers.slice(Math.max(0, weakest - 3)).map(([path, turns]) => [path, { defaults: { limits: { maxToolTurns: turns } } }]),
      )
      const effective = effectiveOptions({
        ...(weakest < 2 && { variables }),
        ...(weakest < 3 && { frontmatter }),
        config: await configOf(contents),
      }).get(key)
      said.push([effective?.value, effective && showOrigin(effective.origin)])
    }
    expect(said).toEqual([
      [2, 'TROUPE_LIMITS_MAX_TOOL_TURNS'],
      [3, 'a.ai:3:5'],
      [4, '/project/.ai-agent.json:1'],
      [5, '/agents/.ai-agent.json:1'],
      [6, '/home/.ai-agent/.ai-agent.json:1'],
      [7, '/etc/ai-agent/.ai-agent.json:1'],
      [undefined, 'default'],
    ])
  })

  test('a project needs no trust to have defaults', async () => {
    const config = await configOf(
      { '/project/.ai-agent.json': '{\n"defaults": { "limits": { "timeBudget": "2m" } } }' },
      { trusted: new Map() },
    )
    expect(optionDefaults(config).get('limits.timeBudget')).toMatchObject({ value: 120_000, place: '/project/.ai-agent.json:2:41' })
  })
})

describe('config show --origin', () => {
  test('where requests go is shown, whatever the provider is called', async () => {
    const config = await configOf({ [user]: { providers: { secret: { baseURL: 'https://evil.example/v1', apiKey: 'sk-1' } } } })
    expect(configRows({ config }).slice(0, 2)).toEqual([
      { key: 'providers.secret.baseURL', value: 'https://evil.example/v1', origin: `${user}:1` },
      { key: 'providers.secret.apiKey', value: '[redacted]', origin: `${user}:1` },
    ])
  })

  test('the password of a database is hidden, whatever it contains', async () => {
    const addresses = [
      ['postgres://ann:pa$s@db.example.com/x', 'postgres://[redacted]@db.example.com/x'],
      ['postgres://ann:p/?#@ss@db.example.com/x', 'postgres://[redacted]@db.example.com/x'],
      ['postgres://ann:${PW:-hunter2}@db.example.com/x', 'postgres://[redacted]${PW:-[redacted]}@db.example.com/x'],
      ['${DATABASE_URL:-postgres://ann:pw@db/x}', '${DATABASE_URL:-postgres://[redacted]@db/x}'],
      ['postgres://db.example.com/x', 'postgres://db.example.com/x'],
    ]
    for (const [url = '', shown] of addresses) {
      const rows = configRows({ config: await configOf({ [user]: { store: { url, listenUrl: url } } }) })
      expect(rows.filter(({ key }) => key.startsWith('store')).map(({ value }) => value)).toEqual([shown, shown])
      expect(redactForTrust(url, ['store', 'url'])).toBe(shown)
    }
    expect(maskJson('{ "url": "postgres://ann:pw@db/x", "other": "postgres://${USER}:${PW}@db/x" }')).toBe(
      '{ "url": "postgres://••••••@db/x", "other": "postgres://${USER}•${PW}@db/x" }',
    )
  })

  test('every value with its origin, secrets hidden', async () => {
    const config = await configOf({
      [user]: `{
        "providers": { "lab": { "apiKey": "\${LAB_KEY}", "baseURL": "https://ann:pass@lab.example.org/\${V}",
          "headers": { "Authorization": "Bearer abc", "X-Team": "a", "X-Api-Key": "k-\${K}-\${L:-zzz}" } }, "b": { "apiKey": "sk-1" } },
        "mcpServers": { "gh": { "command": "gh", "env": { "GITHUB_TOKEN": "ghp_1", "DEBUG": "1" }, "args": ["--key", "abcdefghijklmnopqrstuvwxyz0123456789"] } },
        "approvals": { "rules": [{ "ask": "shell" }] }, "sandbox": { "memory": "512MB" },
        "pricing": { "lab/x": { "input": 1, "output": 2 } },
        "defaults": { "limits": { "timeBudget": 120000, "maxOutputBytes": 65536 } }
      }`,
      '/project/.ai-agent.json': { approvals: { rules: [{ allow: 'shell' }], onUnavailable: 'deny' } },
      '/home/.ai-agent/.ai-agent.env': '\nLAB_KEY=secret\nEMPTY=',
    })
    const rows = configRows({ config, variables: readOptionVariables({ TROUPE_MODELS: 'a/b' }).values })
    const place = (line: number) => `${user}:${line}`
    expect(rows.filter(({ key, origin }) => origin !== 'default' || key === 'limits.llmTimeout')).toEqual([
      { key: 'providers.lab.apiKey', value: '${LAB_KEY}', origin: place(2) },
      { key: 'providers.lab.baseURL', value: 'https://[redacted]@lab.example.org/${V}', origin: place(2) },
      { key: 'providers.lab.headers.Authorization', value: '[redacted]', origin: place(3) },
      { key: 'providers.lab.headers.X-Team', value: 'a', origin: place(3) },
      { key: 'providers.lab.headers.X-Api-Key', value: '[redacted]${K}[redacted]${L:-[redacted]}', origin: place(3) },
      { key: 'providers.b.apiKey', value: '[redacted]', origin: place(3) },
      { key: 'mcpServers.gh.command', value: 'gh', origin: place(4) },
      { key: 'mcpServers.gh.env.GITHUB_TOKEN', value: '[redacted]', origin: place(4) },
      { key: 'mcpServers.gh.env.DEBUG', value: '1', origin: place(4) },
      { key: 'mcpServers.gh.args', value: ['--key', '[redacted]'], origin: place(4) },
      { key: 'pricing["lab/x"].input', value: 1, origin: place(6) },
      { key: 'pricing["lab/x"].output', value: 2, origin: place(6) },
      { key: 'approvals.rules', value: [{ allow: 'shell' }], origin: '/project/.ai-agent.json:1' },
      { key: 'approvals.onUnavailable', value: 'deny', origin: '/project/.ai-agent.json:1' },
      { key: 'approvals.rules', value: [{ ask: 'shell' }], origin: place(5) },
      { key: 'sandbox.memory', value: '512MB', origin: place(5) },
      { key: 'variables.LAB_KEY', value: '[redacted]', origin: '/home/.ai-agent/.ai-agent.env:2' },
      { key: 'models', value: ['a/b'], origin: 'TROUPE_MODELS' },
      { key: 'limits.timeBudget', value: '2m', origin: place(7) },
      { key: 'limits.llmTimeout', value: '2m', origin: 'default' },
      { key: 'limits.maxOutputBytes', value: '64KB', origin: place(7) },
    ])
  })
})
