import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { outcomeDocument } from '../../src/cli/commands/output/run-documents.ts'
import { main } from '../../src/cli/main.ts'
import { exitCodeOf, exitCodes } from '../../src/cli/terminal/exit-codes.ts'
import { Output } from '../../src/cli/terminal/output.ts'
import { plainPaint } from '../../src/cli/terminal/paint.ts'
import type { Host } from '../../src/cli/terminal/process-host.ts'
import { type Approver, createAgentRuntime } from '../../src/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { documentIn, linesIn } from './published.ts'
import { workbench } from './troupe.ts'

const { agent, start, troupe } = await workbench()

const endless = `steps: [${'{ text: As far as I came., calls: [{ tool: none }] }, '.repeat(4)}]`
const noJson = 'description: x\nmodels: script/no-json.yaml\noutput: { format: json }'
const noRetries = ['--override', 'limits.maxRetries=0']

/** Every exit code that a process can be brought to, on purpose. */
const endings: readonly {
  readonly name: string
  readonly script?: string
  readonly settings?: string
  readonly args?: readonly string[]
  readonly code: number
  readonly says: object
}[] = [
  { name: 'answered', script: 'steps: [{ text: Yes. }]', code: 0, says: { status: 'completed' } },
  {
    name: 'no-json',
    script: `steps: [${'{ text: no JSON at all }, '.repeat(12)}]`,
    settings: noJson,
    code: 1,
    says: { status: 'failed', reason: 'invalid_output' },
  },
  { name: 'bad-flag', script: 'steps: [{ text: Yes. }]', args: ['--model'], code: 2, says: { error: { code: 'usage' } } },
  { name: 'bad-file', settings: 'description: x\nmodls: a', code: 2, says: { error: { code: 'agent_file_invalid' } } },
  { name: 'bad-script', script: 'steps: 7', code: 2, says: { error: { code: 'script_invalid' } } },
  { name: 'used-up', script: 'steps: [{ calls: [{ tool: none }] }]', code: 2, says: { failure: { class: 'config' } } },
  { name: 'no-model', settings: 'description: x\nmodels: nowhere/x', code: 3, says: { error: { code: 'model_unknown' } } },
  { name: 'no-key', settings: 'description: x\nmodels: openai/gpt-5', code: 3, says: { error: { code: 'model_key_missing' } } },
  { name: 'auth', script: 'steps: [{ fault: auth }]', code: 3, says: { failure: { class: 'auth' } } },
  { name: 'quota', script: 'steps: [{ fault: quota }]', code: 4, says: { failure: { class: 'quota' } } },
  { name: 'network', script: 'steps: [{ fault: network }]', args: noRetries, code: 4, says: { failure: { class: 'network' } } },
  { name: 'rate-limit', script: 'steps: [{ fault: rate_limit }]', args: noRetries, code: 4, says: { failure: { class: 'rate_limit' } } },
  {
    name: 'cut',
    script: 'steps: [{ text: Half, fault: cut }]',
    args: noRetries,
    code: 4,
    says: { failure: { class: 'invalid_response' } },
  },
  {
    name: 'silence',
    script: 'steps: [{ text: Half, fault: silence }]',
    args: [...noRetries, '--override', 'limits.idleTimeout=50ms'],
    code: 4,
    says: { failure: { class: 'timeout' } },
  },
  { name: 'steps', script: endless, args: ['--override', 'limits.maxToolTurns=2'], code: 5, says: { status: 'partial', reason: 'steps' } },
  {
    name: 'too-few-steps',
    script: endless,
    args: ['--max-steps', '1'],
    code: 5,
    says: {
      status: 'partial',
      reason: 'steps',
      diagnostics: [{ code: 'limit_reached', remedy: expect.stringContaining('--max-steps') }],
    },
  },
  ...[500, 40].map((tokens) => ({
    name: `no-json-within-${tokens}`,
    script: `steps: [${'{ text: no JSON at all }, '.repeat(12)}]`,
    settings: noJson.replace('no-json', `no-json-within-${tokens}`),
    args: ['--max-tokens', String(tokens)],
    code: 5,
    says: {
      status: 'failed',
      reason: 'tokens',
      message: expect.stringContaining(`limits.maxTokens of no-json-within-${tokens} is ${tokens}`),
      remedy: `Raise limits.maxTokens of no-json-within-${tokens} (on the command line: --max-tokens).`,
      diagnostics: [{ code: 'limit_reached', severity: 'error' }],
    },
  })),
  { name: 'calls', script: endless, args: ['--override', 'limits.maxCalls=1'], code: 5, says: { status: 'partial', reason: 'calls' } },
  {
    name: 'time',
    script: 'steps: [{ text: never, delay: 1h }]',
    args: ['--override', 'limits.timeBudget=200ms'],
    code: 5,
    says: { reason: 'time' },
  },
]

