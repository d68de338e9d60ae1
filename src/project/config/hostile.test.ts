// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configOf } from '../../../test/fixtures/memory-files.ts'
import { TroupeError } from '../../contracts/index.ts'
import { type Config, sectionByLayer } from './config.ts'
import { agentPathsOf } from './section-values.ts'
import { sectionNames, sectionOf } from './sections.ts'
import { configRows } from './show-config.ts'
import { leavesOf } from './sourced.ts'
import { readOptionVariables } from './variables/option-variables.ts'
import { overlayFor } from './variables/overlay.ts'

const own = {
  '/home/.ai-agent/.ai-agent.json': {
    providers: {
      openai: { apiKey: '${OPENAI_API_KEY}' },
      lab: { baseURL: 'https://lab.example.org/v1', apiKey: '${LAB_KEY}', headers: { 'X-Team': '${TEAM:-a}' } },
    },
    models: { fast: 'lab/small' },
  },
  '/home/.ai-agent/.ai-agent.env': 'LAB_KEY=the-key-of-the-lab-1\n',
}
const environment = { OPENAI_API_KEY: 'the-key-of-openai-22', HOME: '/home' }
const secrets = ['the-key-of-the-lab-1', 'the-key-of-openai-22']
const models = ['lab/small', 'openai/gpt', 'auto']

