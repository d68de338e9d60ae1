import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { documentIn, linesIn } from './published.ts'
import { workbench } from './troupe.ts'

const { agent, troupe, folder } = await workbench()
const hello = await agent('hello', 'steps: [{ text: "Hello." }]')
await agent('refused', 'steps: [{ fault: auth }]')
const noModel = await agent('no-model', '', 'description: x\nmodels: nowhere/x')

describe('--model', () => {
  test('overrides the file', async () => {
    expect(await troupe(['run', noModel, 'Hi', '-q', '--model', 'script/hello.yaml'])).toMatchObject({ code: 0, stdout: 'Hello.\n' })
  })

  test('several are tried in their order', async () => {
    const ended = await troupe(['run', noModel, 'Hi', '--json', '-q', '--model', 'script/refused.yaml', '--model=script/hello.yaml'])
    expect(documentIn(ended.stdout)).toMatchObject({
      exitCode: 0,
      accounting: [
        { model: 'script/refused.yaml', status: 'failed' },
        { model: 'script/hello.yaml', status: 'completed' },
      ],
    })
  })

  test('named twice, or with spaces, is reported', async () => {
    const ended = await troupe(['run', hello, 'Hi', '--model=a/b', '--model=a/b'])
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--model  The model `a/b` is listed twice') })
  })
})

describe('--override', () => {
  test('overrides the file, setting by setting', async () => {
    const file = await agent(
      'limited',
      'steps: [{ text: Hi. }]',
      'description: x\nmodels: script/limited.yaml\nlimits: { maxRetries: 7, maxCalls: 1 }',
    )
    const ended = await troupe(['run', file, 'Hi', '--json', '-q', '--override', 'limits.maxCalls=9', '--override=parameters.seed=3'])
    expect(documentIn(ended.stdout)).toMatchObject({
      snapshot: { selectedAgent: { limits: { maxRetries: 7, maxCalls: 9 }, parameters: { seed: 3 } } },
    })
  })

  test('all problems are reported together, with the file, the flags and the prompt', async () => {
    await writeFile(join(folder, 'wrong.ai'), '---\ndescription: x\nlimits: { maxToolTurns: many }\n---\nGo.')
    const ended = await troupe(['run', 'wrong.ai', '--override', 'limits.maxTurns=3', '--override', 'output.format=yaml'])
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatchInlineSnapshot(`
      "error: There are 4 problems.

        --override limits.maxTurns  Unknown key \`limits.maxTurns\`.
          → Did you mean \`limits.maxTokens\`, \`limits.maxCalls\`, \`limits.maxToolTurns\`?

        --override output.format  \`output.format\` must be one of \`markdown\`, \`text\`, \`json\`, not "yaml".
          → Write --override output.format=json.

        wrong.ai:3:25  \`limits.maxToolTurns\` must be an integer of at least 1, not "many".
          3 │ limits: { maxToolTurns: many }
            │                         ^
          → Write it like \`maxToolTurns: 6\`.

        PROMPT  The prompt is missing.
          → Pass a prompt: troupe run FILE "…", or pipe it in.
      "
    `)
  })

  test('is reported with wrong flags', async () => {
    const ended = await troupe(['run', hello, 'Hi', '--colour=red', '--override', 'limts.maxCalls=3', '--json'])
    expect(documentIn(ended.stdout)).toMatchObject({
      exitCode: 2,
      error: { message: 'The command line has 2 errors.', problems: [{ place: '--colour' }, { place: '--override limts.maxCalls' }] },
    })
  })
})