describe.concurrent('every exit code, with its document and its stream', () => {
  test.each(endings)('$name: $code', async ({ name, script = '', settings, args = [], code, says }) => {
    const file = await agent(name, script, settings)
    const [asDocument, asStream] = await Promise.all([
      troupe(['run', file, 'Go', '-q', '--json', ...args]),
      troupe(['run', file, 'Go', '-q', '--stream-json', ...args]),
    ])
    expect([asDocument.code, asStream.code]).toEqual([code, code])
    expect(documentIn(asDocument.stdout)).toMatchObject({ ...says, exitCode: code })
    const end = linesIn(asStream.stdout).at(-1)
    expect({ ...end, ...end?.outcome }).toMatchObject({ ...says, exitCode: code })
    const isAnswered = end?.outcome?.status === 'completed' || end?.outcome?.status === 'partial'
    expect(end?.type).toBe(isAnswered ? 'run.completed' : 'run.failed')
    expect(`${asDocument.stderr}${asStream.stderr}`).not.toContain('\u001b')
  })

  test('a connection that is refused: 4, and no tokens', async () => {
    const file = await agent('refused', '', 'description: x\nmodels: lab/model\nlimits: { maxTokens: 20000 }')
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const { code, stdout } = await troupe(['run', file, 'Go', '-q', '--json', '--max-tokens', '20000', ...noRetries], {
      env: { LAB_BASE_URL: `http://127.0.0.1:${port}/v1` },
    })
    const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
    const { usage, cost, accounting } = JSON.parse(stdout)
    expect({ code, usage, cost }).toEqual({ code: 4, usage: nothing, cost: 0 })
    expect(accounting).toMatchObject([{ usage: nothing, cost: 0, failure: { class: 'network', unsent: true } }])
  })

  test('interrupted: 130', async () => {
    const run = start(['run', await agent('slow', 'steps: [{ text: never, delay: 1h }]'), 'Go', '--stream-json', '--log-format=json'])
    await run.says('model request')
    run.process.kill('SIGINT')
    const { code, stdout } = await run.ended
    expect(code).toBe(130)
    expect(linesIn(stdout).at(-1)).toMatchObject({ type: 'run.failed', ok: false, outcome: { status: 'interrupted' }, exitCode: 130 })
  })
})

describe('an approval: 6', () => {
  // No tool that comes with Troupe asks for one yet, so these runs are started by a program.
  const decisions: readonly (readonly [name: string, approver: Approver, status: string])[] = [
    ['is needed', { decide: () => 'suspend' }, 'suspended'],
    ['was denied for good', { decide: () => ({ decision: { kind: 'abort' }, by: 'test' }) }, 'interrupted'],
  ]
  test.each(decisions)('%s', async (_name, approver, status) => {
    const runtime = createAgentRuntime({
      config: {
        agents: [{ name: 'a', description: 'd', prompt: 'p', model: 'm' }],
        tools: [
          {
            name: 'delete_it',
            description: 'd',
            inputSchema: { type: 'object' },
            approval: () => ({ keys: [{ key: 'k', label: 'k' }], summary: 'Delete it' }),
            execute: () => 'gone',
          },
        ],
      },
      adapter: new ScriptedModel([{ calls: [{ tool: 'delete_it' }] }]),
      approver,
    })
    onTestFinished(() => runtime.close())
    const outcome = await runtime.run('Go.')
    expect([outcome.status, exitCodeOf(outcome)]).toEqual([status, exitCodes.approval.code])
    expect(documentIn(`${JSON.stringify(outcomeDocument(outcome))}\n`)).toMatchObject({ ok: false, exitCode: 6 })
  })
})

test('standard output that cannot be written is reported: 1', async () => {
  const full = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('no space left'), { code: 'ENOSPC' })) })
  let stderr = ''
  const host: Host = {
    cwd: '/',
    env: {},
    stdin: Readable.from([]),
    stdout: new Output(full),
    stderr: new Output(
      new Writable({
        write(chunk, _encoding, done) {
          stderr += chunk
          done()
        },
      }),
    ),
    window: 'plain',
    paint: plainPaint,
    now: () => 0,
    width: 80,
    onInterrupt: () => () => {},
    exit: () => undefined as never,
  }
  expect(await main(['--help'], host)).toBe(1)
  expect(stderr).toContain('Standard output cannot be written: no space left.')
})
