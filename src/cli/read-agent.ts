import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type AgentFile, type AgentOverrides, parseAgentFile, parseOverrides, type WrittenOverrides } from '../agents/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { readAgentFile } from './load-agent.ts'
import { together } from './together.ts'

/** Reads an agent file with what the command line says over it; throws everything that is wrong with either. */
export async function readAgent(file: string, written: WrittenOverrides): Promise<AgentFile> {
  const wrong: TroupeError[] = []
  const keep = (error: unknown): undefined => {
    if (!(error instanceof TroupeError)) throw error
    wrong.push(error)
  }
  const overrides = overridesOf(written, keep)
  const agent = await parsed(file, overrides).catch(keep)
  if (!agent || wrong.length > 0) throw together(wrong)
  return agent
}

function overridesOf(written: WrittenOverrides, keep: (error: unknown) => undefined): AgentOverrides | undefined {
  try {
    return parseOverrides(written)
  } catch (error) {
    return keep(error)
  }
}

async function parsed(file: string, overrides: AgentOverrides | undefined): Promise<AgentFile> {
  return parseAgentFile(await readAgentFile(file), file, {
    ...(overrides && { overrides }),
    readFile: (path) => readSchemaText(resolve(dirname(file), path)),
  })
}

const largestSchema = 4 * 1024 * 1024

function readSchemaText(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new Error(`there is no ${path}`)
  // A device or a pipe may never end.
  if (!found.isFile()) throw new Error(`${path} is not a file`)
  if (found.size > largestSchema) throw new Error(`it has ${found.size} bytes, and ${largestSchema} is the most`)
  return readFileSync(path, 'utf8')
}