describe('an answer that is JSON', () => {
  const city = '{ type: object, properties: { city: { type: string } }, required: [city] }'
  test('is printed as the value that was checked, and nothing around it', async () => {
    const file = await agent('city', 'steps: [{ text: "Here:\\n```json\\n{ \\"city\\": \\"Oslo\\" }\\n```\\n" }]')
    const ended = await troupe(['run', file, 'Go', '-q', '--override', `output.schema=${city}`])
    expect(ended).toEqual({ code: 0, stdout: '{"city":"Oslo"}\n', stderr: '' })
  })

  test('may have its schema in a file beside the agent', async () => {
    await writeFile(join(folder, 'city.schema.yaml'), city)
    const script = 'steps: [{ text: "{\\"town\\":1}" }, { text: "{\\"city\\":\\"Oslo\\"}" }]'
    const file = await agent(
      'referring',
      script,
      'description: x\nmodels: script/referring.yaml\noutput: { schemaRef: ./city.schema.yaml }',
    )
    expect(await troupe(['run', join(folder, file), 'Go', '-q'])).toMatchObject({ code: 0, stdout: '{"city":"Oslo"}\n' })
  })

  test('a wrong or missing schema is reported with its place', async () => {
    await writeFile(join(folder, 'bad.schema.json'), '{\n  "type": "objekt"\n}')
    const settings = 'description: x\nmodels: script/hello.yaml\noutput: { schemaRef: bad.schema.json }'
    const wrong = await troupe(['run', await agent('bad-schema', '', settings), 'Go'])
    expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('bad.schema.json:2:11  `/type`: expected one of') })
    const absent = await troupe(['run', hello, 'Go', '--override=output.schemaRef=none.json'])
    expect(absent).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--override output.schemaRef  The schema `none.json` cannot be read'),
    })
  })

  test('an answer that ends its last line gets no second newline', async () => {
    const file = await agent('ended', 'steps: [{ text: "a\\nb\\n" }]')
    expect((await troupe(['run', file, 'Go', '-q'])).stdout.replace(/\n$/, '')).toBe('a\nb')
  })
})

describe('--dry-run', () => {
  const nowhere = { env: { XDG_STATE_HOME: join(folder, 'untouched') } }

  test('says what would run; asks, starts and keeps nothing', async () => {
    const file = await agent(
      'planned',
      'steps: [{ fault: auth }]',
      'description: Plans trips\nmodels: [script/planned.yaml, rehearsal]\nlimits: { timeBudget: 10m }',
    )
    const ended = await troupe(['run', file, 'A weekend', '--dry-run', '--override', 'parameters.temperature=0.2'], nowhere)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout.replaceAll(folder, '…')).toMatchInlineSnapshot(`
      "This would run. No model was called and nothing was stored.

        agent       planned (planned.ai): Plans trips
        models      1. script/planned.yaml
                    2. rehearsal (resolves to rehearsal/rules)
        parameters  temperature=0.2
        limits      maxToolTurns=10, timeBudget=10m, llmTimeout=2m, idleTimeout=1m, replyTimeout=15m,
                    toolTimeout=1m, maxRetries=3, parallelToolCalls=4, maxOutputBytes=32KB, maxDepth=3,
                    maxChildren=32, parallelChildren=4
        output      markdown
        tools       none
        prompt      15 characters in the file, 9 in the request
        journal     …/untouched/troupe
      "
    `)
    expect(existsSync(join(folder, 'untouched'))).toBe(false)
  })

  test('--json makes a document of it', async () => {
    const ended = await troupe(['run', hello, 'Hi', '--dry-run', '--json'], nowhere)
    expect(documentIn(ended.stdout)).toMatchObject({
      ok: true,
      dryRun: true,
      agent: { name: 'hello', file: 'hello.ai', promptChars: 15 },
      models: [{ name: 'script/hello.yaml', id: 'script/hello.yaml' }],
      output: { format: 'markdown' },
      requestChars: 2,
      journal: join(folder, 'untouched/troupe'),
    })
    expect(existsSync(join(folder, 'untouched'))).toBe(false)
  })

  test.each([
    ['a file that is wrong', ['nothing.ai', 'Hi'], 2],
    ['a model that is not there', [noModel, 'Hi'], 3],
    ['a prompt that is missing', [hello], 2],
    ['a setting that is wrong', [hello, 'Hi', '--override=limits.maxCalls=-1'], 2],
  ] as const)('finds %s', async (_name, args, code) => {
    const ended = await troupe(['run', ...args, '--dry-run', '--json'], nowhere)
    expect(documentIn(ended.stdout)).toMatchObject({ ok: false, exitCode: code })
    expect(ended.code).toBe(code)
  })
})

