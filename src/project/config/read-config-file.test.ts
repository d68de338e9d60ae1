// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { nodeToJson } from '../../yaml/yaml-nodes.ts'
import type { ConfigFile, FileRole } from './config-places.ts'
import { JsonSource } from './files/json-source.ts'
import { readConfigFile } from './read-config-file.ts'
import { leavesOf } from './sourced.ts'

const fileOf = (role: FileRole): ConfigFile => ({ path: '/x.json', role, layer: 'user', isRequired: false })

function problemsOf(content: string | Uint8Array | object, role: FileRole = 'settings'): readonly Problem[] {
  const text = typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content)
  try {
    readConfigFile(text, fileOf(role))
  } catch (error) {
    if (error instanceof TroupeError) return error.problems
    throw error
  }
  return []
}
const told = (...given: Parameters<typeof problemsOf>) =>
  problemsOf(...given).map(({ place, message }) => `${place.replace('/x.json:', '')} ${message}`)

/** The rest of the line at a place. */
const lineFrom = (text: string, { line, column }: { readonly line: number; readonly column: number }) =>
  text.split('\n')[line - 1]?.slice(column - 1)
const from = (start: string) => expect.stringMatching(new RegExp(`^${start.replace(/[^\w\s]/g, '\\$&')}`))

const everything = `{
  "$schema": "https://example.org/s.json",
  "agents": ["./agents", "\${HOME}/more/*.ai"],
  "providers": {
    "lab": { "kind": "openai-compatible", "baseURL": "https://lab.example.org/v1", "apiKey": "\${LAB_KEY}", "headers": { "X-Team": "a" }, "api": "chat" },
    "local": {}
  },
  "models": { "fast": "lab/small" },
  "mcpServers": { "github": { "command": "gh", "args": ["mcp"] } },
  "defaults": { "models": ["fast", "auto"], "parameters": { "temperature": 0.5 }, "limits": { "timeBudget": "10m", "maxOutputBytes": "64KB" }, "output": { "format": "text" } },
  "queues": { "openai": { "concurrent": 8, "perMinute": 300 } },
  "pricing": { "lab/small": { "input": 0, "output": 0.5, "cacheRead": 0.1, "cacheWrite": 1 } },
  "features": { "plan": true, "other": false },
  "approvals": { "rules": [{ "deny": "shell(rm *)" }], "onUnavailable": "deny" },
  "sandbox": {}, "headends": {}, "telemetry": {},
  "hooks": [{ "name": "a", "on": ["at_stop"], "module": "./a.mjs", "onFailure": "open", "timeout": "5s" }],
  "skills": { "directories": ["./more"], "disabled": ["pdf"] }, "context": { "agentsMd": false },
  "store": { "path": "./state" }
}`

