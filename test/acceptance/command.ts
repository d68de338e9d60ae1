/* The command line as a person meets it, for the acceptance suite. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { type Ended, runCommand } from '../run-command.ts'
import { root, temporaryFolder } from './support.ts'

export const bin = path.join(root, 'bin/troupe.mjs')

export interface Place {
  readonly cwd: string
  /** Writes a file and answers with its name. */
  file(name: string, text: string): string
  /** An agent file with these settings. */
  agent(name: string, settings: string, prompt?: string): string
  /** Runs it to its end, in this process. */
  run(args: readonly string[], options?: { stdin?: string; env?: NodeJS.ProcessEnv }): Promise<Ended>
}

const variables = (cwd: string) => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  HOME: cwd,
  XDG_STATE_HOME: path.join(cwd, '.state'),
})

/** A folder of its own, which is also the home folder of commands there. */
export function place(): Place {
  const cwd = temporaryFolder()
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(cwd, name), text)
    return name
  }
  return {
    cwd,
    file,
    agent: (name, settings, prompt = 'You are a clerk.') => file(name, `---\ndescription: Does things\n${settings}\n---\n${prompt}\n`),
    run: (args, { env = {}, ...options } = {}) => runCommand(cwd, args, { env: { ...variables(cwd), ...env }, ...options }),
  }
}
const published = (name: string) => JSON.parse(readFileSync(path.join(root, 'schemas', name), 'utf8'))
const ajv = new Ajv2020({ strict: false, allErrors: true })
const documentFits = ajv.compile(published('run-document.schema.json'))
const eventFits = ajv.compile(published('stream-event.schema.json'))

// biome-ignore lint/suspicious/noExplicitAny: documents are asserted by the tests
type Any = any
/** The one document of `--json`: it is all that stands there, and it fits the published schema. */
export function documentOf({ stdout, stderr }: { stdout: string; stderr: string }): Any {
  expect(stdout, stderr).toMatch(/^\{.*\}\n$/s)
  const document = JSON.parse(stdout)
  expect(documentFits(document), `${JSON.stringify(documentFits.errors)}\n${stdout.slice(0, 500)}`).toBe(true)
  return document
}
/** The lines of `--stream-json`: each fits the published schema, `seq` has no gap, and the last one is the run's end. */
export function linesOf({ stdout, stderr }: { stdout: string; stderr: string }): Any[] {
  expect(stdout.endsWith('\n'), stderr).toBe(true)
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  for (const line of lines) expect(eventFits(line), `${JSON.stringify(eventFits.errors)}\n${JSON.stringify(line)}`).toBe(true)
  const numbered = lines.filter((line) => 'seq' in line && line.type.startsWith('interaction.')).map(({ seq }) => seq)
  expect(numbered).toEqual(numbered.map((_, index) => index + 1))
  expect(lines.at(-1).type).toMatch(/^run\.(completed|failed)$/)
  expect(lines.filter(({ type }) => type.startsWith('run.'))).toHaveLength(1)
  return lines
}