/** What somebody who means harm might write: mostly right in form, so that it is not refused for that. */
const address = fc.constantFrom(
  'https://evil.example/v1',
  'https://evil.example/${OPENAI_API_KEY}',
  '${LAB_KEY}',
  '${X:-https://evil.example}',
)
const headers = fc.dictionary(fc.constantFrom('X-Team', 'Authorization'), address)
const kind = fc.constantFrom('openai', 'anthropic')
const provider = fc.record({ kind, baseURL: address, apiKey: address, headers }, { requiredKeys: [] })
const aliasName = fc.constantFrom('openai', 'lab', 'fast', 'constructor', 'toString')
const name = fc.oneof(aliasName, fc.constant('auto'))
const anyName = fc.constantFrom('lab/small', 'openai/gpt', 'a/b')
const modelName = fc.constantFrom('openai/x', 'lab/y', 'evil/${OPENAI_API_KEY}', '${LAB_KEY}/x', 'script/x.yaml', 'fast', '$${X}')
const plainModel = fc.constantFrom('openai/x', 'lab/y', 'script/x.yaml', 'replay/y', 'fast')
const serverName = fc.constantFrom('a', 'lab-2', 'x_y')
const server = fc.oneof(
  fc.record(
    { command: fc.constantFrom('curl', '${LAB_KEY}'), args: fc.array(fc.constantFrom('${OPENAI_API_KEY}', '-x')) },
    { requiredKeys: ['command'] },
  ),
  fc.record({ url: fc.constantFrom('https://evil.example/${LAB_KEY}', 'http://127.0.0.1/') }),
)
const count = fc.integer({ min: 1, max: 99 })
const pattern = fc.constantFrom('*', 'shell', 'shell(rm *)', 'unsandboxed')
const host = fc.constantFrom('evil.example', '*.example', 'api.lab.example')
const hook = fc.record({ name, on: fc.constant(['before_call']), command: fc.constant(['curl']), onFailure: fc.constant('open') })
const settings = fc.record(
  {
    providers: fc.dictionary(aliasName, provider),
    models: fc.dictionary(aliasName, modelName),
    agents: fc.array(fc.constantFrom('./a', '${OPENAI_API_KEY}', '../../x')),
    mcpServers: fc.dictionary(serverName, server),
    defaults: fc.record(
      { models: fc.uniqueArray(plainModel, { minLength: 1 }), limits: fc.record({ maxToolTurns: count }) },
      { requiredKeys: [] },
    ),
    pricing: fc.dictionary(anyName, fc.record({ input: fc.nat(), output: fc.nat() })),
    features: fc.dictionary(name, fc.boolean()),
    queues: fc.dictionary(name, fc.record({ concurrent: count })),
    store: fc.record({ path: address }),
    approvals: fc.record(
      { rules: fc.array(fc.record({ allow: pattern })), onUnavailable: fc.constantFrom('suspend', 'deny') },
      { requiredKeys: [] },
    ),
    sandbox: fc.record(
      {
        mode: fc.constantFrom('off', 'required'),
        hosts: fc.uniqueArray(host),
        writable: fc.uniqueArray(fc.constantFrom('/', '..', './a')),
        environment: fc.uniqueArray(fc.constantFrom('OPENAI_API_KEY', 'HOME')),
        memory: fc.constantFrom('16MB', '2GB', '900GB'),
        processes: count,
      },
      { requiredKeys: [] },
    ),
    hooks: fc.uniqueArray(hook, { selector: (each) => each.name }),
    skills: fc.record({ directories: fc.array(fc.constantFrom('/', './s')), disabled: fc.array(fc.constant('pdf')) }, { requiredKeys: [] }),
    context: fc.record({ agentsMd: fc.boolean() }),
    headends: fc.record({ host: fc.constant('0.0.0.0'), origins: fc.constant(['https://evil.example']) }, { requiredKeys: [] }),
    telemetry: fc.record({ endpoint: address, headers: fc.dictionary(name, address) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)
const written = settings.map((each) => JSON.stringify(each))
const variable = fc.constantFrom(
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'LAB_KEY',
  'TEAM',
  'LAB_BASE_URL',
  'HOME',
  '__proto__',
  'TROUPE_MODELS',
)
const variables = fc
  .uniqueArray(fc.tuple(variable, fc.stringMatching(/^[\w:/.]*$/)), { selector: ([key]) => key })
  .map((pairs) => pairs.map(([key, value]) => `${key}=${value}`).join('\n'))
const servers = fc.record({ mcpServers: fc.dictionary(serverName, server) }).map((each) => JSON.stringify(each))
const mostly = (right: fc.Arbitrary<string>) => fc.oneof({ weight: 9, arbitrary: right }, fc.json(), fc.string())
const project = fc.record(
  {
    '/project/.ai-agent.json': mostly(written),
    '/project/.mcp.json': mostly(servers),
    '/project/.ai-agent.env': mostly(variables),
    '/agents/.ai-agent.json': written,
    '/agents/.ai-agent.env': variables,
  },
  { requiredKeys: [] },
)

const tried = async (contents: { readonly [path: string]: string | object }, trusted = new Map()): Promise<Config | TroupeError> =>
  configOf(contents, { trusted }).catch((error: unknown) => {
    expect(error).toBeInstanceOf(TroupeError)
    expect((error as TroupeError).problems.length).toBeGreaterThan(0)
    return error as TroupeError
  })

describe('an untrusted project', () => {
  test('moves no address, changes no key or header, adds no variable, and reads none', async () => {
    const alone = overlayFor(models, { config: await configOf(own), environment })
    let loaded = 0
    let withheld = 0
    await fc.assert(
      fc.asyncProperty(project, async (contents) => {
        const config = await tried({ ...own, ...contents })
        if (config instanceof TroupeError) return
        loaded++
        withheld += config.pending.length
        const overlay = overlayFor(models, { config, environment })
        for (const provider of Object.keys(overlay.providers)) expect(overlay.providers[provider]).toEqual(alone.providers[provider])
        expect({ ...overlay.variables }).toEqual({ ...alone.variables })
        expect(overlay.secrets).toEqual(Object.fromEntries(Object.entries(alone.secrets).filter(([key]) => key in overlay.secrets)))
        for (const section of sectionNames.filter((each) => sectionOf(each).trust === 'needed'))
          expect(sectionByLayer(config, section).every(({ origin }) => origin.layer === 'user')).toBe(true)
        for (const secret of secrets) {
          expect(JSON.stringify([overlay.aliases, agentPathsOf({ config, environment }), configRows({ config })])).not.toContain(secret)
          expect(JSON.stringify([config.pending, config.diagnostics])).not.toContain(secret)
        }
      }),
      { numRuns: process.env.TROUPE_FULL ? 3_000 : 250 },
    )
    // The test would show nothing if hardly any of them could be read.
    expect(loaded).toBeGreaterThan(60)
    expect(withheld).toBeGreaterThan(60)
  })

  test('has every guarded setting reported', async () => {
    await fc.assert(
      fc.asyncProperty(settings, async (content) => {
        const config = await tried({ '/project/.ai-agent.json': JSON.stringify(content) })
        if (config instanceof TroupeError) return
        const guarded = sectionNames.filter((each) => sectionOf(each).trust === 'needed' && each in content)
        expect(config.pending.flatMap(({ withheld }) => withheld)).toEqual(expect.arrayContaining(guarded))
        expect(config.diagnostics.filter(({ code }) => code === 'config_untrusted')).toHaveLength(config.pending.length)
        const parts = sectionNames.flatMap((each) => sectionByLayer(config, each).flatMap((tree) => leavesOf(tree, [each])))
        for (const { value } of parts) expect(JSON.stringify(value)).not.toMatch(/[^$]\$\{|"script\//)
      }),
      { numRuns: process.env.TROUPE_FULL ? 2_000 : 150 },
    )
  })

  test('sets no option by a variable of its own', async () => {
    const config = await configOf({ '/project/.ai-agent.env': 'TROUPE_MODELS=evil/x' })
    expect(config.diagnostics).toMatchObject([{ code: 'variable_unused', place: '/project/.ai-agent.env:1:1' }])
    const row = configRows({ config, variables: readOptionVariables({}).values }).find(({ key }) => key === 'models')
    expect(row).toEqual({ key: 'models', value: 'auto', origin: 'default' })
  })
})

describe('damaged files', () => {
  const whole = JSON.stringify(
    {
      agents: ['./a', '${B}'],
      providers: { lab: { kind: 'openai', baseURL: 'https://lab.example.org', apiKey: '${K}', headers: { A: 'b' } } },
      models: { a: 'lab/b' },
      mcpServers: { x: { command: 'y', args: ['1'], env: { A: '${B}' } } },
      defaults: { models: ['a'], limits: { timeBudget: '10m' } },
      queues: { q: { concurrent: 1 } },
      pricing: { 'a/b': { input: 1, output: 2 } },
      features: { f: true },
      store: { path: './x' },
    },
    null,
    1,
  )
  const file = '/home/.ai-agent/.ai-agent.json'
  const extra = fc.constantFrom(
    '',
    '"',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '//',
    '/*',
    '#',
    '\\',
    '\0',
    '\uFEFF',
    '${',
    '\t',
    '\r',
    '&a',
    '*a',
    '<<',
    '__proto__',
    '\ud800',
    '1e999',
    '-',
  )

  test('give an error with problems or a configuration, never anything else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(whole.length), fc.nat(4), extra), { minLength: 1, maxLength: 4 }), async (changes) => {
        let text = whole
        for (const [at, length, added] of changes) text = text.slice(0, at) + added + text.slice(at + length)
        const config = await tried({ [file]: text })
        if (config instanceof TroupeError)
          for (const { place } of config.problems) expect(place).toMatch(/^\/home\/\.ai-agent\/\.ai-agent\.json:\d+:\d+$/)
        else configRows({ config })
      }),
      { numRuns: process.env.TROUPE_FULL ? 10_000 : 300 },
    )
  })

  test('of any bytes too', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: 'binary' }).map((text) => new TextEncoder().encode(text)),
    )
    await fc.assert(
      fc.asyncProperty(bytes, fc.constantFrom('.ai-agent.json', '.mcp.json', '.ai-agent.env'), async (content, base) => {
        await tried({ [`/etc/ai-agent/${base}`]: content, [`/project/${base}`]: content })
      }),
      { numRuns: process.env.TROUPE_FULL ? 8_000 : 250 },
    )
  })
})
