import { readdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { type AgentFile, type AgentOverrides, parseAgentFile, parseOverrides, type WrittenOverrides } from '../agents/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { suggestion } from '../util/suggestion.ts'
import { joinErrors } from './join-errors.ts'
import { readRegularFile, type Unreadable, unreadableText } from './read-file.ts'

/** Reads an agent file with what the command line says over it; throws everything that is wrong with either. */
export function readAgent(file: string, written: WrittenOverrides = { settings: [] }): AgentFile {
  const wrong: TroupeError[] = []
  const kept = <Value>(read: () => Value): Value | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      wrong.push(error)
      return undefined
    }
  }
  const overrides = kept(() => parseOverrides(written))
  const agent = kept(() => parsed(file, overrides))
  if (!agent || wrong.length > 0) throw joinErrors(wrong)
  return agent
}

function parsed(file: string, overrides: AgentOverrides | undefined): AgentFile {
  return parseAgentFile(readAgentFile(file), file, {
    ...(overrides && { overrides }),
    readFile: (path) => readSchemaText(resolve(dirname(file), path)),
  })
}

function readAgentFile(file: string): Uint8Array {
  const read = readRegularFile(file)
  if (read.ok) return read.bytes
  const { why } = read
  throw new TroupeError('agent_file_invalid', `The agent file ${file} cannot be read.`, {
    problems: [{ place: file, message: unreadableText(why), remedy: remedyFor(file, why) }],
    ...(why.kind === 'refused' && { cause: why.cause }),
  })
}

/** A misspelt name is likely where there is no such file; one that is there has another fault. */
function remedyFor(file: string, { kind }: Unreadable): string {
  const folder = dirname(file)
  if (kind === 'refused') return 'Make it readable, or give another file.'
  const agents = namesIn(kind === 'folder' ? file : folder).filter((name) => name.endsWith('.ai'))
  const meant =
    kind === 'folder' ? agents.length > 0 && `In it there are ${agents.slice(0, 10).join(', ')}.` : suggestion(basename(file), agents)
  return meant || 'Give the path of an agent, a .ai file.'
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    return []
  }
}

function readSchemaText(path: string): string {
  const read = readRegularFile(path)
  if (!read.ok) throw new Error(`${path}: ${unreadableText(read.why)}`)
  return new TextDecoder().decode(read.bytes)
}
