import type { Json } from '../contracts/index.ts'
import { parseWellFormed } from './well-formed.ts'

export interface FoundJson {
  readonly value: Json
  readonly text: string
}

/** The JSON value of a text, also in a code fence or between words. A scalar must be the whole text. */
export function findJson(text: string): FoundJson | undefined {
  const trimmed = text.trim()
  return parsed(trimmed) ?? fenced(trimmed) ?? embedded(trimmed)
}

/** The part of a text that looks like JSON, valid or not: the first code fence, or all of it if it begins like JSON. */
export function findJsonText(text: string): string | undefined {
  const [block] = fences(text)
  const meant = (block ?? text).trim()
  return /^[{[]/.test(meant) ? meant : undefined
}

function fenced(text: string): FoundJson | undefined {
  // The last fence first: earlier ones are often examples.
  for (const block of [...fences(text)].reverse()) {
    const found = parsed(block.trim())
    if (found) return found
  }
  return undefined
}

function* fences(text: string): Generator<string> {
  if (!text.includes('```')) return
  let block: string[] | undefined
  for (const line of text.split('\n')) {
    const isFence = line.trimStart().startsWith('```')
    if (!isFence) block?.push(line)
    else if (block === undefined) block = []
    else {
      yield block.join('\n')
      block = undefined
    }
  }
}

/** From the first bracket to the last one that can close it. */
function embedded(text: string): FoundJson | undefined {
  const start = text.search(/[{[]/)
  if (start === -1) return undefined
  const end = text.lastIndexOf(text[start] === '{' ? '}' : ']')
  return end > start ? parsed(text.slice(start, end + 1)) : undefined
}

function parsed(text: string): FoundJson | undefined {
  try {
    return { value: parseWellFormed(text), text }
  } catch {
    return undefined
  }
}
