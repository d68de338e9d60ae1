// `troupe up` as it was built: supervisor and kernel in processes of their own. A person talks to it over a channel of the test, which is
// an extension in the folder of the person. The models are on a server of the test.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { OutgoingMessage } from '../../../src/contracts/index.ts'
import { extensionData } from '../../../src/kernel/project-extensions.ts'
import { Growing } from '../../growing.ts'
import { type Ended, runCommand } from '../../run-command.ts'
import { bodyOf, type Provider, type Script, scriptedProvider } from './scripted-provider.ts'

export const binary = join(import.meta.dirname, '../../../bin/troupe.mjs')

export type Files = { readonly [path: string]: string }

export interface Place {
  /** The folder of the project. */
  readonly project: string
  readonly home: string
  readonly env: { readonly XDG_STATE_HOME: string; readonly [name: string]: string }
  readonly provider: Provider
  write(files: Files): void
  /** In this process. */
  troupe(args: readonly string[], stdin?: string): Promise<Ended>
}

export interface PlaceOptions {
  readonly script: Script
  /** Whether untrusted extensions have a sandbox. Without it the machine is bare. */
  readonly hasSandbox?: boolean
  /** In the configuration of the person. */
  readonly config?: object
}

const cleanups: (() => void)[] = []
/** For `afterAll` of each test file: modules are shared, and a hook here would belong to the first file alone. */
export function endAssistants(): void {
  for (const clean of cleanups.splice(0).reverse()) clean()
}

export async function openPlace({ script, hasSandbox = false, config = {} }: PlaceOptions): Promise<Place> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-up-')))
  const [project, home] = [join(folder, 'project'), join(folder, 'home')]
  mkdirSync(project)
  const provider = await scriptedProvider(script)
  cleanups.push(
    () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
    () => provider.close(),
  )
  const write = (files: Files): void => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  const providers = { openrouter: { baseURL: provider.url, apiKey: 'none-needed-here' } }
  write({ 'home/.ai-agent/.ai-agent.json': JSON.stringify({ providers, ...config }) })
  const env = {
    PATH: hasSandbox ? (process.env.PATH ?? '') : join(folder, 'nothing'),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    HOME: home,
    XDG_STATE_HOME: join(folder, 'state'),
  }
  return { project, home, env, provider, write, troupe: (args, stdin = '') => runCommand(project, args, { env, stdin }) }
}

export interface Assistant extends Place {
  readonly supervisor: ChildProcess
  /** The process of the kernel that runs now. */
  pid(): number
  /** How many have started, with the channel of the test. */
  kernels(): number
  /** Resolves with its process id when the kernel has started this often, with the channel of the test. */
  started(times: number): Promise<number>
  says(text: string, user?: string): Promise<void>
  /** The oldest message for this person that was not heard. */
  hears(user?: string): Promise<OutgoingMessage>
  /** The oldest with this text. */
  hearsOf(text: string | RegExp, user?: string): Promise<OutgoingMessage>
  /** A message and the answer to it. Questions before the answer are answered with `consent`. Notices are left. */
  asks(text: string, consent?: string): Promise<string>
  /** The folder for the files of an extension. */
  dataOf(id: string): string
  /** Where its server is now. */
  url(): string
  fetch(path: string, json?: unknown): Promise<Response>
  log(): string
  logs(text: string | RegExp): Promise<string>
}

/** Tells the test where it is, hands in what it gets, and delivers everything to the test. */
const deskCode = (url: string): string => `
import { createServer } from 'node:http'
const post = async (path, body) => {
  const response = await fetch('${url}' + path, { method: 'POST', body: JSON.stringify(body) })
  if (!response.ok) throw new Error('The test is gone')
}
export class Desk {
  initialize(context) {
    this.context = context
  }
  async start() {
    this.server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      try {
        await this.context.onUserMessage(JSON.parse(body))
        response.end()
      } catch (error) {
        response.writeHead(500).end(String(error))
      }
    })
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    await post('/hello', { port: this.server.address().port, pid: process.pid })
  }
  stop() {
    this.server.closeAllConnections()
    this.server.close()
  }
  async sendToUser(userId, message) {
    await post('/message', { userId, message })
  }
}
`

export interface AssistantOptions extends PlaceOptions {
  /** Extensions of the person: trusted. */
  readonly extensions?: Files
  /** Extensions of the project that the person trusts. */
  readonly trusts?: readonly string[]
  /** Before the start. */
  before?(place: Place): void | Promise<void>
}

