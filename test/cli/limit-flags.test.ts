import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { documentIn } from './published.ts'
import { workbench } from './troupe.ts'

const { agent, troupe, folder } = await workbench()

/** Calls a tool that there is not, for as long as it is asked; each reply takes 500 tokens in and 500 out. */
const eager = await agent(
  'eager',
  `steps: [${'{ text: As far as I came., calls: [{ tool: none }], usage: { input: 500, output: 500 } }, '.repeat(9)}]`,
)
const slow = await agent('slow', 'steps: [{ text: never, delay: 1h }]')

describe('a limit with a flag of its own bites: exit code 5', () => {
  const lines: readonly [args: readonly string[], says: object][] = [
    [['run', eager, 'Go', '--max-tokens', '1500'], { reason: 'tokens' }],
    [['run', slow, 'Go', '--time-budget', '200ms'], { reason: 'time' }],
  ]
  test.each(lines)('%j', async (args, says) => {
    const { code, stdout } = await troupe([...args, '--json', '-q'])
    expect(documentIn(stdout)).toMatchObject({ ...says, exitCode: 5 })
    expect(code).toBe(5)
  })

  test('--max-cost, with a model that has a price', async () => {
    let asked = 0
    const server = createServer(async (request, response) => {
      const { tools, tool_choice: choice } = JSON.parse((await request.toArray()).join(''))
      const call = { index: 0, id: `c${asked++}`, type: 'function', function: { name: 'none', arguments: '{}' } }
      // Whoever may no longer call has to answer.
      const isLast = tools === undefined || choice === 'none'
      const delta = isLast ? { content: 'As far as I came.' } : { tool_calls: [call] }
      const chunk = (more: object): string => `data: ${JSON.stringify({ id: 'x', created: 1, model: 'large', ...more })}\n\n`
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk({ choices: [{ index: 0, delta: { role: 'assistant', ...delta } }] }))
      response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: isLast ? 'stop' : 'tool_calls' }] }))
      response.write(chunk({ choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 } }))
      response.end('data: [DONE]\n\n')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    afterAll(() => server.close())
    await agent('helper', '', 'description: x\nusage: x\nmodels: lab/large\noutput: { format: text }')
    const limits = 'limits: { maxRetries: 0, maxCostUsd: 5 }'
    const file = await agent('paid', '', `description: x\nmodels: lab/large\nagents: [./helper.ai]\n${limits}`)
    await mkdir(join(folder, '.ai-agent'), { recursive: true })
    await writeFile(
      join(folder, '.ai-agent', '.ai-agent.json'),
      JSON.stringify({
        providers: { lab: { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` } },
        // A cent for each reply.
        pricing: { 'lab/large': { input: 5, output: 5 } },
      }),
    )
    const { code, stdout } = await troupe(['run', file, 'Go', '--max-cost', '0.02', '--json', '-q'])
    expect(documentIn(stdout)).toMatchObject({ reason: 'cost', exitCode: 5 })
    expect([code, asked]).toEqual([5, 2])
  })
})

describe('who has the last word', () => {
  const limitsOf = async (args: readonly string[], env: { readonly [name: string]: string } = {}) => {
    const { stdout } = await troupe(['run', 'modest.ai', 'Go', '--dry-run', '--json', '-q', ...args], { env })
    return documentIn(stdout)
  }

  test('a flag, then a variable, then the file', async () => {
    await agent(
      'modest',
      'steps: [{ text: Hi. }]',
      'description: x\nmodels: script/modest.yaml\nlimits: { maxTokens: 1000, timeBudget: 1m }',
    )
    const env = { TROUPE_LIMITS_MAX_TOKENS: '2000' }
    expect(await limitsOf([])).toMatchObject({ limits: { maxTokens: 1000, timeBudget: 60_000 } })
    expect(await limitsOf([], env)).toMatchObject({ limits: { maxTokens: 2000 } })
    expect(await limitsOf(['--max-tokens=3000', '--time-budget', '2m'], env)).toMatchObject({
      limits: { maxTokens: 3000, timeBudget: 120_000 },
    })
  })

  test('two flags for the same setting are reported, and so are the problems of each', async () => {
    const wrong = await troupe([
      'run',
      eager,
      'Go',
      '--max-tokens=5',
      '--override=limits.maxTokens=6',
      '--time-budget=soon',
      '--max-cost=dear',
    ])
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    expect(wrong.stderr).toMatchInlineSnapshot(`
      "error: The command line has 3 problems.

        --max-tokens  --override sets \`limits.maxTokens\` too.
          → Remove one of them.

        --time-budget  \`limits.timeBudget\` must be a duration of at least 1ms, not "soon".
          → Write it like \`500ms\`, \`30s\`, \`10m\` or \`2h\`.

        --max-cost  \`limits.maxCostUsd\` must be a number from 0 to 1000000, not "dear".
          → Write --max-cost=0.50.
      "
    `)
    const twice = await troupe(['run', eager, 'Go', '--jsn', '--max-tokens=few'])
    expect(twice.stderr).toContain('--jsn')
    expect(twice.stderr).toContain('--max-tokens  `limits.maxTokens` must be')
  })

  test('--help about an agent includes them', async () => {
    const { stdout } = await troupe(['run', eager, '--help', '--max-cost', '0.25'])
    expect(stdout).toMatch(/maxCostUsd: 0\.25/)
  })
})
