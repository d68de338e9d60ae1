// Coding agents complete a task with their own tools: edit a file, run a command. The model is a script; a Troupe agent is between the
// client and the model, once for each protocol of providers. Installs exact versions of the clients in a temporary folder: it needs a
// registry, and is not part of `npm test`. Build first.
// Usage: npx node test/clients/coding-agents.mjs [--direct] [--packages FOLDER] [NAME…], for instance: claude codex
//   --direct           without Troupe: the client asks the script
//   --packages FOLDER  install the clients there, and keep them for the next time
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { clients } from './coding-agents/clients.mjs'
import { scriptedProvider } from './coding-agents/scripted-provider.mjs'
import { answerTask, faultsOf, prompt, writeNotes } from './coding-agents/task.mjs'
import { installPackages } from './install-packages.mjs'
import { serveAgents } from './serve-agents.mjs'

const timeLimit = 60_000
const callsOfTask = 4
/** The agents that are served, each with a provider of this name and protocol. */
const agents = { 'coder-chat': 'openai-compatible', 'coder-responses': 'openai', 'coder-messages': 'anthropic' }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { direct: { type: 'boolean' }, packages: { type: 'string' } },
})
const unknown = positionals.find((name) => !(name in clients))
if (unknown) throw new Error(`There is no client "${unknown}". Use: ${Object.keys(clients).join(', ')}.`)
const wanted = positionals.length > 0 ? positionals : Object.keys(clients)

let running
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    interrupted = true
    endRunning()
  })

const root = await mkdtemp(join(tmpdir(), 'troupe-coding-agents-'))
const packages = resolve(values.packages ?? join(root, 'packages'))
let passed = 0
let failed = 0
try {
  await checkAll()
} finally {
  await rm(root, { recursive: true, force: true })
}
console.log(`${passed} of ${passed + failed} passed`)
process.exitCode = failed > 0 || interrupted ? 1 : 0

async function checkAll() {
  for (const name of wanted) await install(clients[name])
  let answer
  const provider = await scriptedProvider((conversation) => answer(conversation))
  const server = values.direct ? undefined : await serveInFrontOf(provider.url)
  const { url, token } = server ?? { url: provider.url, token: 'direct' }
  try {
    for (const name of wanted)
      for (const model of server ? Object.keys(agents) : ['scripted']) {
        if (interrupted) return
        const folder = join(root, name, model)
        const project = join(folder, 'project')
        await mkdir(project, { recursive: true })
        await writeNotes(project)
        answer = answerTask(clients[name].tools, project)
        provider.requests.length = 0
        const { output, ending } = await run(clients[name], folder, { url, token, model })
        const calls = provider.requests.flatMap(({ reply }) => reply?.calls ?? []).length
        report(`${name.padEnd(12)} ${model}`, output, [
          ...(ending === 'exit code 0' ? [] : [ending]),
          ...(await faultsOf(project, output)),
          ...(calls === callsOfTask ? [] : [`the model made ${calls} calls instead of ${callsOfTask}`]),
        ])
      }
  } finally {
    await server?.close()
    await provider.close()
  }
}

function report(name, output, faults) {
  if (faults.length === 0) passed += 1
  else failed += 1
  console.log(faults.length === 0 ? `ok   ${name}` : `FAIL ${name}: ${faults.join('; ')}`)
  if (faults.length > 0) for (const line of output.trim().split('\n').slice(-10)) console.log(`     ${line.slice(0, 300)}`)
}

async function install({ program, packages: versions }) {
  const folder = join(packages, program)
  if (!existsSync(join(folder, 'node_modules'))) await installPackages(folder, versions)
}

async function serveInFrontOf(providerUrl) {
  const folder = join(root, 'server')
  await mkdir(folder)
  const providers = Object.entries(agents).map(([name, kind]) => [name, { kind, baseURL: `${providerUrl}/v1`, apiKey: 'key' }])
  await writeFile(join(folder, 'config.json'), JSON.stringify({ providers: Object.fromEntries(providers) }))
  for (const name of Object.keys(agents))
    await writeFile(
      join(folder, `${name}.ai`),
      `---\ndescription: Writes code\nusage: a task\nmodels: ${name}/scripted\ntools: []\n---\nYou write code.\n`,
    )
  const files = Object.keys(agents).flatMap((name) => ['--agent', `${name}.ai`])
  return serveAgents(folder, ['--config', 'config.json', '--drain', '1s', ...files])
}

/** Runs the client in a process group of its own, so that nothing that it starts is left. */
async function run({ program, start }, folder, settings) {
  const home = join(folder, 'home')
  await mkdir(home)
  const { command, variables, files = {} } = start({ ...settings, home, prompt })
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), content)
  }
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, ...variables }
  const [file, ...flags] = command
  running = spawn(join(packages, program, file), flags, {
    cwd: join(folder, 'project'),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [running.stdout, running.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  const closed = once(running, 'close')
  const timer = setTimeout(endRunning, timeLimit)
  const ending = await new Promise((settle) => {
    running.once('error', ({ message }) => settle(message))
    running.once('exit', (code) => settle(code === null ? `killed (time limit: ${timeLimit / 1000} s)` : `exit code ${code}`))
  })
  clearTimeout(timer)
  endRunning()
  await closed
  return { output: stripVTControlCharacters(output), ending }
}

function endRunning() {
  try {
    if (running?.pid) process.kill(-running.pid, 'SIGKILL')
  } catch {
    // No process of the group is left.
  }
}