describe('standard error', () => {
  const escapes = (text: string): readonly string[] =>
    text
      .split('\u001b')
      .slice(1)
      .map((each) => each.match(/^[^a-zA-Z]*[a-zA-Z]/)?.[0] ?? each)

  test('--color=always colours a pipe, and moves nothing about in it', async () => {
    const ended = await troupe(['run', hello, 'Hi', '--color=always'], { env: { NO_COLOR: '1', TERM: 'dumb' } })
    expect(ended.stdout).toBe('Hello.\n')
    expect(escapes(ended.stderr).length).toBeGreaterThan(0)
    expect(escapes(ended.stderr).filter((each) => !each.endsWith('m'))).toEqual([])
    const wrong = await troupe(['run', '--color=always'])
    expect(escapes(wrong.stderr).length).toBeGreaterThan(0)
  })

  test.each(['auto', 'never'])('--color=%s leaves a pipe without an escape', async (when) => {
    expect(escapes((await troupe(['run', hello, 'Hi', `--color=${when}`])).stderr)).toEqual([])
  })

  test('--log-format json: every line is a document with time, level and message', async () => {
    const runs = await Promise.all([
      troupe(['run', hello, 'Hi', '-v', '--log-format=json']),
      troupe(['run', 'refused.ai', 'Hi', '--log-format', 'json']),
      troupe(['run', 'none.ai', 'Hi', '--log-format=json']),
      troupe(['run', '--log-format=json']),
    ])
    expect(runs.map(({ code }) => code)).toEqual([0, 3, 2, 2])
    for (const { stderr } of runs) {
      expect(stderr).not.toBe('')
      for (const line of stderr.trimEnd().split('\n')) {
        expect(JSON.parse(line)).toMatchObject({
          time: expect.stringMatching(/^\d{4}-.*Z$/),
          level: expect.any(String),
          msg: expect.any(String),
        })
      }
    }
    expect(JSON.parse(runs[2].stderr)).toMatchObject({ level: 'error', code: 'agent_file_invalid', problems: [{ place: 'none.ai' }] })
  })

  test('--quiet is silent, but for errors', async () => {
    expect((await troupe(['run', hello, 'Hi', '--quiet'])).stderr).toBe('')
    const ended = await troupe(['run', 'refused.ai', 'Hi', '-q'])
    expect(ended.stderr).toMatch(/^error: .*\n/)
  })

  test('--verbose prints the run, its models and its journal', async () => {
    const { stderr } = await troupe(['run', hello, 'Hi', '--verbose'])
    expect(stderr).toMatch(/^session \S+\nmodels script\/hello\.yaml\njournal in .*\/state\/troupe\n/)
  })

  test('--verbose prints the causes of an error', async () => {
    const args = ['run', noModel, 'Hi', '--model', 'script/none.yaml']
    expect((await troupe(args)).stderr).not.toContain('ENOENT')
    expect((await troupe([...args, '-v'])).stderr).toContain('caused by Error: ENOENT')
  })
})

describe('--stream-json', () => {
  test.each([
    ['--jsn', 2, 'usage'],
    ['--override=x=1', 2, 'usage'],
    ['--model=nowhere/x', 3, 'model_unknown'],
    ['--data-dir=hello.ai/x', 2, 'config_invalid'],
  ] as const)('says in one line that nothing could be started: %s', async (flag, code, error) => {
    const ended = await troupe(['run', hello, 'Hi', '--stream-json', flag])
    expect(linesIn(ended.stdout)).toMatchObject([{ type: 'run.failed', ok: false, error: { code: error }, exitCode: code }])
    expect(ended.code).toBe(code)
  })
})

describe('troupe demo', () => {
  test('--json and --quiet', async () => {
    const ended = await troupe(['demo', '--json', '--quiet'])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(documentIn(ended.stdout)).toMatchObject({ ok: true, status: 'completed', exitCode: 0 })
  })
})

describe('--help about an agent', () => {
  test('shows what it is, and settings that make the same agent again', async () => {
    const { stdout, code, stderr } = await troupe(['run', hello, '--help', '--override', 'limits.maxToolTurns=4'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^hello: A test\n\nUsage\n {2}troupe run hello\.ai PROMPT/)
    const [frontmatter] = /^---\n[\s\S]*?\n---$/m.exec(stdout) ?? []
    await writeFile(join(folder, 'again.ai'), `${frontmatter}\nYou are tested.`)
    const settingsOf = async (...args: string[]) => {
      const { agent: _name, ...settings } = {
        agent: {},
        ...documentIn((await troupe(['run', ...args, 'Hi', '--dry-run', '--json'])).stdout),
      }
      return settings
    }
    expect(await settingsOf('again.ai')).toEqual(await settingsOf(hello, '--override', 'limits.maxToolTurns=4'))
  })

  test('reports its problems', async () => {
    expect(await troupe(['run', 'none.ai', '--help'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('no such file'),
    })
  })
})
