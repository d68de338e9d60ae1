import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readManifest } from './read-manifest.ts'

let root = ''
const write = (path: string, text: string): void => {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text)
}

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'troupe-manifest-'))
  write('extensions/code_reviewer/prompts/code_reviewer.jinja2', 'You are {{ name }} ({{ id }}).')
  write('extensions/builder_agent/x', '')
  write('prompts/builder.jinja2', 'You build.')
  write('prompts/broken.jinja2', 'one\n{{ nmae }}')
  write('extensions/kv/prompts/include.md', 'Rules: {% include "prompts/rules.md" %}')
  write('extensions/kv/prompts/rules.md', 'be kind')
  write('secret.env', 'KEY=1')
  symlinkSync('/etc/hostname', join(root, 'extensions/kv/prompts/link.md'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const read = (text: string, id = 'kv') =>
  readManifest(text, { path: 'manifest.yaml', folder: join(root, 'extensions', id), workspace: root })

async function problemsIn(text: string): Promise<readonly string[]> {
  const result = await read(text)
  return result.ok
    ? []
    : result.problems.map(({ place, message, remedy }) => `${place.replace('manifest.yaml:', '')} ${message}. ${remedy}`)
}

describe('the manifests of the seed', () => {
  const seed = (id: string): string => readFileSync(join(import.meta.dirname, `fixtures/${id}.yaml`), 'utf8')

  test('code_reviewer', async () => {
    const description = 'AI agent specialized in code review: analyzes diffs, finds bugs, suggests improvements, checks style compliance.'
    expect(await read(seed('code_reviewer'), 'code_reviewer')).toEqual({
      ok: true,
      manifest: {
        id: 'code_reviewer',
        name: 'Code Review Agent',
        version: '1.0.0',
        description,
        entrypoint: { file: 'main', className: 'CodeReviewAgent' },
        naturalLanguageDescription: expect.stringMatching(/^Use this agent when.*use the Builder Agent instead\.$/s),
        dependsOn: ['kv'],
        visibility: 'all',
        permissions: { hosts: [], read: [], write: [] },
        config: {},
        secrets: [],
        enabled: true,
        schedules: [],
        events: [],
        agent: {
          integrationMode: 'tool',
          model: 'gpt-4o-mini',
          instructions: 'You are Code Review Agent (code_reviewer).',
          parameters: { temperature: 0.2, maxOutputTokens: 4000 },
          usesTools: ['kv', 'file_manager'],
          limits: { maxTurns: 10, maxTokensPerInvocation: 20_000, idleMs: 1_800_000, timeBudgetMs: 120_000 },
        },
      },
    })
  })

  test('builder_agent, with instructions of the project', async () => {
    expect(await read(seed('builder_agent'), 'builder_agent')).toMatchObject({
      ok: true,
      manifest: {
        agent: { model: 'gpt-5.2-codex', instructions: 'You build.', limits: { maxTurns: 20, maxTokensPerInvocation: 50_000 } },
      },
    })
  })
})

const base = 'id: kv\nname: KV\nversion: "1.0.0"\ndescription: Stores values\n'
const code = `${base}entrypoint: main:Kv\n`
const agent = `${base}agent:\n  model: auto\n`

test('every key has its value', async () => {
  const text = `${code}visibility: agents
enabled: false
depends_on: [a, b]
permissions: { hosts: ["*.example.com"], read: [docs], write: [out/reports] }
config: { unit: celsius, deep: { n: [1] } }
secrets: [WEATHER_KEY]
schedules:
  - { id: morning, cron: "0 8 * * 1-5", time_zone: Europe/Berlin, task: Say hello }
  - { id: often, cron: "*/5 * * * *", task: Look }
events: [price_changed]
agent:
  integration_mode: handoff
  model: m
  instructions: prompts/include.md
  parameters: { temperature: 1, top_p: 0.5, max_output_tokens: 9, seed: 7, reasoning_effort: low, timeout_ms: 5000 }
  uses_tools: [c]
  limits: { max_turns: 1, max_tokens_per_invocation: 2, time_budget_ms: 3, idle_ms: 4 }
`
  expect(await read(text)).toMatchObject({
    ok: true,
    manifest: {
      visibility: 'agents',
      enabled: false,
      dependsOn: ['a', 'b'],
      permissions: { hosts: ['*.example.com'], read: ['docs'], write: ['out/reports'] },
      config: { unit: 'celsius', deep: { n: [1] } },
      secrets: ['WEATHER_KEY'],
      schedules: [
        { id: 'morning', cron: '0 8 * * 1-5', timeZone: 'Europe/Berlin', task: 'Say hello' },
        { id: 'often', cron: '*/5 * * * *', task: 'Look' },
      ],
      events: ['price_changed'],
      agent: {
        integrationMode: 'handoff',
        model: 'm',
        instructions: 'Rules: be kind',
        parameters: { temperature: 1, topP: 0.5, maxOutputTokens: 9, seed: 7, reasoning: 'low', timeoutMs: 5000 },
        usesTools: ['c'],
        limits: { maxTurns: 1, maxTokensPerInvocation: 2, timeBudgetMs: 3, idleMs: 4 },
      },
    },
  })
})

test('a declarative agent needs neither code nor instructions', async () => {
  const result = await read(agent)
  expect(result).toMatchObject({
    ok: true,
    manifest: {
      agent: {
        integrationMode: 'tool',
        model: 'auto',
        instructions: 'You are KV. Stores values',
        parameters: {},
        usesTools: [],
        limits: { maxTurns: 10, maxTokensPerInvocation: 50_000, timeBudgetMs: 120_000 },
      },
    },
  })
  expect(result.ok && 'entrypoint' in result.manifest).toBe(false)
})

describe('wrong manifests', () => {
  test.each<[what: string, text: string, ...expected: string[]]>([
    ['empty', '', '1:1 `id`, `name`, `version`, `description` are missing in the manifest', 'no `entrypoint`, `agent` or `schedules`'],
    ['no YAML', 'id: [', '1:5 the settings are not valid YAML: this `[` is never closed'],
    ['a list', '- a', '1:1 the settings must be lines of `key: value`'],
    ['deeply nested', `${code}config: ${'['.repeat(20_000)}`, 'YAML'],
    ['an alias', `${code}config: { a: &x 1, b: *x }`, 'anchor', 'aliases are not allowed'],
    ['too long', `${code}#${'x'.repeat(40_000)}`, '1:1 the manifest is longer than'],
    ['unknown key', `${code}dependson: []`, '6:1 unknown key `dependson` in the manifest. Did you mean `depends_on`?'],
    [
      'unknown key of a section',
      `${agent}  limits: { maxturns: 3 }`,
      'unknown key `maxturns` in `agent.limits`. Did you mean `max_turns`?',
    ],
    ['a key of a section at the top', `${code}limits: {}`, '6:1 unknown key `limits`'],
    ['a key of objects', `${code}constructor: 1`, 'unknown key `constructor`'],
    ['a section that is none', `${base}agent: yes`, '5:8 `agent` must be an object, not "yes"'],
    [
      'a section without value',
      `${code}permissions:`,
      '`permissions` must be an object, not nothing. Write it like `{ hosts: …, read: …, write: … }`.',
    ],
    [
      'a number for a version',
      code.replace('"1.0.0"', '1.0'),
      '3:10 `version` must be text, not the number 1. Write it like `version: "1.0.0"`.',
    ],
    [
      'another id',
      code.replace('id: kv', 'id: other'),
      '1:5 the id is `other`, but the folder is `kv`. Rename the folder to `other`, or write `id: kv`.',
    ],
    ['capitals', code.replace('id: kv', 'id: KV'), '1:5 `KV` is not a valid id'],
    ['double underscores', code.replace('id: kv', 'id: k__v'), 'not a valid id'],
    ['a path', code.replace('id: kv', 'id: ../kv'), 'not a valid id'],
    ['a reserved id', code.replace('id: kv', 'id: orchestrator'), 'the id `orchestrator` is reserved'],
    ['an id whose people would be tokens', code.replace('id: kv', 'id: token'), 'the id `token` is reserved'],
    ['an id whose people would be webhooks', code.replace('id: kv', 'id: hook'), 'the id `hook` is reserved'],
    ['entrypoint', `${base}entrypoint: main.js`, '5:13 `main.js` is not `FILE:CLASS`. Write it like `entrypoint: main:KvStore`'],
    ['entrypoint elsewhere', `${base}entrypoint: ../../evil:X`, 'is not `FILE:CLASS`'],
    ['no model', `${base}agent: {}`, '5:8 `model` is missing in `agent`. Add it, for example `model: auto`.'],
    ['itself', `${code}depends_on: [kv]`, '`depends_on` names the extension itself'],
    ['its own tools', `${agent}  uses_tools: [kv]`, '`agent.uses_tools` names the extension itself'],
    ['a name twice', `${code}depends_on: [a, a]`, '6:17 the extension `a` is listed twice'],
    ['no id in a list', `${code}depends_on: [A B]`, '`A B` is not a valid extension id'],
    ['one text for several', `${code}depends_on: a, b`, 'Write `depends_on: [a, b]`'],
    [
      'mode',
      `${agent}  integration_mode: hand-off`,
      '7:21 `agent.integration_mode` must be one of `tool`, `handoff`',
      'Did you mean `handoff`?',
    ],
    [
      'a time for persons that the agent does not talk to',
      `${agent}  limits: { idle_ms: 60000 }`,
      '7:22 `idle_ms` limits a handoff, and this agent talks to no person. Remove it, or write `integration_mode: handoff`.',
    ],
    ['no time', `${agent}  integration_mode: handoff\n  limits: { idle_ms: 0 }`, '`agent.limits.idle_ms` must be'],
    ['visibility', `${code}visibility: none`, '`visibility` must be one of `all`, `agents`'],
    ['enabled', `${code}enabled: "no"`, '`enabled` must be `true` or `false`'],
    ['temperature', `${agent}  parameters: { temperature: 3 }`, '7:30 `agent.parameters.temperature` must be a number from 0 to 2'],
    ['effort', `${agent}  parameters: { reasoning_effort: much }`, 'must be one of `none`'],
    ['a limit of none', `${agent}  limits: { max_turns: 0 }`, '`agent.limits.max_turns` must be an integer of at least 1'],
    ['a host with a scheme', `${code}permissions: { hosts: ["https://x.org"] }`, 'not a valid host'],
    [
      'a folder outside',
      `${code}permissions: { read: [../x], write: [/etc] }`,
      '`../x` is outside the project',
      '`/etc` is outside the project',
    ],
    ['a home folder', `${code}permissions: { read: [~/x] }`, '`~/x` is outside the project'],
    ['secrets with values', `${code}secrets: ["KEY=abc"]`, 'not a valid variable name'],
    ['a config that is none', `${code}config: 3`, '`config` must be a map'],
    ['events without agent', `${code}events: [a]`, '`events` start the agent of this extension, which has none'],
    ['schedules', `${code}schedules: daily`, '`schedules` must be a list'],
    ['a schedule', `${code}schedules: [daily]`, '6:13 `schedules.0` must be an object'],
    ['an empty schedule', `${code}schedules: [{}]`, '6:13 `id`, `cron`, `task` are missing in `schedules.0`'],
    ['cron', `${code}schedules: [{ id: a, cron: "61 * * * *", task: x }]`, '6:22 `schedules.0` has a wrong `cron`: "61 * * * *" is wrong'],
    ['time zone', `${code}schedules: [{ id: a, cron: "1 * * * *", time_zone: Mars, task: x }]`, 'expected an IANA time zone, not "Mars"'],
    [
      'two schedules',
      `${code}schedules: [{ id: a, cron: "1 * * * *", task: x }, { id: a, cron: "1 * * * *", task: x }]`,
      '`schedules` has two entries with the same `id`',
    ],
    [
      'instructions that are missing',
      `${agent}  instructions: none.md`,
      '7:17 `none.md` does not exist. It is looked for in the folder of the extension and the folder of the project.',
    ],
    ['instructions outside', `${agent}  instructions: ../../../etc/passwd`, 'is outside the folder of the extension'],
    ['an absolute path', `${agent}  instructions: /etc/passwd`, 'is an absolute path'],
    ['a link that leaves', `${agent}  instructions: prompts/link.md`, '`prompts/link.md` is outside the folder of the extension'],
    ['a file with secrets', `${agent}  instructions: secret.env`, '`secret.env` is a hidden file'],
    ['a template that fails', `${agent}  instructions: prompts/broken.jinja2`, 'prompts/broken.jinja2:2:4'],
  ])('%s', async (_what, text, ...expected) => {
    const found = await problemsIn(text)
    expect(found.length).toBeGreaterThan(0)
    for (const part of expected) expect(found.join('\n')).toContain(part)
  })

  test('all problems together, in the order of the text', async () => {
    const found = await problemsIn('id: KV\nnme: x\nversion: 1\nagent: { model: auto, limits: 3 }\nenabled: maybe\n')
    expect(found.map((each) => each.split(' ')[0])).toEqual(['1:1', '1:5', '2:1', '3:10', '4:31', '5:10'])
  })
})