describe('a configuration file', () => {
  test('may have every section; each value knows its line', () => {
    const read = readConfigFile(everything, fileOf('settings'))
    expect(read.kind).toBe('settings')
    if (read.kind !== 'settings') return
    expect(leavesOf(read.tree).map(({ path, value, origin }) => [path.join('.'), value, lineFrom(everything, origin)])).toEqual([
      ['agents', ['./agents', '${HOME}/more/*.ai'], from('["./agents"')],
      ['providers.lab.kind', 'openai-compatible', from('"openai-compatible"')],
      ['providers.lab.baseURL', 'https://lab.example.org/v1', from('"https://lab')],
      ['providers.lab.apiKey', '${LAB_KEY}', from('"${LAB_KEY}"')],
      ['providers.lab.headers.X-Team', 'a', from('"a" }')],
      ['providers.lab.api', 'chat', from('"chat"')],
      ['providers.local', {}, from('{}')],
      ['models.fast', 'lab/small', from('"lab/small"')],
      ['mcpServers.github.command', 'gh', from('"gh"')],
      ['mcpServers.github.args', ['mcp'], from('["mcp"]')],
      ['defaults.models', ['fast', 'auto'], from('["fast"')],
      ['defaults.parameters.temperature', 0.5, from('0.5')],
      ['defaults.limits.timeBudget', 600_000, from('"10m"')],
      ['defaults.limits.maxOutputBytes', 65_536, from('"64KB"')],
      ['defaults.output.format', 'text', from('"text"')],
      ['queues.openai.concurrent', 8, from('8,')],
      ['queues.openai.perMinute', 300, from('300')],
      ['pricing.lab/small.input', 0, from('0,')],
      ['pricing.lab/small.output', 0.5, from('0.5')],
      ['pricing.lab/small.cacheRead', 0.1, from('0.1')],
      ['pricing.lab/small.cacheWrite', 1, from('1 }')],
      ['features.plan', true, from('true')],
      ['features.other', false, from('false')],
      ['approvals.rules', [{ deny: 'shell(rm *)' }], from('[{ "deny"')],
      ['approvals.onUnavailable', 'deny', from('"deny" }')],
      ...(['sandbox', 'headends', 'telemetry'] as const).map((name) => [name, {}, from('{}')]),
      ['hooks', [{ name: 'a', on: ['at_stop'], module: './a.mjs', onFailure: 'open', timeout: 5_000 }], from('[{ "name"')],
      ['skills.directories', ['./more'], from('["./more"]')],
      ['skills.disabled', ['pdf'], from('["pdf"]')],
      ['context.agentsMd', false, from('false }')],
      ['store.path', './state', from('"./state"')],
    ])
  })

  test.each<[string | object, readonly string[]]>([
    [{ provider: {} }, ['1:2 unknown key `provider` in the configuration']],
    [{ agents: './agents' }, ['1:11 `agents` must be a list, not text']],
    [{ agents: ['a', 1, ''] }, ['1:16 `agents.1` must be text, not a number', '1:18 `agents.2` must be text, not empty text']],
    [{ agents: ['${A B}'] }, ['1:12 `agents.0` cannot be read: invalid placeholder `${A B}`']],
    [{ providers: [] }, ['1:14 `providers` must be an object, not a list']],
    [{ providers: { lab: { baseUrl: 'x' } } }, ['1:22 unknown key `baseUrl` in `providers.lab`']],
    [
      { providers: { lab: { kind: 'opnai' } } },
      ['1:29 `providers.lab.kind` must be one of `openai`, `anthropic`, `google`, `openai-compatible`, not "opnai"'],
    ],
    [{ providers: { lab: { apiKey: 12345678 } } }, ['1:31 `providers.lab.apiKey` must be text, not a number']],
    [{ providers: { lab: { baseURL: 'lab.example.org' } } }, ['1:32 `providers.lab.baseURL` must be an http: or https: address']],
    [{ providers: { lab: { baseURL: 'file:///etc/passwd' } } }, ['1:32 `providers.lab.baseURL` must be an http: or https: address']],
    ...['http://127.0.0.1:9911\\@api.example.org/v1', 'http:/127.0.0.1:9911', 'http://127.0.0.1:9911/v1 '].map(
      (baseURL): [object, string[]] => [
        { providers: { lab: { baseURL } } },
        [
          '1:32 `providers.lab.baseURL` cannot have spaces or characters that change the address: requests would go to http://127.0.0.1:9911',
        ],
      ],
    ),
    ...['https://me:pw@lab.example.org/v1', 'https://lab.example.org/v1?key=1', 'https://lab.example.org/#x'].map(
      (baseURL): [object, readonly string[]] => [
        { providers: { lab: { baseURL } } },
        ['1:32 `providers.lab.baseURL` cannot have a user, query or fragment: set credentials in `apiKey` or `headers`'],
      ],
    ),
    [{ providers: { lab: { headers: { 'a b': 'x' } } } }, ['1:33 `a b` is not a valid name in `providers.lab.headers`']],
    ...['a/b', 'a b', 'auto', 'rehearsal', 'script'].flatMap((name): [object, readonly string[]][] => [
      [{ providers: { [name]: {} } }, [`1:15 \`${name}\` is not a valid name in \`providers\``]],
      [{ models: { [name]: 'lab/m' } }, [`1:12 \`${name}\` is not a valid name in \`models\``]],
    ]),
    [{ models: { 'script/x.yaml': 'lab/m' } }, ['1:12 `script/x.yaml` is not a valid name in `models`']],
    [{ models: { autos: 'a', rehearsals: 'b', scripted: 'c', Auto: 'd' }, providers: { autos: {} } }, []],
    ['{"providers": {"__proto__": {"baseURL": "https://evil.example"}}}', ['1:16 `__proto__` is not a valid name in `providers`']],
    [
      '{"restTools": {"a": {"description": "d", "url": "https://a.b", "parameters": {"a": {"__proto__": {}}}}}}',
      ['1:85 `__proto__` is not a valid name in `restTools.a.parameters.a`'],
    ],
    [
      '{"restTools": {"a": {"description": "d", "url": "https://a.b", "parameters": {"a": {"enum": [{"__proto__": {}}]}}}}}',
      ['1:95 the name `__proto__` cannot be used'],
    ],
    [{ headends: { prot: 1 } }, ['1:14 unknown key `prot` in `headends`']],
    [{ headends: { port: 70_000 } }, ['1:21 `headends.port` must be an integer from 0 to 65535, not a number']],
    [{ headends: { hosts: ['https://a.example'] } }, ['1:23 `headends.hosts.0` must be a host name without `https://` and path']],
    [{ headends: { hosts: ['a.example', 'a.example:8443', '[::1]'], origins: ['https://a.example', 'http://localhost:8080'] } }, []],
    [
      { headends: { origins: ['https://a.example/', '*'] } },
      [0, 1].map(
        (index) => `1:${25 + 21 * index} \`headends.origins.${index}\` must be an origin: \`https://\`, a host name and nothing after it`,
      ),
    ],
    [
      { headends: { concurrency: { total: 0 }, drain: 'soon', streams: { perToken: 0 } } },
      [
        '1:37 `headends.concurrency.total` must be an integer of at least 1, not a number',
        '1:48 `headends.drain` must be a duration of at least 1ms, not text',
        '1:77 `headends.streams.perToken` must be an integer of at least 1, not a number',
      ],
    ],
    ['{"mcpServers": {"a__b": {}}}', ['1:17 `a__b` is not a valid name in `mcpServers`']],
    ['{"mcpServers": {"a": {}}}', ['1:22 `mcpServers.a` has neither `command` nor `url`']],
    ['{"mcpServers": {"a": {"command": "x", "url": "http://x.example"}}}', ['1:39 `mcpServers.a` has both `command` and `url`']],
    ['{"mcpServers": {"a": {"type": "sse", "command": "x"}}}', ['1:23 `mcpServers.a` has the type `sse` and `command`']],
    ['{"mcpServers": {"a": {"url": "x"}}}', ['1:30 `mcpServers.a.url` must be an http: or https: address']],
    ['{"mcpServers": {"a": {"command": "x", "sandbox": "on"}}}', ['1:50 `mcpServers.a.sandbox` must be an object, not text']],
    ['{"mcpServers": {"a": {"command": "x", "conect": "lazy"}}}', ['1:39 unknown key `conect` in `mcpServers.a`']],
    [
      '{"restTools": {"a": {"description": "d", "url": "https://a.b", "parameters": {"a": {"enum": [{"b": 1, "b": 2}]}}}}}',
      ['1:103 the key `b` is set twice'],
    ],
    ['{"__proto__": {"agents": []}}', ['1:2 unknown key `__proto__` in the configuration']],
    ['{"constructor": {}}', ['1:2 unknown key `constructor` in the configuration']],
    [{ models: { fast: 'a b' } }, ['1:19 `models.fast` must be a name without spaces']],
    [{ models: { fast: ['a'] } }, ['1:19 `models.fast` must be text, not a list']],
    [{ defaults: { description: 'x' } }, ['1:14 unknown key `description` in `defaults`']],
    [{ defaults: { limit: {} } }, ['1:14 unknown key `limit` in `defaults`']],
    [{ defaults: { limits: { maxToolTurn: 1 } } }, ['1:24 unknown key `maxToolTurn` in `defaults.limits`']],
    [
      { defaults: { limits: { maxToolTurns: 0 } } },
      ['1:39 `defaults.limits.maxToolTurns` must be an integer of at least 1, not the number 0'],
    ],
    [{ defaults: { models: '${M}' } }, ['1:23 `defaults.models` cannot have placeholders']],
    [{ queues: { q: { concurrent: 0 } } }, ['1:30 `queues.q.concurrent` must be an integer of at least 1, not a number']],
    [{ queues: { q: { perSecond: 1 } } }, ['1:17 unknown key `perSecond` in `queues.q`']],
    [
      { pricing: { 'a/b': { input: -1 } } },
      ['1:19 "output" is missing in `pricing["a/b"]`', '1:28 `pricing["a/b"].input` must be a number of at least 0, not a number'],
    ],
    [{ pricing: { b: { input: 1, output: 1 } } }, ['1:13 `b` is not a valid name in `pricing`']],
    [{ features: { a: 'yes' } }, ['1:18 `features.a` must be `true` or `false`, not text']],
    [{ store: { folder: '.' } }, ['1:11 unknown key `folder` in `store`']],
    [{ telemetry: 'on' }, ['1:14 `telemetry` must be an object, not text']],
    [{ slack: {} }, ['1:2 unknown key `slack` in the configuration']],
    ['[]', ['1:1 the configuration must be an object, not a list']],
    ['null', ['1:1 the configuration must be an object, not nothing']],
    ['{"agents": [], "agents": []}', ['1:16 the configuration has the key `agents` twice']],
  ])('%j', (content, expected) => {
    expect(told(content)).toEqual(expected)
  })

  test('all problems are reported together, in order, with line, expectation and nearest key', () => {
    const text = '{\n  // ours\n  "agnets": [],\n  "store": { "path": 1, },\n}'
    expect(problemsOf(text)).toEqual([
      { place: '/x.json:2:3', message: 'JSON has no comments', remedy: 'Remove the comment.', line: '  // ours' },
      {
        place: '/x.json:3:3',
        message: 'unknown key `agnets` in the configuration',
        remedy: 'Did you mean `agents`?',
        line: '  "agnets": [],',
      },
      {
        place: '/x.json:4:22',
        message: '`store.path` must be text, not a number',
        remedy: 'Write it like `"./state"`.',
        line: '  "store": { "path": 1, },',
      },
      {
        place: '/x.json:4:23',
        message: 'JSON has no comma after the last value',
        remedy: 'Remove the comma.',
        line: '  "store": { "path": 1, },',
      },
      {
        place: '/x.json:4:26',
        message: 'JSON has no comma after the last value',
        remedy: 'Remove the comma.',
        line: '  "store": { "path": 1, },',
      },
    ])
  })

  test('a line that is shown holds no key', () => {
    const text = '{ "providers": { "lab": { "apikey": "sk-short", "Authorization": "Bearer x", "x": "sk-live-abcdefghijklmnop0123" } } }'
    const [problem] = problemsOf(text)
    expect(problem?.line).toBe(
      '{ "providers": { "lab": { "apikey": "••••••••", "Authorization": "••••••••", "x": "••••••••••••••••••••••••••••" } } }',
    )
    expect(JSON.stringify(problemsOf(text))).not.toMatch(/sk-|Bearer/)
  })

  test.each([
    ['{', '1:1 this is not JSON: this `{` is never closed'],
    ['{"agents": [1, 2\n}', '1:12 this is not JSON: this `[` is never closed'],
    ['{"limits": {"a": [{"b": 1]}}', '1:19 this is not JSON: this `{` is never closed'],
    ['{"a": {\n"b": 1,\n"c": [1]\n', '1:7 this is not JSON: this `{` is never closed'],
    ['{"agents": []]}', '1:14 this is not JSON: expected `,` or `}`, found "]"'],
    ['{"a', '1:2 this is not JSON: expected a key in double quotes or `}`, found "\\""'],
    ["{'agents': []}", '1:2 this is not JSON: expected a key in double quotes or `}`, found "\'"'],
    ['{agents: []}', '1:2 this is not JSON: expected a key in double quotes or `}`, found "a"'],
    ['{"agents" []}', '1:11 this is not JSON: expected `:`, found "["'],
    ['{"agents": [1 2]}', '1:15 this is not JSON: expected `,` or `]`, found "2"'],
    ['agents: []', '1:1 this is not JSON: expected a value, found "a"'],
    ['{"agents": *a}', '1:12 this is not JSON: expected a value, found "*"'],
    ['{"agents": &a []}', '1:12 this is not JSON: expected a value, found "&"'],
    ['{"agents": []\n"store": {}}', '2:1 this is not JSON: expected `,` or `}`, found "\\""'],
    ['{"features": {"a": True}}', '1:20 this is not JSON: expected a value, found "T"'],
    ['{"queues": {"a": {"concurrent": 0x1}}}', '1:33 this is not JSON: expected a value, found "0"'],
    ['{} {}', '1:4 this is not JSON: expected nothing more, found "{"'],
    [`{"hooks": {"a": ${'['.repeat(100)}${']'.repeat(100)}}}`, '1:79 this is nested more than 64 levels deep'],
    ['{"a": 1}\0', '1:1 the file is binary'],
    ['x'.repeat(300_000), '1:1 the file is larger than 262144 bytes'],
    [new Uint8Array([123, 0xff, 125]), '1:1 the file is not UTF-8'],
  ])('%j is no JSON', (text, expected) => {
    expect(told(text)).toEqual([expected])
  })

  test.each(['', ' \n', '\uFEFF{}', '{\r\n\t"agents":\r\n\t[]\r\n}\r\n'])('%j is fine', (text) => {
    expect(told(text)).toEqual([])
  })

  test('positions are right in files with CRLF and a byte order mark', () => {
    expect(told('\uFEFF{\r\n\t"agnets": 1\r\n}')).toEqual(['2:2 unknown key `agnets` in the configuration'])
  })

  test('JSON is read as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 5 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const source = new JsonSource(text, '/x.json', 'user')
        source.throwIfProblems()
        expect(nodeToJson(source.root)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  test('hostile files take no longer than long ones', () => {
    const many = Array.from({ length: 8000 }, (_, index) => `"key${index}": ${index}`).join()
    for (const text of [
      `{"hooks": {${many}}}`,
      '/*'.repeat(100_000),
      '"\\'.repeat(100_000),
      '{"a":'.repeat(50_000),
      `"${'\\"'.repeat(100_000)}`,
      `{${',/**/'.repeat(30_000)}`,
      'a1'.repeat(100_000),
    ]) {
      const start = performance.now()
      problemsOf(text)
      expect(performance.now() - start).toBeLessThan(20_000)
    }
  })
})

describe('a .mcp.json', () => {
  test('returns its servers and reports everything else', () => {
    const read = readConfigFile('{"mcpServers": {"a": {"command": "x", "alwaysAllow": []}}, "inputs": []}', fileOf('servers'))
    expect(read.kind === 'settings' && leavesOf(read.tree).map(({ path, value }) => [path.join('.'), value])).toEqual([
      ['mcpServers.a.command', 'x'],
    ])
    expect(read.kind === 'settings' && read.diagnostics.map(({ code, place }) => `${code} ${place}`)).toEqual([
      'config_key_unused /x.json:1:60',
      'config_key_unused /x.json:1:39',
    ])
  })

  test.each([
    ['[]', ['1:1 a `.mcp.json` must be an object, not a list']],
    ['{"mcpServers": []}', ['1:16 `mcpServers` must be an object, not a list']],
    ['{"mcpServers": {}, "mcpServers": {}}', ['1:20 `mcpServers` is set twice']],
    ['{"mcpServers": {"a": {"type": "local", "url": "http://x.example"}}}', ['1:23 `mcpServers.a` has the type `stdio` and `url`']],
  ])('%s', (text, expected) => {
    expect(told(text, 'servers')).toEqual(expected)
  })
})
