import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { knownProviders } from '../../src/models/known-providers.ts'
import { findModels } from '../../src/project/models/find-models.ts'
import { ownServers, serverProblem } from '../../src/project/models/local-servers.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { troupe } from './command.ts'
import { child, folder } from './folder.ts'

/** An address on this machine: of a server that lists these models, or of nobody. */
async function address(models?: readonly string[]): Promise<{ readonly host: string; readonly asked: readonly string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: models?.map((id) => ({ id })) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  if (models) afterAll(() => server.close())
  else await new Promise((resolve) => server.close(resolve))
  return { host: `127.0.0.1:${port}`, asked }
}

const project = (models: string) => folder({ 'a.ai': child().replace('a/b', models) }).path

describe('a server on this machine that a model needs', () => {
  test('and that is missing: doctor and --dry-run report it, with a remedy', async () => {
    const { host } = await address()
    const path = project('ollama/qwen3')
    const env = { OLLAMA_HOST: host }
    const [examined, rehearsed] = await Promise.all([
      troupe(path, ['doctor'], env),
      troupe(path, ['run', 'a.ai', 'Hi', '--dry-run', '--json'], env),
    ])
    expect(examined.code).toBe(1)
    expect(examined.stdout).toContain(
      `FAIL  models: ollama/qwen3: The model ollama/qwen3 needs a server at http://${host}/v1, which does not respond.\n      → Start the server`,
    )
    // A run would start: the server may be there when it is asked.
    expect(rehearsed.code).toBe(0)
    expect(rehearsed.stderr).toContain(`The model ollama/qwen3 needs a server at http://${host}/v1, which does not respond.`)
  })

  test('and that is running, or is one of several, is no problem; only its list is requested', async () => {
    const [here, gone] = await Promise.all([address(['qwen3:latest']), address()])
    const path = project('[ollama/qwen3, vllm/big, rehearsal]')
    const env = { OLLAMA_HOST: here.host, VLLM_BASE_URL: `http://${gone.host}/v1`, OLLAMA_API_KEY: 'k' }
    const rehearsed = await troupe(path, ['run', 'a.ai', 'Hi', '--dry-run', '--json'], env)
    expect(JSON.parse(rehearsed.stdout)).toMatchObject({
      ok: true,
      models: [{ name: 'ollama/qwen3' }, { name: 'vllm/big' }, { name: 'rehearsal' }],
    })
    expect(rehearsed.stderr).toContain(`The model vllm/big needs a server at http://${gone.host}/v1, which does not respond.`)
    expect(rehearsed.stderr).not.toContain('ollama')
    expect(here.asked).toEqual(['GET /v1/models Bearer k'])
    const examined = JSON.parse((await troupe(path, ['doctor', '--json'], env)).stdout)
    expect(examined.checks).toContainEqual(
      expect.objectContaining({ status: 'warning', what: 'models', fix: 'Start the server, or use another model.' }),
    )
  })

  test('a run itself contacts no server first', async () => {
    const { host, asked } = await address(['x'])
    await findModels(['ollama/qwen3'], { variables: { OLLAMA_HOST: host } })
    expect(asked).toEqual([])
  })

  test('one that lacks the model says which it has', async () => {
    const { host } = await address(['llama4', 'gemma'])
    const wrong = await serverProblem('fast', {
      variables: {},
      providers: { lab: { baseURL: `http://${host}/v1` } },
      aliases: { fast: 'lab/large' },
    })
    expect([wrong?.message, wrong?.remedy]).toEqual([
      `The server at http://${host}/v1 has no model large.`,
      'Load the model there, or use one that it has: llama4, gemma.',
    ])
  })

  test('is one of those that auto looks for, or of the configuration; not one that a variable alone names', async () => {
    expect(Object.keys(knownProviders).filter((name) => knownProviders[name]?.access === 'local')).toEqual(ownServers)
    const { host, asked } = await address(['x'])
    expect(await serverProblem('lab/large', { variables: { LAB_BASE_URL: `http://${host}/v1` } })).toBeUndefined()
    expect(asked).toEqual([])
  })

  test('is waited for as long as auto waits; no other machine is contacted', async () => {
    const clock = new FakeClock()
    const urls: string[] = []
    const reached = Promise.withResolvers<void>()
    const fetch: typeof globalThis.fetch = (url, init) => {
      urls.push(String(url))
      reached.resolve()
      return new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('gone'))))
    }
    const variables = { OLLAMA_HOST: 'http://10.1.2.3:11434', OPENAI_API_KEY: 'sk-1234567' }
    expect(await serverProblem('ollama/x', { variables, clock, fetch })).toBeUndefined()
    expect(await serverProblem('openai/gpt-5.4-mini', { variables, clock, fetch })).toBeUndefined()
    expect(await serverProblem('rehearsal', { variables, clock, fetch })).toBeUndefined()
    const readFile = async () => 'steps: [{ text: never, delay: 1h }]'
    expect(await serverProblem('script/slow.yaml', { variables, clock, fetch, readFile })).toBeUndefined()
    expect(urls).toEqual([])
    const asked = serverProblem('lmstudio/x', { variables, clock, fetch })
    await reached.promise
    expect(urls).toEqual(['http://127.0.0.1:1234/v1/models'])
    clock.advance(299)
    expect(await Promise.race([asked, Promise.resolve('still waiting')])).toBe('still waiting')
    clock.advance(1)
    expect((await asked)?.code).toBe('model_unavailable')
  })
})
