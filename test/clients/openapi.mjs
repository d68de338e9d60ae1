// Tools of others read /openapi.json of a real `troupe serve`, generate clients, and these call it.
// It installs them in exact versions in a temporary folder, and is no part of `npm test`:
//
//   npm run build && npx node test/clients/openapi.mjs
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const packages = [
  '@redocly/cli@2.77.0',
  '@apidevtools/swagger-parser@13.1.0',
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  '@hey-api/openapi-ts@0.99.0',
  // openapi-typescript needs the compiler interface of TypeScript 5.
  'typescript@5.9.3',
  '@types/node@24.19.2',
]

const fetchClient = `
import createClient from 'openapi-fetch'
import type { components, paths } from './api'

type Event = components['schemas']['StreamEvent']
const textOf = (event: Event): string => (event.type === 'interaction.turn.completed' ? event.report.text : '')

async function main(): Promise<void> {
  const client = createClient<paths>({ baseUrl: process.env.URL!, headers: { authorization: 'Bearer ' + process.env.TOKEN } })
  const started = await client.POST('/v1/sessions', { body: { agent: 'clerk', input: 'Hello', labels: ['typed'] } })
  const id: string = started.data!.sessionId
  const stream = await client.GET('/v1/sessions/{id}/events', {
    params: { path: { id }, query: { until: 'turn' } }, headers: { accept: 'text/event-stream' }, parseAs: 'text',
  })
  if (!stream.response.ok) throw new Error('no stream')
  const page = await client.GET('/v1/sessions/{id}/events', { params: { path: { id } } })
  const text = (page.data as { events: Event[] }).events.map(textOf).join('')
  const shown = await client.GET('/v1/sessions/{id}', { params: { path: { id } } })
  const status: 'completed' | string = shown.data!.session.status
  const list = await client.GET('/v1/sessions', { params: { query: { label: ['typed'] } } })
  const missing = await client.GET('/v1/sessions/{id}', { params: { path: { id: 'nothing' } } })
  // @ts-expect-error the document has no such field
  void shown.data!.session.nothing
  console.log('openapi-fetch:', status, JSON.stringify(text), list.data!.sessions.length, missing.error!.error.code)
}
void main()
`

const heyClient = `
import { client } from './hey/client.gen'
import { deleteSessionsById, getSessions, getSessionsById, getWatch, postByAgent, postSessions } from './hey/sdk.gen'

async function main(): Promise<void> {
  client.setConfig({ baseUrl: process.env.URL!, headers: { authorization: 'Bearer ' + process.env.TOKEN } })
  const answer = await postByAgent({ path: { agent: 'clerk' }, body: { input: 'Hello' }, throwOnError: true })
  const text: string | undefined = 'text' in answer.data ? answer.data.text : undefined
  const watched = await getWatch()
  const changed = watched.stream.next()
  const started = await postSessions({ body: { agent: 'clerk', input: 'Hello' }, throwOnError: true })
  const event = await changed
  const shown = await getSessionsById({ path: { id: started.data.sessionId }, throwOnError: true })
  const title: string = shown.data.session.title
  const list = await getSessions({ query: { limit: 10 }, throwOnError: true })
  await deleteSessionsById({ path: { id: started.data.sessionId }, throwOnError: true })
  console.log('@hey-api/openapi-ts:', JSON.stringify(text), title, list.data.sessions.length, typeof event.value)
  process.exit(0)
}
void main()
`

const folder = await mkdtemp(join(tmpdir(), 'troupe-openapi-'))
const tool = (name) => join(folder, 'node_modules', '.bin', name)

function run(command, args, env = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  return stdout
}

/** Standard error is the log, as JSON. */
async function startServer() {
  await writeFile(join(folder, 'clerk.ai'), '---\ndescription: Answers\nusage: Hello\nmodels: rehearsal\n---\nYou are a clerk.\n')
  const binary = join(import.meta.dirname, '..', '..', 'bin', 'troupe.mjs')
  const child = spawn(process.execPath, [binary, 'serve', '--agent', 'clerk.ai', '--port', '0', '--data-dir', join(folder, 'data')], {
    cwd: folder,
    env: { ...process.env, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  for await (const line of createInterface({ input: child.stderr })) {
    if (!line.includes('"msg":"listening"')) continue
    const { url, tokenFile } = JSON.parse(line)
    child.stderr.resume()
    return { child, url, token: (await readFile(tokenFile, 'utf8')).trim() }
  }
  throw new Error('troupe serve has ended')
}

async function check({ url, token }) {
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text())
  run(tool('redocly'), ['lint', 'openapi.json'])
  console.log('@redocly/cli lint: valid')
  run(process.execPath, [
    '-e',
    `require('@apidevtools/swagger-parser').validate('openapi.json').catch((e) => { console.error(e); process.exit(1) })`,
  ])
  console.log('@apidevtools/swagger-parser: valid')
  run(tool('openapi-typescript'), ['openapi.json', '-o', 'api.d.ts'])
  run(tool('openapi-ts'), ['-i', `${url}/openapi.json`, '-o', 'hey'])
  await writeFile(join(folder, 'fetch-client.ts'), fetchClient)
  await writeFile(join(folder, 'hey-client.ts'), heyClient)
  const options = ['--strict', '--target', 'es2022', '--module', 'commonjs', '--moduleResolution', 'node10', '--skipLibCheck']
  run(tool('tsc'), [...options, '--lib', 'es2022,dom,dom.iterable', '--outDir', 'out', 'api.d.ts', 'fetch-client.ts', 'hey-client.ts'])
  console.log('openapi-typescript, @hey-api/openapi-ts: generated and compiled')
  for (const client of ['fetch-client', 'hey-client'])
    process.stdout.write(run(process.execPath, [`out/${client}.js`], { URL: url, TOKEN: token }))
}

try {
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  run('npm', ['install', '--no-audit', '--no-fund', '--save-exact', ...packages])
  const server = await startServer()
  try {
    await check(server)
  } finally {
    const ended = once(server.child, 'exit')
    server.child.kill('SIGTERM')
    await ended
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
