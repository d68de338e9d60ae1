import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { quietHost } from './teams.ts'

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Variables of a command in a folder of tests, and nothing of the machine. */
export const variablesIn = (folder: string): { readonly [name: string]: string | undefined } => ({
  PATH: process.env.PATH,
  XDG_STATE_HOME: join(folder, 'state'),
})

/** `troupe …` in a folder, in this process: one after the other. */
export async function troupeIn(cwd: string, words: readonly string[], env: ReturnType<typeof variablesIn>): Promise<Said> {
  process.chdir(cwd)
  const { host, stdout, stderr } = quietHost()
  const code = await main(words, { ...host, env })
  return { code, stdout: stdout(), stderr: stderr() }
}

/** A folder that is a project: what stands above it says nothing. */
export async function makeProject(place: string): Promise<void> {
  await mkdir(join(place, '.git'), { recursive: true })
  await writeFile(join(place, '.git', 'HEAD'), 'ref: refs/heads/main\n')
}

export interface Call {
  readonly tool: string
  readonly input: { readonly [name: string]: unknown }
}

export interface AgentWishes {
  readonly name?: string
  readonly later?: readonly Call[]
}

/** An agent that makes these calls in one step, each later one in a step of its own, and then says Done. */
export async function makeAgent(place: string, calls: readonly Call[], { name = 'w', later = [] }: AgentWishes = {}): Promise<void> {
  await mkdir(place, { recursive: true })
  await writeFile(
    join(place, 'script.yaml'),
    JSON.stringify({ steps: [{ calls }, ...later.map((call) => ({ calls: [call] })), { text: 'Done.' }, { text: 'Again.' }] }),
  )
  const tools = '[write_file, shell, ask_user]'
  await writeFile(join(place, `${name}.ai`), `---\ndescription: x\nmodels: script/script.yaml\ntools: ${tools}\n---\nWork.\n`)
}

/** The session of a run that waits, from its document. */
export function sessionIdOf(said: Said): string {
  expect(said).toMatchObject({ code: 6 })
  return (JSON.parse(said.stdout) as { readonly sessionId: string }).sessionId
}