export async function startAssistant(options: AssistantOptions): Promise<Assistant> {
  const place = await openPlace(options)
  const desk = await openDesk()
  cleanups.push(() => desk.close())
  const extensions = {
    ...options.extensions,
    'desk/manifest.yaml': manifest('desk', { entrypoint: 'main:Desk' }),
    'desk/main.js': deskCode(desk.url),
  }
  place.write(Object.fromEntries(Object.entries(extensions).map(([path, text]) => [`home/.ai-agent/extensions/${path}`, text])))
  await options.before?.(place)
  if (options.trusts) await place.troupe(['extensions', 'trust', ...options.trusts])
  const supervisor = spawn(process.execPath, [binary, 'up', '--port', '0'], {
    cwd: place.project,
    env: place.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  cleanups.push(() => supervisor.kill('SIGKILL'))
  const log = new Growing('')
  for (const stream of [supervisor.stdout, supervisor.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => log.set(log.value + text))
  const gone = once(supervisor, 'exit').then(() => Promise.reject(new Error('troupe up has ended')))
  gone.catch(() => undefined)
  const failing = <T>(work: Promise<T>): Promise<T> =>
    Promise.race([work, gone]).catch((error: unknown) => Promise.reject(new Error(`${String(error)}\n${log.value}`)))
  const assistant: Assistant = {
    ...place,
    supervisor,
    pid: () => desk.kernels.value.at(-1)?.pid ?? 0,
    kernels: () => desk.kernels.value.length,
    started: (times) => failing(desk.kernels.until((kernels) => kernels[times - 1]?.pid, `start ${times}`)),
    async says(text, user = 'ada') {
      const port = await failing(desk.kernels.until((kernels) => kernels.at(-1)?.port, 'a kernel'))
      const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: JSON.stringify({ userId: user, text }) })
      if (!response.ok) throw new Error(await response.text())
    },
    hears: (user = 'ada') => failing(desk.next(user, () => true, 'a message')),
    hearsOf: (text, user = 'ada') =>
      failing(
        desk.next(user, (message) => (typeof text === 'string' ? message.text.includes(text) : text.test(message.text)), String(text)),
      ),
    async asks(text, consent) {
      for (let said = text; ; said = consent ?? '') {
        await assistant.says(said)
        const { kind, text: heard } = await failing(desk.next('ada', ({ kind }) => kind === 'answer' || kind === 'question', 'an answer'))
        if (kind === 'answer') return heard
        if (consent === undefined) throw new Error(`Nobody expected to be asked: ${heard}`)
      }
    },
    dataOf: (id) => join(extensionData(join(place.env.XDG_STATE_HOME, 'troupe'), place.project), id),
    url: () => JSON.parse(lastListening(log.value)).url ?? '',
    async fetch(path, json) {
      const { url, tokenFile } = JSON.parse(lastListening(log.value))
      const token = readFileSync(tokenFile, 'utf8').trim()
      return fetch(`${url}${path}`, {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
      })
    },
    log: () => log.value,
    logs: (text) => failing(log.until((all) => all.split('\n').find((line) => line.match(text)), String(text))),
  }
  await assistant.started(1)
  return assistant
}

const lastListening = (log: string): string => log.split('\n').findLast((line) => line.includes('"msg":"listening"')) ?? '{}'

export const manifest = (id: string, { entrypoint, more = '' }: { readonly entrypoint?: string; readonly more?: string } = {}): string =>
  `id: ${id}\nname: ${id}\nversion: "1.0.0"\ndescription: The extension ${id}\n${entrypoint ? `entrypoint: ${entrypoint}\n` : ''}${more}`

interface Delivered {
  readonly userId: string
  readonly message: OutgoingMessage
}

async function openDesk() {
  const kernels = new Growing<readonly { readonly port: number; readonly pid: number }[]>([])
  const messages = new Growing<readonly Delivered[]>([])
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await bodyOf(request))
    if (request.url === '/hello') kernels.set([...kernels.value, body])
    else messages.set([...messages.value, body])
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    kernels,
    /** Removes it. */
    async next(user: string, matches: (message: OutgoingMessage) => boolean, what: string): Promise<OutgoingMessage> {
      const isWanted = ({ userId, message }: Delivered): boolean => userId === user && matches(message)
      const found = await messages
        .until((all) => all.find(isWanted), `${what} for ${user}`)
        .catch((error: unknown) => {
          throw new Error(`${String(error)}\nMessages: ${JSON.stringify(messages.value, undefined, 1)}`)
        })
      messages.set(messages.value.filter((each) => each !== found))
      return found.message
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
