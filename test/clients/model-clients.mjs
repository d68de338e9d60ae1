// Clients of OpenAI's and Anthropic's APIs against a real `troupe serve` whose models are scripts. Installs exact versions of the
// clients in temporary folders: it needs a registry, and is not part of `npm test`. Build first.
// Usage: node test/clients/model-clients.mjs [NAME…], for instance: ai-5 langchain-1
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installPackages } from './install-packages.mjs'
import { serveAgents } from './serve-agents.mjs'

const here = import.meta.dirname

const aiSdk = (ai, ofOpenAi, ofAnthropic) => ({
  check: 'ai-sdk.mjs',
  packages: { ai, '@ai-sdk/openai': ofOpenAi, '@ai-sdk/anthropic': ofAnthropic, zod: ai.startsWith('4') ? '3.25.76' : '4.6.7' },
})
const openai = (version) => ({ check: 'openai.mjs', packages: { openai: version } })
const anthropic = (version) => ({ check: 'anthropic.mjs', packages: { '@anthropic-ai/sdk': version } })
const langchain = (core, ofOpenAi, ofAnthropic) => ({
  check: 'langchain.mjs',
  packages: { '@langchain/core': core, '@langchain/openai': ofOpenAi, '@langchain/anthropic': ofAnthropic },
})

const clients = {
  'ai-4': aiSdk('4.3.19', '1.3.24', '1.2.12'),
  'ai-5': aiSdk('5.0.277', '2.0.131', '2.0.112'),
  'ai-6': aiSdk('6.0.326', '3.0.141', '3.0.138'),
  'ai-7': aiSdk('7.0.169', '4.0.114', '4.0.102'),
  'openai-4': openai('4.104.0'),
  'openai-5': openai('5.23.2'),
  'openai-6': openai('6.49.0'),
  'openai-7': openai('7.53.0'),
  'anthropic-0': anthropic('0.137.0'),
  'anthropic-1': anthropic('1.8.0'),
  'langchain-0': langchain('0.3.80', '0.6.17', '0.3.34'),
  'langchain-1': langchain('1.2.13', '1.6.0', '1.5.11'),
  'openai-agents-0': { check: 'openai-agents.mjs', packages: { '@openai/agents': '0.20.0', openai: '6.49.0', zod: '4.6.7' } },
}

const agents = {
  clerk: { steps: ['Hello from the clerk.', 'Hello again.', 'Hello a third time.'].map((text) => ({ text })) },
  json: { steps: [{ text: '{"city":"Oslo"}' }] },
  team: {
    settings: 'agents: [./helper.ai]\n',
    steps: [
      { reasoning: 'The helper knows.', text: 'I ask the helper.', calls: [{ tool: 'agent__helper', input: { prompt: 'How many?' } }] },
      { reasoning: 'Easy.', text: 'The helper said 42.' },
      { text: 'Again: 42.' },
    ],
  },
  coder: {
    steps: [
      {
        text: 'I look.',
        calls: [
          { tool: 'weather', input: { city: 'Oslo' } },
          { tool: 'weather', input: { city: 'Rome' } },
        ],
      },
      { calls: [{ tool: 'weather', input: { city: 'Bergen' } }] },
      { text: 'It rains.' },
    ],
  },
  object: { steps: [{ calls: [{ tool: 'place', input: { city: 'Oslo' } }] }] },
  desk: {
    steps: [
      { calls: [{ tool: 'transfer_to_Meteorologist', input: {} }] },
      { calls: [{ tool: 'weather', input: { city: 'Oslo' } }] },
      { text: 'It rains.' },
    ],
  },
  helper: { settings: 'output: { format: markdown }\n', steps: [{ text: '42' }] },
}

const wanted = process.argv.slice(2)
for (const name of wanted) if (!(name in clients)) throw new Error(`There is no client "${name}". Use: ${Object.keys(clients).join(', ')}.`)
const root = await mkdtemp(join(tmpdir(), 'troupe-clients-'))
const results = []
try {
  const server = await serve(join(root, 'project'))
  try {
    for (const name of wanted.length > 0 ? wanted : Object.keys(clients)) {
      for (const result of await checked(name, server.environment)) results.push({ client: name, ...result })
    }
  } finally {
    await server.close()
  }
} finally {
  await rm(root, { recursive: true, force: true })
}
for (const { client, name, ok, error } of results)
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${client.padEnd(16)} ${name}${ok ? '' : `\n     ${error}`}`)
const failed = results.filter(({ ok }) => !ok).length
console.log(`${results.length - failed} of ${results.length} passed`)
process.exitCode = failed > 0 ? 1 : 0

async function serve(folder) {
  await mkdir(folder)
  for (const [name, { settings = '', steps }] of Object.entries(agents)) {
    await writeFile(
      join(folder, `${name}.ai`),
      `---\ndescription: A test\nusage: a question\nmodels: script/${name}.yaml\ntools: []\n${settings}---\nYou are tested.\n`,
    )
    await writeFile(join(folder, `${name}.yaml`), JSON.stringify({ steps }))
  }
  const server = await serveAgents(
    folder,
    ['clerk', 'json', 'team', 'coder', 'object', 'desk'].flatMap((name) => ['--agent', `${name}.ai`]),
  )
  return { environment: { TROUPE_URL: server.url, TROUPE_TOKEN: server.token }, close: server.close }
}

async function checked(name, environment) {
  const { check, packages } = clients[name]
  const folder = join(root, name)
  await installPackages(folder, packages)
  for (const file of await readdir(join(here, 'checks'))) await copyFile(join(here, 'checks', file), join(folder, file))
  const env = { PATH: process.env.PATH, HOME: folder, ...environment }
  const { stdout, stderr, failure } = await promisify(execFile)(process.execPath, [check], { cwd: folder, env, timeout: 60_000 }).catch(
    (error) => ({
      ...error,
      failure: error,
    }),
  )
  const lines = stdout.split('\n').filter((line) => line.startsWith('{"name"'))
  const ended = failure ? [{ name: 'the process', ok: false, error: stderr }] : []
  return [...lines.map((line) => JSON.parse(line)), ...ended]
}
